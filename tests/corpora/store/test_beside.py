"""A library with files beside it is searched and read as one; the library itself stays as it is."""

from __future__ import annotations

from pathlib import Path

from ragweave.corpora.store.beside import FileBeside, beside
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.prepared import chunks, terms_of
from ragweave.corpora.types import Item, whole_of
from ragweave.tests.support import build_library

ABOUT = "The kiln of Rook was fired in 1911 by Rosa."


def kiln() -> FileBeside:
    """One paragraph, and a document that is that paragraph."""
    place = {"kind": "heading", "file": "kiln.md"}
    first = Item("k1", "paragraph", "sent-1", "Kiln", ABOUT, place, ordinal=0)  # type: ignore[arg-type]
    second = Item("k2", "paragraph", "sent-1", "Kiln", "It is red.", place, ordinal=1)  # type: ignore[arg-type]
    whole = Item(whole_of("k1"), "document", "sent-1", "Kiln", ABOUT, place, meta={"paragraph": "k1"})  # type: ignore[arg-type]
    items = (first, second, whole)
    return FileBeside("1", "kiln.md", items, tuple(tuple(chunks(i, 100)) for i in items), terms_of(items))


async def test_lists_of_both_are_merged_and_items_of_both_are_read(home: Path, tmp_path: Path) -> None:
    await build_library(tmp_path / "notes", {"tea.md": "# Tea\n\nTea of Rook is brewed at ninety degrees.\n"})
    library = await open_library()
    both = beside(library, [kiln(), kiln()])
    (lists,) = await both.search("paragraph", ["Who fired the kiln of Rook?"])
    assert lists.dense[0].id == lists.lexical[0].id == "k1"
    assert {hit.id for hit in lists.dense} > {"k1", "k2"} and len(lists.lexical) >= 2
    (wholes,) = await both.search("document", ["Who fired the kiln?"], only="dense")
    assert wholes.dense[0].id == whole_of("k1") and not wholes.lexical
    found = await both.items([hit.id for hit in lists.dense])
    assert found.keys() == {hit.id for hit in lists.dense} and found["k1"].text == ABOUT
    assert [i.id for i in both.around("k2", 1)] == ["k1", "k2"]
    assert (await both.counts())["paragraph"] == 3 and (await library.counts())["paragraph"] == 1
    assert not await library.items(["k1"])


async def test_a_library_without_files_is_itself_and_an_empty_one_is_searched(
    home: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    await build_library(tmp_path / "notes", {})
    library = await open_library()
    assert beside(library, []) is library
    (lists,) = await beside(library, [kiln()]).search("paragraph", ["Who fired it?"], k=1)
    assert [hit.id for hit in lists.lexical] == ["k1"] and len(lists.dense) == 1
