"""Read the texts of a SmartArt diagram as an indented list (ISO 29500-1, section 21.4)."""

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
    """Return the texts of a diagram's data as one list; [] if it has none."""
    lines = list(_lines(root))
    return [Block("\n".join(lines), "list", page=page)] if lines else []


def _lines(root: Any) -> Iterator[str]:
    points = {point.get("modelId") or "": point for point in root.iter(f"{D}pt")}
    below = _children(root)
    # Depth first. The document has no text, and its children are not indented.
    others: list[tuple[str, int]] = []
    documents: list[tuple[str, int]] = []
    for id, point in reversed(points.items()):
        if point.get("type", "node") in _NODES:
            others.append((id, 0))
        if point.get("type") == "doc":
            documents.append((id, -1))
    stack = others + documents
    seen: set[str] = set()
    while stack:
        id, depth = stack.pop()
        if id in seen or id not in points:
            continue
        seen.add(id)
        text = _text(points[id])
        if text:
            yield f"{'  ' * min(max(depth, 0), _DEEPEST)}- {text}"
        for _, child in sorted(below.get(id, ()), reverse=True):
            stack.append((child, depth + 1))


def _children(root: Any) -> dict[str, list[tuple[int, str]]]:
    """Return the points below each point, each with its position."""
    below: dict[str, list[tuple[int, str]]] = {}
    for link in root.iter(f"{D}cxn"):
        if link.get("type", "parOf") == "parOf":
            order = link.get("srcOrd") or "0"
            position = int(order) if order.isdecimal() else 0
            below.setdefault(link.get("srcId") or "", []).append((position, link.get("destId") or ""))
    return below


def _text(point: Any) -> str:
    texts = []
    for paragraph in point.iter(f"{A}p"):
        text = "".join(run.text or "" for run in paragraph.iter(f"{A}t"))
        texts.append(" ".join(text.split()))
    return " ".join(filter(None, texts))
