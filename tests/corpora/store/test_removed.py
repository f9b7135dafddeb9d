import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import create_library, delete_library, open_library
from ragweave.corpora.store.stores import close_stores, stores

pytestmark = pytest.mark.both

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
    [item] = await library.items_of(source.id, "paragraph")
    [vector] = stores().vectors.of_items(row.id, "paragraph", row.encoder, [item.id])[item.id]
    return library, source, ("zyzzyva", "Xanthippe", "quincunx", "diary.md", source.id, vector.tobytes())


async def test_a_deleted_library_leaves_the_disk(notes, home):
    _, _, needles = await diary(notes)
    await create_library("other")
    await delete_library("default")
    close_stores()
    assert on_disk(home, *needles) == set()


@pytest.mark.chroma
async def test_a_removed_source_leaves_the_index_as_well(notes, home):
    library, source, needles = await diary(notes)
    close_stores()
    assert list(home.glob("libraries/*/indexes/*"))
    library = await open_library()
    await library.remove(source.id)
    close_stores()
    assert on_disk(home, *needles) == set()
    [lists] = await (await open_library()).search("paragraph", ["lighthouse"])
    assert len(lists.dense) == 3
