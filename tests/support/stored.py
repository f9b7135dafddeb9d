"""What the stores hold after a run, seen from both sides."""

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
    """Titles that each store finds, so that neither can lag behind the other."""
    library = await open_library()
    [lists] = await library.search(corpus, [word])
    held = await library.items([h.id for h in (*lists.dense, *lists.lexical)])
    return {held[h.id].locator["file"].rpartition("/")[2] for h in lists.lexical}


async def whole():
    """Everything both stores hold, each in a form that can be compared."""
    held = stores()
    [row] = held.catalog.libraries()
    with held.catalog.reading(row.id) as connection:
        items = connection.exec_driver_sql("SELECT id, source, corpus FROM items").fetchall()
        words = [
            connection.exec_driver_sql(f"SELECT rowid FROM {lexical.table(corpus)}").fetchall()
            for corpus in ("paragraph", "document")
        ]
    vectors = {
        i.rpartition("~")[0]
        for corpus in ("paragraph", "document")
        for i in held.vectors.ids(row.id, corpus, row.encoder)
    }
    return {
        "items": sorted(map(tuple, items)),
        "vectors without item": vectors - {i[0] for i in items},
        "items without vectors": {i[0] for i in items} - vectors - {whole_of(i) for i in vectors},
        "rows": len(items) - sum(map(len, words)),
    }


async def sound():
    """Assert that the stores agree; return what they hold."""
    state = await whole()
    assert state["vectors without item"] == state["items without vectors"] == set()
    assert state["rows"] == 0
    return state
