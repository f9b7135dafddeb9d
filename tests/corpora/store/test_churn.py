"""Indexes that many edits have filled with deleted vectors."""

import threading

import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store import churn, rebuild, spaces
from ragweave.corpora.store.churn import churned
from ragweave.corpora.store.library import close_all, create_library, open_library
from ragweave.corpora.store.stores import stores
from ragweave.corpora.store.torn import places
from ragweave.models.errors import LibraryError

SMALL = {**spaces.HNSW, "sync_threshold": 4, "batch_size": 2}


@pytest.fixture
def edited(tmp_path, home, read_here, monkeypatch):
    """A function that edits and indexes three notes a number of times; the index is written every 4 changes."""
    monkeypatch.setattr(spaces, "HNSW", SMALL)
    monkeypatch.setattr(churn, "LEAST", 6)
    notes = tmp_path / "notes"
    notes.mkdir()
    version = 0

    async def edit(times):
        nonlocal version
        for _ in range(times):
            version += 1
            for name in ("Obelisk", "Pylon", "Sphinx"):
                (notes / f"{name}.md").write_text(f"# {name}\n\nThe {name} was drawn in version {version}.\n")
            report = await index([notes])
        return report

    return edit


def library():
    [row] = stores().catalog.libraries()
    return row


async def texts():
    found = await open_library()
    [lists] = await found.search("paragraph", ["drawn in version"], 100)
    held = await found.items([h.id for h in lists.dense])
    return sorted(i.text for i in held.values())


async def test_deleted_vectors_fill_an_index_and_the_run_that_finds_more_of_them_than_living_ones_writes_it_anew(
    edited, home
):
    await edited(3)
    assert library().epoch == 0 and max(places(home / "chroma").values()) > 5
    await edited(3)
    assert library().epoch == 1
    assert len(places(home / "chroma")) == 2 and max(places(home / "chroma").values()) < 12
    assert await texts() == [f"The {name} was drawn in version 6." for name in ("Obelisk", "Pylon", "Sphinx")]
    assert len(stores().vectors.names()) == 2
    close_all()
    assert len(await texts()) == 3


async def test_a_run_that_is_stopped_or_fails_meanwhile_leaves_the_vectors_in_use_and_the_next_one_goes_on(
    edited, monkeypatch
):
    await edited(1)
    stop = threading.Event()
    stop.set()
    assert rebuild.renew(stores(), library(), stop).epoch == 0
    with monkeypatch.context() as broken:
        broken.setattr(rebuild, "_swap", lambda *a: (_ for _ in ()).throw(LibraryError("The disk is full", "free it")))
        report = await edited(6)
        assert report.notes == ["The library could not be compacted: The disk is full. Free it."]
    assert library().epoch == 0 and len(await texts()) == 3
    await edited(1)
    assert library().epoch == 1 and len(await texts()) == 3
    assert len(stores().vectors.names()) == 2


async def test_the_index_of_another_library_does_not_count(edited, home):
    await edited(3)
    await create_library("other")
    other = stores().catalog.library("other")
    assert not churned(stores(), other, home / "chroma")
    assert not churned(stores(), stores().catalog.library("default"), home / "nowhere")


async def test_names_that_cannot_be_read_are_a_sentence(edited, home, monkeypatch):
    await edited(2)
    monkeypatch.setattr(churn, "LEAST", 1)
    row = library()
    close_all()
    (home / "chroma" / "chroma.sqlite3").write_bytes(b"no database" * 100)
    with pytest.raises(LibraryError, match="vector store cannot be read"):
        churned(stores(), row, home / "chroma")
