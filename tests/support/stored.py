"""Contents of the catalog and the vector store, and whether they agree."""

from ragweave.corpora.store import lexical
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import whole_of

NOTES = {
    "alexandria.md": "# Alexandria\n\nThe lighthouse of Alexandria was built on Pharos.\n",
    "rome.md": "# Rome\n\nThe aqueducts carried water to the fountains of Rome.\n",
    "plain.txt": "The obelisk stood in Heliopolis before it was moved.\n",
}


def lay(folder):
    """Write three notes into a new folder."""
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    return folder


async def found(word, corpus="paragraph"):
    """Return the files that the word index finds; fail if the catalog lacks an item of an index."""
    library = await open_library()
    [lists] = await library.search(corpus, [word])
    items = await library.items([hit.id for hit in (*lists.dense, *lists.lexical)])
    return {items[hit.id].locator["file"].rpartition("/")[2] for hit in lists.lexical}


async def whole():
    """Return the items of the catalog, and the differences between the stores."""
    held = stores()
    [row] = held.catalog.libraries()
    with held.catalog.reading(row.id) as connection:
        items = connection.exec_driver_sql("SELECT id, source, corpus FROM items").fetchall()
        indexed = 0
        for corpus in ("paragraph", "document"):
            rows = connection.exec_driver_sql(f"SELECT rowid FROM {lexical.table(corpus)}").fetchall()
            indexed += len(rows)
    vectors = set()
    for corpus in ("paragraph", "document"):
        for id in held.vectors.ids(row.id, corpus, row.encoder):
            vectors.add(id.rpartition("~")[0])
    ids = {item[0] for item in items}
    return {
        "items": sorted(map(tuple, items)),
        "vectors without item": vectors - ids,
        "items without vectors": ids - vectors - {whole_of(id) for id in vectors},
        "rows": len(items) - indexed,
    }


async def sound():
    """Assert that the stores agree; return what they hold."""
    state = await whole()
    assert state["vectors without item"] == state["items without vectors"] == set()
    assert state["rows"] == 0
    return state
