"""Kinds of HTML elements, and what a single one says: its attributes, caption, whether it is data."""

from __future__ import annotations

from typing import Any

INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr output q rp rt"
    " ruby s samp small span strike strong sub sup time tt u var wbr".split()
)
STRUCK = ("del", "s", "strike")
HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
LISTS = ("ul", "ol", "dl", "menu")
GROUPS = ("thead", "tbody", "tfoot")
_CELL_CHARACTERS = 400
"""Tables with longer cells on average are layout, not data."""
_STRUCTURE = ("h1", "h2", "h3", "h4", "pre", "ul", "ol", "table")
"""Elements that no cell of a table of data holds."""


def value(element: Any, name: str) -> str:
    """Return an attribute on one line without needless spaces, or ""."""
    return " ".join((element.get(name) or "").split())


def caption(picture: Any) -> str:
    """Return the caption of a picture: that of its <figure>, or the emphasised text behind it; or ""."""
    figure = next(picture.iterancestors("figure"), None)
    found = _emphasised(picture) if figure is None else figure.find(".//figcaption")
    if found is None:
        return ""
    return " ".join(" ".join(found.itertext()).split())


def _emphasised(picture: Any) -> Any:
    """Return the emphasised text that is alone with a picture in its paragraph and follows it; or None."""
    paragraph, after = picture.getparent(), picture.getnext()
    if paragraph is None or paragraph.tag != "p" or picture.getprevious() is not None:
        return None
    if after is None or after.tag != "em" or after.getnext() is not None:
        return None
    for text in (paragraph.text, picture.tail, after.tail):
        if text and text.strip():
            return None
    return after


def is_data(table: Any) -> bool:
    """Return whether a table holds data instead of laying out a page."""
    if next(table.iterdescendants(*_STRUCTURE), None) is not None:
        return False
    cells = len(list(table.iter("td", "th")))
    rows = len(list(table.iter("tr")))
    length = sum(map(len, map(str.strip, table.itertext())))
    return cells > rows >= 1 and length <= _CELL_CHARACTERS * cells
