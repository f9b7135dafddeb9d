import asyncio

import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store import reembed as module
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.reembed import reembed
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import InputError, LibraryError

pytestmark = pytest.mark.both


async def titles(word):
    library = await open_library()
    [lists] = await library.search("paragraph", [word])
    held = await library.items([h.id for h in (*lists.dense, *lists.lexical)])
    return [held[h.id].title for h in lists.dense], [held[h.id].title for h in lists.lexical]


async def test_another_encoder_takes_over_and_nothing_is_read_again(notes, turned, monkeypatch):
    told = []
    done = await reembed("default", "turned", on_progress=told.append)
    assert (done.before, done.after, done.dim) == ("wordllama-l2-256", "turned", 200)
    assert done.vectors == done.embedded == 6
    await asyncio.sleep(0)
    assert told[-1] == 6
    with pytest.raises(LibraryError, match="RAGWEAVE_EMBED=turned"):
        await open_library()
    monkeypatch.setenv("RAGWEAVE_EMBED", "turned")
    dense, words = await titles("the lighthouse of Alexandria")
    assert dense[0] == words[0] == "Alexandria"
    row = stores().catalog.library("default")
    assert not stores().vectors.has(row.id, "paragraph", done.before), "the old vectors are gone"
    report = await index([notes])
    assert (report.unchanged, report.indexed) == (3, 0)


async def test_the_old_vectors_serve_until_the_new_ones_are_complete(notes, turned, monkeypatch):
    monkeypatch.setattr(module, "bump", lambda *a: (_ for _ in ()).throw(LibraryError("no", "try again")))
    with pytest.raises(LibraryError):
        await reembed("default", "turned")
    dense, _ = await titles("the lighthouse of Alexandria")
    assert dense[0] == "Alexandria"


async def test_an_interrupted_run_is_continued_and_forgets_what_has_left_the_library_since(notes, turned, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(module, "bump", lambda *a: (_ for _ in ()).throw(KeyError))
        with pytest.raises(KeyError):
            await reembed("default", "turned")
    (notes / "rome.md").unlink()
    (notes / "petra.md").write_text("# Petra\n\nPetra was carved from sandstone.\n")
    await index([notes])
    done = await reembed("default", "turned")
    assert (done.vectors, done.embedded) == (6, 2)
    monkeypatch.setenv("RAGWEAVE_EMBED", "turned")
    dense, _ = await titles("carved from sandstone")
    assert sorted(dense) == ["Alexandria", "Petra", "长安"]


async def test_a_stopped_run_says_so_and_leaves_the_library_as_it_was(notes, turned):
    task = asyncio.create_task(reembed("default", "turned", on_progress=lambda _: task.cancel()))
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await titles("aqueducts"))[1] == ["Rome"]


async def test_the_encoder_that_a_library_has_is_refused(notes):
    with pytest.raises(InputError, match="already"):
        await reembed("default", "wordllama")


async def test_an_open_library_says_that_its_encoder_was_exchanged(notes, turned):
    library = await open_library()
    await reembed("default", "turned")
    with pytest.raises(LibraryError, match="RAGWEAVE_EMBED=turned"):
        await library.search("paragraph", ["lighthouse"])
