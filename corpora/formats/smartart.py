"""SmartArt: the texts of a diagram as a list, what belongs under another indented (ISO 29500-1, section 21.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragweave.corpora.blocks import Block
from ragweave.corpora.formats.ooxml import A

D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
RELATION = f"{D}relIds"
"""Element of a drawing that names the parts of its diagram."""
_DEEPEST = 8
_NODES = ("node", "asst")


def diagram(root: Any, page: int = 0) -> list[Block]:
    """Return the texts of a diagram's data as one list; [] where it has none."""
    lines = list(_lines(root))
    return [Block("\n".join(lines), "list", page=page)] if lines else []


def _lines(root: Any) -> Iterator[str]:
    points = {p.get("modelId") or "": p for p in root.iter(f"{D}pt")}
    below: dict[str, list[tuple[int, str]]] = {}
    for link in root.iter(f"{D}cxn"):
        if link.get("type", "parOf") == "parOf":
            order = link.get("srcOrd") or "0"
            said = (int(order) if order.isdecimal() else 0, link.get("destId") or "")
            below.setdefault(link.get("srcId") or "", []).append(said)
    tops = [id for id, p in points.items() if p.get("type") == "doc"]
    seen: set[str] = set()
    # Depth first; the document itself has no text, and its children begin at the margin.
    stack = [(id, -1) for id in reversed(tops)]
    stack[:0] = [(id, 0) for id, p in reversed(points.items()) if p.get("type", "node") in _NODES]
    while stack:
        id, depth = stack.pop()
        if id in seen or id not in points:
            continue
        seen.add(id)
        if text := _text(points[id]):
            yield f"{'  ' * min(max(depth, 0), _DEEPEST)}- {text}"
        stack += [(child, depth + 1) for _, child in sorted(below.get(id, ()), reverse=True)]


def _text(point: Any) -> str:
    paragraphs = (
        " ".join("".join(t.text or "" for t in p.iter(f"{A}t")).split()) for p in point.iter(f"{A}p")
    )
    return " ".join(filter(None, paragraphs))
