"""The contract of the vectors, over every way to find them: one by one, a folder of Chroma's, a server of Chroma's."""

from __future__ import annotations

from pathlib import Path

import chromadb
import numpy as np
import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store import blobs, index_upkeep
from ragweave.corpora.store.blobs import entity_space, item_of, visual_space
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.chroma import digest_of
from ragweave.corpora.store.library import Library, open_library
from ragweave.corpora.store.rows import pack
from ragweave.corpora.store.schema import bump, indexes, items, mentions, sources
from ragweave.corpora.store.vectors import Vectors
from ragweave.corpora.types import Item
from ragweave.models.errors import ModelError
from ragweave.models.subprocess_env import import_path

EYE = np.eye(4, dtype=np.float32)
SPREAD = np.random.default_rng(5).standard_normal((60, 4)).astype(np.float32)
SPREAD /= np.linalg.norm(SPREAD, axis=1, keepdims=True)

both = pytest.mark.both
in_folder = pytest.mark.parametrize("vectors", ["folder"], indirect=True)


@pytest.fixture
def catalog(home):
    found = Catalog(home)
    row = found.create("default", "enc", 4)
    with found.writing(row.id) as connection:
        blank = dict.fromkeys(
            "kind title status reason sha256 params_hash author language indexed_at named".split(), ""
        )
        rows = [{**blank, "bytes": 0, "warnings": [], "id": id_} for id_ in ("s", "s1", "s2", "t")]
        connection.execute(sources.insert(), rows)
    yield found
    found.close()


@pytest.fixture
def lib(catalog):
    return catalog.library("default").id


@pytest.fixture(params=["exact", "folder", pytest.param("server", marks=pytest.mark.cluster)])
def vectors(catalog, home, request, monkeypatch):
    server = None
    if request.param == "server":
        server = CorporaSettings(chroma_url=request.getfixturevalue("chroma_url"))
    if request.param != "exact":
        monkeypatch.setattr(index_upkeep, "INDEX_FROM", 1)
        monkeypatch.setattr(Vectors, "stays", True)
    found = Vectors(catalog, home, server)
    yield found
    found.drop(catalog.library("default").id)
    assert found._indexes.there(catalog.library("default").id) == set()
    found.close()


def put(catalog, rows, corpus="paragraph", space="enc"):
    lib = catalog.library("default").id
    ids, belongs, values = zip(*rows, strict=True)
    with catalog.writing(lib) as connection:
        blobs.put(connection, corpus, space, ids, belongs, np.array(values, dtype=np.float32))
        bump(connection)


def spread(some, source="s"):
    return [(f"i{n}~0", source or ("s1" if n % 2 else "s2"), SPREAD[n]) for n in some]


def forget(catalog, source):
    with catalog.writing(catalog.library("default").id) as connection:
        connection.exec_driver_sql(f"DELETE FROM sources WHERE id = '{source}'")
        bump(connection)


def ask(vectors, lib, query, k=5, corpus="paragraph", only=()):
    return vectors.query(lib, corpus, "enc", np.array([query], dtype=np.float32), k, only)[0]


def names(hits):
    return [i for i, _ in hits]


def best(query, alive=range(60), k=5):
    return [f"i{n}" for n in sorted(alive, key=lambda n: -float(SPREAD[n] @ query))[:k]]


def held_by(vectors, lib):
    with vectors._catalog.reading(lib) as connection:
        return {row["corpus"]: row["count"] for row in connection.execute(indexes.select()).mappings()}


@both
def test_what_is_asked_is_found_by_item_in_its_corpus_space_and_source(catalog, vectors, lib):
    put(catalog, [("a~0", "s1", EYE[0]), ("a~1", "s1", EYE[1]), ("b~0", "s2", EYE[0] + EYE[1])], "document")
    put(catalog, [("c~0", "s1", EYE[0]), ("d~0", "s2", EYE[0] * 0), ("e~0", "s2", EYE[0] * np.nan)])
    assert vectors.tidy(lib) == ""
    found = ask(vectors, lib, 3 * EYE[1], corpus="document")
    assert names(found) == ["a", "b"] and [s for _, s in found] == pytest.approx([1.0, 0.7071], abs=1e-3)
    assert names(ask(vectors, lib, EYE[0], corpus="document", only=["s2"])) == ["b"]
    assert vectors.ids(lib, "paragraph", "enc") == ["c~0"], "a vector of zeros is not stored"
    assert ask(vectors, lib, EYE[0] * 0) == ask(vectors, lib, EYE[0], corpus="clip") == []
    assert ask(vectors, lib, EYE[0], only=["nothing"]) == []
    assert vectors.query(lib, "paragraph", "other", EYE[:1], 5) == [[]]
    assert item_of("a~b~3") == "a~b"


