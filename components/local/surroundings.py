"""What is read to quote from: each thing that was found, among its neighbours in its source."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ragweave.components.evidence import Evidence
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item

SEEN = "seen while asking"
"""What the notes of an item hold if its text is what a vision model saw in it, and stands nowhere in the file."""
_AROUND, _STRETCH = 8, 1
"""Items of a text, and clips of a recording, that are read before and after a found one."""


def read_with_surroundings(library: Library, rows: Sequence[Evidence]) -> list[list[Item]]:
    """Read what was found with its surroundings, in the order of the rows; a web page is one item.

    Each list is of one text, one mail of a mailbox or entry of a calendar, one picture, one stretch of a
    recording, or of what a vision model saw in a picture or clip.
    """
    found = library.read([e["id"] for e in rows if e["origin"] == "library"])
    groups: list[list[Item]] = []
    for row in rows:
        item = found.get(row["id"]) or _page_of_web(row)
        if item is not None:
            _join(groups, item)
        if item is not None and (seen := row.get("seen")):
            groups.append([replace(item, text=seen, spans=(), meta={SEEN: True})])
    # A document of several entries says what the found ones say, and runs them together.
    listed = {group[0].source for group in groups if _part(group[0]) is not None}
    return [_around(library, items) for items in groups if not _is_list(items[0], listed)]


def _is_list(item: Item, listed: Collection[str]) -> bool:
    """Tell whether an item is the whole of a source of which entries were found."""
    return item.source in listed and _part(item) is None and item.corpus != "image"


def _join(groups: list[list[Item]], item: Item) -> None:
    """Put an item to those of its source that are read with it: of one entry, or of one stretch of a recording."""
    for group in groups:
        same = group[0].source == item.source and _part(group[0]) == _part(item)
        if not same or SEEN in group[0].meta or "image" in (item.corpus, group[0].corpus):
            continue
        first = next((i for i in group if i.corpus == "clip"), item)
        if item.corpus != "clip" or abs(first.ordinal - item.ordinal) <= _STRETCH:
            return group.append(item)
    groups.append([item])


def _part(item: Item) -> object:
    """Return which mail or entry of its source an item is of, None where its source has no such parts."""
    return item.meta.get("part")


def _page_of_web(row: Evidence) -> Item | None:
    if row["origin"] != "web":
        return None
    return Item(row["id"], "paragraph", row["id"], row["title"], row["text"], row["locator"])


def _around(library: Library, items: Sequence[Item]) -> list[Item]:
    """Return the items of one source that are read for what was found in it.

    Of a text, or of clips, it is the best of the finest ones among its neighbours. Of a document alone it is
    its paragraphs, which have headings and places of their own. The whole of a recording stands for itself.
    """
    if SEEN in items[0].meta:
        return list(items)
    fine = [i for i in items if i.corpus in ("paragraph", "clip")]
    if not fine:
        return _within(library, items[0]) if items[0].corpus == "document" else list(items[:1])
    if fine[0].source == fine[0].id:
        return fine
    around = _STRETCH if fine[0].corpus == "clip" else _AROUND
    read = {i.id: i for i in library.around(fine[0].id, around)} | {i.id: i for i in fine}
    same = [i for i in read.values() if i.corpus == fine[0].corpus and _part(i) == _part(fine[0])]
    return sorted(same, key=lambda i: i.ordinal)


def _within(library: Library, document: Item) -> list[Item]:
    """Return the paragraphs of a document, or the document if the library holds none of them."""
    held = library.held.catalog.items_of(library.id, document.source, "paragraph")
    return [item for item in held if item.text in document.text] or [document]
