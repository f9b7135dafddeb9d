import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import compact as module
from ragweave.corpora.store.compact import compact
from ragweave.corpora.store.library import close_all, create_library, delete_library, open_library
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import LibraryError

SECRET = "# Diary\n\nXanthippe hid the zyzzyva brooch under the quincunx.\n"


def on_disk(home, *needles):
    """Return which of the needles any file below `home` holds."""
    return {
        needle
        for path in home.rglob("*")
        if path.is_file()
        for needle in needles
        if (needle if isinstance(needle, bytes) else needle.encode()) in path.read_bytes()
    }


async def diary(notes):
    (notes / "diary.md").write_text(SECRET)
    await index([notes])
    library = await open_library()
    [source] = [s for s in await library.sources() if s.title == "Diary"]
    row = stores().catalog.row(library.id)
    ids = stores().vectors.ids(row.id, "paragraph", row.space, row.generation)
    _, sources, vectors = stores().vectors.fetch(row.id, "paragraph", row.space, row.generation, ids)
    [vector] = [v for v, s in zip(vectors, sources, strict=True) if s == source.id]
    return library, source, ("zyzzyva", "Xanthippe", "quincunx", "diary.md", source.id, vector.tobytes())


async def test_a_removed_source_leaves_the_disk(notes, home):
    library, source, needles = await diary(notes)
    close_all()
    assert on_disk(home, *needles) == set(needles)
    library = await open_library()
    await library.remove(source.id)
    close_all()
    assert on_disk(home, *needles) == set()
    library = await open_library()
    assert {s.title for s in await library.sources()} == {"Alexandria", "Rome", "长安"}
    [lists] = await library.search("paragraph", ["lighthouse"])
    assert len(lists.dense) == 3 and len(lists.lexical) == 1


async def test_a_deleted_library_leaves_the_disk(notes, home):
    _, _, needles = await diary(notes)
    await create_library("other")
    await delete_library("default")
    close_all()
    assert on_disk(home, *needles) == set()


async def test_the_vectors_of_a_large_library_are_left_to_the_repair(notes, home, monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 0)
    library, source, (*text, vector) = await diary(notes)
    await library.remove(source.id)
    assert on_disk(home, *text[:-1]) == set()
    assert stores().catalog.row(library.id).epoch == 0
    compact(corpora_settings(), stores(), stores().catalog.row(library.id), all_sizes=True)
    close_all()
    assert on_disk(home, vector) == set()


async def test_a_store_that_cannot_be_compacted_is_a_sentence(notes, home):
    (home / "chroma" / "chroma.sqlite3").write_bytes(b"no database" * 100)
    with pytest.raises(LibraryError, match="vector store cannot be compacted"):
        compact(corpora_settings(), stores())