@both
def test_what_came_after_the_index_is_found_and_what_has_gone_is_not(catalog, vectors, lib):
    put(catalog, spread(range(50), ""))
    assert vectors.tidy(lib) == ""
    put(catalog, [*spread(range(50, 60), ""), ("i0~0", "s2", SPREAD[0])])
    for query in SPREAD[::7]:
        assert names(ask(vectors, lib, query)) == best(query)
    if held_by(vectors, lib):
        assert vectors._held._rows[lib, "paragraph", "enc"].n.size == 11, (
            "what the index holds is compared one by one"
        )
    assert names(ask(vectors, lib, SPREAD[3], only=["s1"])) == best(SPREAD[3], range(1, 60, 2))
    forget(catalog, "s1")
    for query in SPREAD[::7]:
        assert names(ask(vectors, lib, query, k=20)) == best(query, range(0, 60, 2), 20)


@both
def test_an_index_follows_what_is_added_changed_and_removed(catalog, vectors, lib):
    for rows, gone in (
        (spread(range(20)), ""),
        ([*spread(range(18, 25)), ("i0~0", "s", SPREAD[59])], ""),
        (spread(range(30, 34), "t"), ""),
        (spread(range(34, 36)), "t"),
    ):
        put(catalog, rows)
        if gone:
            forget(catalog, gone)
        assert vectors.tidy(lib) == ""
        alive = vectors.ids(lib, "paragraph", "enc")
        assert held_by(vectors, lib) in ({}, {"paragraph": len(alive)})
        assert sorted(names(ask(vectors, lib, SPREAD[59], k=50))) == sorted(map(item_of, alive))
        assert ask(vectors, lib, SPREAD[59], k=1)[0][0] == (
            "i0" if len(alive) > 20 else best(SPREAD[59], range(20))[0]
        )
    put(catalog, spread(range(3)), "document")
    forget(catalog, "s")
    assert vectors.tidy(lib) == "" and held_by(vectors, lib) == {}
    assert ask(vectors, lib, SPREAD[0]) == []


@in_folder
def test_anybody_opens_the_index_with_chromadb_and_reads_ids_and_sources_and_no_text(
    catalog, vectors, lib, home
):
    item = Item(
        id="a",
        source="s",
        corpus="paragraph",
        ordinal=0,
        title="Isle",
        text="word " * 400,
        locator={"page": 3},
    )
    said = {
        "source": "s",
        "chunk": "c",
        "entity": "e1",
        "name": "Skerry",
        "kind": "place",
        "description": "An isle",
    }
    with catalog.writing(lib) as connection:
        connection.execute(items.insert(), {**pack(item), "n": 1})
        connection.execute(mentions.insert(), {**said, "items": []})
    put(catalog, [("a~0", "s", EYE[0]), ("a~1", "s", EYE[1])])
    put(catalog, [("b~0", "s", EYE[2])], "video")
    put(catalog, [("b~0", "s", EYE[3])], "video", visual_space("clip"))
    put(catalog, [("e1~s", "s", EYE[3])], "clip", entity_space("enc"))
    put(catalog, [("a~0", "s", EYE[3])], space="of a run of another encoder that was stopped")
    assert vectors.tidy(lib) == ""
    made = digest_of(home / "libraries" / lib / "chroma")
    client = chromadb.PersistentClient(str(home / "libraries" / lib / "chroma"))
    found = {c.name.rpartition("-")[0] or c.name: c for c in client.list_collections()}
    assert {name: c.count() for name, c in found.items()} == {
        "paragraph": 2,
        "video": 1,
        "video-seen": 1,
        "entities": 1,
    }
    got = found["paragraph"].get(include=["embeddings", "metadatas", "documents"])
    assert got["ids"] == ["a~0", "a~1"] and np.allclose(got["embeddings"], EYE[:2])
    assert got["metadatas"] == [{"source": "s"}] * 2 and got["documents"] == [None, None]
    assert found["video-seen"].metadata["encoder"] == "see clip"
    for collection in found.values():
        assert collection.query(query_embeddings=EYE[:1], n_results=1)["ids"][0]
    client.close()
    assert digest_of(home / "libraries" / lib / "chroma") == made, "a reader writes nothing"


def garbage(path, patch):
    for file in path.rglob("*"):
        if file.is_file():
            file.write_bytes(b"\xff" * file.stat().st_size)


def no_database(path, patch):
    (path / "chroma.sqlite3").write_bytes(b"no database" * 100)


def gone(path, patch):
    for file in path.rglob("*"):
        if file.is_file():
            file.unlink()


