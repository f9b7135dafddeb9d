"""A home of the last Ragweave that kept all libraries in one catalog and one Chroma."""

import hashlib
import shutil
import sqlite3
from contextlib import closing

import chromadb
import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import close_all, open_library
from ragweave.corpora.store.repair import repair
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import LibraryError
from ragweave.tests.support.stored import found, whole


@pytest.fixture
def old(notes, home):
    """The home of the three notes as that Ragweave laid it out; its encoder was exchanged once."""
    held = stores()
    row = held.catalog.library("default")
    spaced = {}
    for corpus in ("paragraph", "document"):
        ids = held.vectors.ids(row.id, corpus, row.encoder)
        spaced[corpus] = held.vectors.fetch(row.id, corpus, row.encoder, ids)
    close_all()
    folder = home / "libraries" / row.id
    shutil.move(folder / "catalog.sqlite", home / "catalog.sqlite")
    (home / "media" / row.id / ("a" * 24)).mkdir(parents=True)
    shutil.rmtree(home / "libraries")
    with closing(sqlite3.connect(home / "catalog.sqlite")) as raw, raw:
        for name in ("vectors", "indexes"):
            raw.execute(f"DROP TABLE {name}")
        raw.execute("ALTER TABLE libraries ADD COLUMN schema_version INTEGER NOT NULL DEFAULT 4")
        raw.execute("ALTER TABLE libraries ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1")
        raw.execute("INSERT INTO stages VALUES (?, 'x', '', 'commit', '', 'running', '', '')", (row.id,))
        raw.execute("PRAGMA user_version = 4")
    client = chromadb.PersistentClient(str(home / "chroma"))
    for space in (f"{row.encoder} 1", "a space of a run that was stopped"):
        for corpus, (ids, sources, vectors) in spaced.items():
            name = f"{row.id}-{corpus}-{hashlib.sha256(space.encode()).hexdigest()[:8]}"
            made = client.create_collection(name, metadata={"space": space}, embedding_function=None)
            made.upsert(ids=ids, embeddings=vectors, metadatas=[{"source": s} for s in sources])
    client.close()
    return row


async def test_an_old_home_is_brought_up_to_date_by_whoever_opens_it(old, notes, home, monkeypatch):
    state = await whole()
    assert len(state["items"]) == 6 and not state["items without vectors"] and not state["rows"]
    assert await found("aqueducts") == {"rome.md"}
    assert stores().catalog.library("default") == old
    assert sorted(p.name for p in (home / "before-folders").iterdir()) == ["catalog.sqlite", "chroma"]
    assert (home / "libraries" / old.id / "media" / ("a" * 24)).is_dir()
    monkeypatch.setattr("ragweave.models.embed.WordLlamaEncoder.texts", lambda *a: pytest.fail("it was embedded"))
    assert (await index([notes])).unchanged == 3


async def test_what_is_killed_on_the_way_is_finished_by_the_next(old, home, monkeypatch):
    for where in ("_copy", "_take_along"):
        with monkeypatch.context() as broken:
            broken.setattr(f"ragweave.corpora.store.migrate.{where}", lambda *a: (_ for _ in ()).throw(KeyError))
            with pytest.raises(KeyError):
                stores()
        assert (home / "catalog.sqlite").exists()
    assert await found("aqueducts") == {"rome.md"}
    assert not (home / "catalog.sqlite").exists()


async def test_vectors_that_cannot_be_read_are_made_again_by_the_next_run(old, notes, home):
    (home / "chroma" / "chroma.sqlite3").write_bytes(b"no database" * 100)
    assert await found("aqueducts") == {"rome.md"}
    await index([notes])
    assert not (await whole())["items without vectors"]
    [lists] = await (await open_library()).search("paragraph", ["lighthouse"])
    assert len(lists.dense) == 3
    assert (await repair()).after.sound


async def test_a_file_that_is_no_catalog_is_a_sentence(home):
    home.mkdir()
    (home / "catalog.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(LibraryError, match="RAGWEAVE_HOME"):
        stores()
