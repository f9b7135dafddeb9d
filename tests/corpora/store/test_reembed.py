import asyncio

import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store import reembed as module
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.stores import close_stores, stores
from ragweave.models.errors import LibraryError, LibraryNotFound

pytestmark = pytest.mark.both


async def titles(word):
    library = await open_library()
    [lists] = await library.search("paragraph", [word])
    held = await library.items([h.id for h in (*lists.dense, *lists.lexical)])
    return [held[h.id].title for h in lists.dense], [held[h.id].title for h in lists.lexical]


async def test_another_encoder_takes_over_and_nothing_is_read_again(notes, turned, monkeypatch):
    told, opened = [], await open_library()
    before = stores().catalog.library("default").encoder
    report = await index([], encoder="turned", on_event=told.append)
    assert "the encoder turned now, and 6 vectors" in report.notes[0]
    await asyncio.sleep(0)
    assert [(e.done, e.total) for e in told if e.kind == "reembedded"][-1] == (6, 6)
    with pytest.raises(LibraryError, match="RAGWEAVE_EMBED=turned"):
        await opened.search("paragraph", ["lighthouse"])
    close_stores()
    with pytest.raises(LibraryError, match="RAGWEAVE_EMBED=turned"):
        await open_library()
    monkeypatch.setenv("RAGWEAVE_EMBED", "turned")
    dense, words = await titles("the lighthouse of Alexandria")
    assert dense[0] == words[0] == "Alexandria"
    row = stores().catalog.library("default")
    assert row.dim == 200 and not stores().vectors.has(row.id, "paragraph", before), "the old vectors are gone"
    report = await index([notes], encoder="turned")
    assert (report.unchanged, report.indexed, report.notes) == (3, 0, [])
    with pytest.raises(LibraryNotFound):
        await index([], "nobody", encoder="turned")


async def test_an_interrupted_run_leaves_the_old_vectors_and_is_continued(notes, turned, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(module, "bump", lambda *a: (_ for _ in ()).throw(KeyError))
        with pytest.raises(KeyError):
            await index([], encoder="turned")
    assert (await titles("the lighthouse of Alexandria"))[0][0] == "Alexandria"
    (notes / "rome.md").unlink()
    (notes / "petra.md").write_text("# Petra\n\nPetra was carved from sandstone.\n")
    await index([notes])
    before = turned.calls
    await index([], encoder="turned")
    assert turned.calls == before + 2, "one call for the paragraph, one for the document"
    monkeypatch.setenv("RAGWEAVE_EMBED", "turned")
    close_stores()
    assert sorted((await titles("carved from sandstone"))[0]) == ["Alexandria", "Petra", "长安"]