class Panic(BaseException):
    """What chromadb raises where its Rust part gives up."""


def panics(path, patch):
    def panic(*args):
        raise Panic("called `Option::unwrap()` on a `None` value")

    patch.setattr("ragweave.corpora.store.chroma.client_of", panic)


@in_folder
@pytest.mark.parametrize("harm", [garbage, no_database, gone, panics])
def test_a_damaged_index_is_answered_without_and_made_anew(catalog, vectors, lib, home, harm, monkeypatch):
    put(catalog, spread(range(30)))
    assert vectors.tidy(lib) == ""
    [path] = home.glob("libraries/*/indexes/*")
    with monkeypatch.context() as patch:
        harm(path, patch)
        put(catalog, spread(range(30, 60)))
        if harm is not no_database:  # there the next run meets it before a question does
            assert names(ask(vectors, lib, SPREAD[3])) == best(SPREAD[3]) and held_by(vectors, lib) == {}
    assert vectors.tidy(lib) == ""
    assert held_by(vectors, lib) == {"paragraph": 60}
    assert names(ask(vectors, lib, SPREAD[3])) == best(SPREAD[3])
    assert len(list(home.glob("libraries/*/indexes/*"))) == 1


KILLED = """
import os, signal
import chromadb.api.models.Collection as models
upsert = models.Collection.upsert
def killed(self, **given):
    upsert(self, **given)
    os.kill(os.getpid(), signal.SIGKILL)
models.Collection.upsert = killed
"""


@in_folder
def test_a_writing_process_that_is_killed_leaves_the_index_of_before_and_the_next_run_makes_it(
    catalog, vectors, lib, home, tmp_path, monkeypatch
):
    (tmp_path / "killing").mkdir()
    (tmp_path / "killing" / "sitecustomize.py").write_text(KILLED)
    path = f"{tmp_path / 'killing'}:{import_path()}"
    for before, some in (({}, range(30)), ({"paragraph": 30}, range(30, 60))):
        put(catalog, spread(some))
        with monkeypatch.context() as killing:
            killing.setattr("ragweave.corpora.store.chroma.import_path", lambda: path)
            assert "cannot be made" in vectors.tidy(lib)
        assert held_by(vectors, lib) == before
        assert names(ask(vectors, lib, SPREAD[3])) == best(SPREAD[3], range(some.stop))
        assert vectors.tidy(lib) == "" and held_by(vectors, lib) == {"paragraph": some.stop}


TEXTS = {
    "cat": "The kitten slept on the sofa all afternoon.",
    "rent": "The tenant pays four hundred euros a month.",
    "boat": "The ferry leaves the pier at noon.",
    "bread": "The dough rests for sixteen hours.",
}
QUESTION = "Where did the cat nap?"


@pytest.fixture
async def library(tmp_path: Path, home: Path) -> Library:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
    await index([folder])
    return await open_library()


async def by_name(library: Library, *corpora: str) -> dict[str, str]:
    held = [i for s in await library.sources() for c in corpora for i in await library.items_of(s.id, c)]
    return {Path(i.locator["file"]).stem: i.id for i in held}


async def test_nearness_ranks_as_the_cosines_do_and_leaves_out_what_has_no_vector(library: Library) -> None:
    ids = await by_name(library, "paragraph")
    found = library.nearness(QUESTION, {*ids.values(), "unknown"})
    assert found.keys() == {*ids.values()} and max(found, key=lambda i: found[i]) == ids["cat"]
    asked = library.encoder.queries([QUESTION])[0]
    kept = library.held.vectors.of_items(library.id, "paragraph", library.encoder.name, [*ids.values()])
    cosines = {i: float(np.max(rows @ asked)) for i, rows in kept.items()}
    assert sorted(found, key=lambda i: found[i]) == sorted(cosines, key=lambda i: cosines[i])


async def test_without_its_encoder_nothing_is_near(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = await by_name(library, "paragraph")

    def down(texts: object) -> None:
        raise ModelError("the encoder is away", "start it")

    monkeypatch.setattr(library.encoder, "queries", down)
    assert library.nearness(QUESTION, [*ids.values()]) == {}


async def test_what_the_words_found_has_its_cosine_in_the_dense_list(library: Library) -> None:
    ids = await by_name(library, "paragraph")
    (lists,) = await library.search("paragraph", ["tenant kitten"], k=1)
    assert {h.id for h in lists.lexical} | {h.id for h in lists.dense} == {h.id for h in lists.dense}
    (words,) = await library.search("paragraph", ["euros"], k=1, only="lexical")
    assert [h.id for h in words.lexical] == [ids["rent"]] and not words.dense
