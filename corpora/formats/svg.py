"""SVG: the words that a drawing shows, its title and its description; not its markup."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from ragweave.corpora.blocks import Block, Lines, Parsed
from ragweave.corpora.decode import read_bytes
from ragweave.corpora.hidden import Styles
from ragweave.corpora.meta import language_code
from ragweave.models.errors import SourceError

_SKIPPED = frozenset("script style metadata defs title desc".split())
_SHOWS = frozenset("text foreignObject".split())
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


def parse(path: Path) -> Parsed:
    """Read a drawing (.svg). Nothing it names is opened, no entity is expanded, no script runs."""
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(read_bytes(path), parser)
    except (etree.XMLSyntaxError, ValueError) as exc:
        raise SourceError(
            f"{path.name} is a damaged drawing ({exc})", "open it in a drawing program and save it"
        ) from None
    hidden: list[str] = []
    styles, words, descriptions = Styles(root), Lines(), Lines()
    for element in _drawn(root, styles, hidden):
        words.add(_text(element), element.sourceline)
    for element in root.iter("{*}desc"):
        descriptions.add(_text(element), element.sourceline)
    title = _title(root)
    blocks = [
        Block(title, "heading", 1),
        descriptions.block("text"),
        words.block("list" if words.count > 1 else "text"),
    ]
    kept = [block for block in blocks if block.text]
    language = language_code(root.get(_LANGUAGE) or root.get("lang"))
    return Parsed(title=title, blocks=tuple(kept), language=language, hidden=tuple(hidden))


def _title(root: Any) -> str:
    """Return the first title of a drawing that has text, or ""."""
    for child in root:
        if _name(child) == "title" and _text(child):
            return _text(child)
    return ""


def _drawn(element: Any, styles: Styles, hidden: list[str]) -> Iterator[Any]:
    """Yield the elements with text in order; of alternatives the first one is shown."""
    for child in element:
        name = _name(child)
        if not name or name in _SKIPPED:
            continue
        if styles.hides(child) or _is_hidden(child):
            hidden.append(_text(child))
        elif name in _SHOWS:
            yield child
        elif name == "switch":
            for alternative in child:
                found = list(_drawn([alternative], styles, hidden))
                if found:
                    yield from found
                    break
        else:
            yield from _drawn(child, styles, hidden)


def _name(element: Any) -> str:
    """Return the name of an element without its namespace, "" for an entity."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _is_hidden(element: Any) -> bool:
    if _value(element, "display") == "none" or _value(element, "visibility") in ("hidden", "collapse"):
        return True
    return _value(element, "opacity") == "0" or _value(element, "font-size") == "0"


def _value(element: Any, name: str) -> str:
    return (element.get(name) or "").strip()


def _text(element: Any) -> str:
    """Return the words of an element, with spaces around parts that have their own position; no entities."""
    parts = [element.text or ""]
    for e in element.iterdescendants():
        apart = " " if _name(e) != "tspan" or {"x", "y", "dy"} & set(e.keys()) else ""
        parts += [apart, (e.text or "") if _name(e) else "", apart, e.tail or ""]
    return " ".join("".join(parts).split())
