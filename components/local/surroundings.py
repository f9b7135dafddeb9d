"""Read results for quotation, each with its neighbours in its source."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ragweave.components.evidence import Evidence
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item

SEEN = "seen while asking"
"""Key in the metadata of an item whose text a vision model wrote and the file lacks."""
_AROUND = 8
"""Items of a text to read before and after a result."""
_STRETCH = 1
"""Clips of a recording to read before and after a result."""


def read_with_surroundings(library: Library, rows: Sequence[Evidence]) -> list[list[Item]]:
    """Read results with their surroundings, in the order of the rows; a web page is one item.

    Each list belongs to one text, one mail of a mailbox or entry of a calendar, one picture, one stretch of a
    recording, or what a vision model saw in a picture or clip.
    """
    ids: list[str] = []
    for row in rows:
        if row["origin"] == "library":
            ids.append(row["id"])
    found = library.read(ids)
    groups: list[list[Item]] = []
    for row in rows:
        item = found.get(row["id"]) or _page_of_web(row)
        if item is None:
            continue
        _join(groups, item)
        seen = row.get("seen")
        if seen:
            groups.append([replace(item, text=seen, spans=(), meta={SEEN: True})])
    # A document of several entries repeats the found ones and runs them together.
    with_entries: set[str] = set()
    for group in groups:
        if _part(group[0]) is not None:
            with_entries.add(group[0].source)
    read: list[list[Item]] = []
    for group in groups:
        if not _is_whole_of(group[0], with_entries):
            read.append(_around(library, group))
    return read


def _is_whole_of(item: Item, with_entries: Collection[str]) -> bool:
    """Return whether an item is the whole of a source of which entries were found."""
    return item.source in with_entries and _part(item) is None and item.corpus != "image"


def _join(groups: list[list[Item]], item: Item) -> None:
    """Add an item to the group of its entry, or of its stretch of a recording, or to a new group."""
    for group in groups:
        same = group[0].source == item.source and _part(group[0]) == _part(item)
        if not same or SEEN in group[0].meta or "image" in (item.corpus, group[0].corpus):
            continue
        if item.corpus != "clip" or abs(_first_clip(group, item).ordinal - item.ordinal) <= _STRETCH:
            group.append(item)
            return
    groups.append([item])


def _first_clip(group: Sequence[Item], default: Item) -> Item:
    for item in group:
        if item.corpus == "clip":
            return item
    return default


def _part(item: Item) -> object:
    """Return the mail or entry of its source that an item belongs to, None if the source has none."""
    return item.meta.get("part")


def _page_of_web(row: Evidence) -> Item | None:
    if row["origin"] != "web":
        return None
    return Item(row["id"], "paragraph", row["id"], row["title"], row["text"], row["locator"])


def _around(library: Library, items: Sequence[Item]) -> list[Item]:
    """Return the items of one source to read for a group of results.

    For paragraphs or clips, these are the best result and its neighbours. For a document alone, its
    paragraphs, because they have headings and places of their own. A whole recording is read alone.
    """
    if SEEN in items[0].meta:
        return list(items)
    fine = [i for i in items if i.corpus in ("paragraph", "clip")]
    if not fine:
        return _within(library, items[0]) if items[0].corpus == "document" else list(items[:1])
    if fine[0].source == fine[0].id:
        return fine
    around = _STRETCH if fine[0].corpus == "clip" else _AROUND
    read: dict[str, Item] = {}
    for item in [*library.around(fine[0].id, around), *fine]:
        if item.corpus == fine[0].corpus and _part(item) == _part(fine[0]):
            read[item.id] = item
    return sorted(read.values(), key=lambda i: i.ordinal)


def _within(library: Library, document: Item) -> list[Item]:
    """Return the paragraphs of a document, or the document if the library holds none of them."""
    held = library.held.catalog.items_of(library.id, document.source, "paragraph")
    return [item for item in held if item.text in document.text] or [document]
