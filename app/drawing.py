"""Drawing a graph without a network: a layered layout as SVG inside one self-contained HTML page."""

from __future__ import annotations

import html
from collections import defaultdict, deque
from dataclasses import dataclass, field
from itertools import pairwise

_BOX_W, _BOX_H, _GAP_X, _GAP_Y, _MARGIN, _LANE = 132, 36, 28, 46, 24, 16
_SWEEPS = 12


@dataclass(frozen=True)
class Edge:
    """One arrow; `conditional` where a decision picks it."""

    source: str
    target: str
    conditional: bool = False


@dataclass
class Layout:
    """Where everything lies.

    Attributes:
        layers: node names per layer, top to bottom, each left to right; `None` keeps room for an edge that passes.
        centres: (x, y) of each node.
        routes: points of each forward edge, in the order of its arrow.
        back: edges that lead up again.
        width: of the drawing without the lanes of the back edges.
        height: of the drawing.
    """

    layers: list[list[str]]
    centres: dict[str, tuple[float, float]] = field(default_factory=dict)
    routes: dict[Edge, list[tuple[float, float]]] = field(default_factory=dict)
    back: list[Edge] = field(default_factory=list)
    width: float = 0
    height: float = 0


def back_edges(nodes: list[str], edges: list[Edge]) -> list[Edge]:
    """Return the edges that close a loop: they lead to a node nearer to the start, or named earlier."""
    after: dict[str, list[str]] = defaultdict(list)
    for e in edges:
        after[e.source].append(e.target)
    far = {node: _distances(node, after) for node in nodes}
    start = far[nodes[0]] if nodes else {}
    key = {node: (start.get(node, len(nodes)), i) for i, node in enumerate(nodes)}
    return [e for e in edges if e.source in far[e.target] and key[e.target] <= key[e.source]]


def _distances(start: str, after: dict[str, list[str]]) -> dict[str, int]:
    """Return the number of arrows from `start` to every node that can be reached from it."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for target in after[node]:
            if target not in found:
                found[target] = found[node] + 1
                queue.append(target)
    return found


def layered(nodes: list[str], edges: list[Edge]) -> Layout:
    """Lay nodes out in layers by their longest path from the start, with few crossings (Sugiyama's method)."""
    back = back_edges(nodes, edges)
    forward = [e for e in edges if e not in back]
    rank = _ranks(nodes, forward)
    layers: list[list[str]] = [[] for _ in range(max(rank.values(), default=0) + 1)]
    for node in nodes:
        layers[rank[node]].append(node)
    chains: dict[Edge, list[str]] = {}
    for n, e in enumerate(forward):
        # A passing edge holds a place in every layer it crosses, so that no box is drawn over it.
        between = [f"\0{n}.{r}" for r in range(rank[e.source] + 1, rank[e.target])]
        for name, r in zip(between, range(rank[e.source] + 1, rank[e.target]), strict=True):
            layers[r].append(name)
        chains[e] = [e.source, *between, e.target]
    links = [pair for chain in chains.values() for pair in pairwise(chain)]
    _untangle(layers, links)
    layout = Layout(layers=[[n for n in layer if not n.startswith("\0")] for layer in layers], back=back)
    _place(layout, layers, links)
    layout.routes = {e: [layout.centres[n] for n in chain] for e, chain in chains.items()}
    return layout


def _ranks(nodes: list[str], forward: list[Edge]) -> dict[str, int]:
    rank = dict.fromkeys(nodes, 0)
    for _ in nodes:
        for e in forward:
            rank[e.target] = max(rank[e.target], rank[e.source] + 1)
    return rank


def _untangle(layers: list[list[str]], links: list[tuple[str, str]]) -> None:
    """Order each layer by the mean position of its neighbours, downwards and upwards in turn."""
    above, below = defaultdict(list), defaultdict(list)
    for a, b in links:
        above[b].append(a)
        below[a].append(b)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        neighbours = above if down else below
        for layer in layers if down else reversed(layers):
            at = {n: i / max(1, len(row) - 1) for row in layers for i, n in enumerate(row)}
            layer.sort(key=lambda n: sum(at[m] for m in neighbours[n]) / len(neighbours[n]) if neighbours[n] else at[n])


def _place(layout: Layout, layers: list[list[str]], links: list[tuple[str, str]]) -> None:
    """Give every node a centre; a passing edge needs less room than a box."""

    def room(name: str) -> float:
        return _LANE if name.startswith("\0") else _BOX_W

    widths = [sum(room(n) for n in layer) + _GAP_X * (len(layer) - 1) for layer in layers]
    layout.width = max(widths, default=0) + 2 * _MARGIN
    for r, (layer, width) in enumerate(zip(layers, widths, strict=True)):
        x = (layout.width - width) / 2
        for name in layer:
            layout.centres[name] = (x + room(name) / 2, _MARGIN + _BOX_H / 2 + r * (_BOX_H + _GAP_Y))
            x += room(name) + _GAP_X
    layout.height = 2 * _MARGIN + len(layers) * (_BOX_H + _GAP_Y) - _GAP_Y


def svg(nodes: list[str], edges: list[Edge], labels: dict[str, str] | None = None) -> str:
    """Draw a graph as one `<svg>` element; dashed arrows are decisions, and loops run up on the right."""
    layout = layered(nodes, edges)
    names = labels or {}
    width = layout.width + _LANE * (len(layout.back) + 1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {layout.height:.0f}" '
        f'width="{width:.0f}" height="{layout.height:.0f}" role="img">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z"/></marker></defs>',
    ]
    for e, points in layout.routes.items():
        parts.append(_arrow(_down(points), e.conditional))
    for lane, e in enumerate(layout.back):
        parts.append(_arrow(_up(layout, e, lane), e.conditional))
    for node in nodes:
        x, y = layout.centres[node]
        terminal = node.startswith("__")
        parts.append(
            f'<g class="{"end" if terminal else "step"}"><rect x="{x - _BOX_W / 2:.1f}" y="{y - _BOX_H / 2:.1f}" '
            f'width="{_BOX_W}" height="{_BOX_H}" rx="{_BOX_H / 2 if terminal else 6:.0f}"/>'
            f'<text x="{x:.1f}" y="{y + 5:.1f}">{html.escape(names.get(node, node.strip("_")))}</text></g>'
        )
    return "\n".join([*parts, "</svg>"])


def _down(points: list[tuple[float, float]]) -> str:
    (x, y), (tx, ty) = points[0], points[-1]
    way = [(x, y + _BOX_H / 2), *points[1:-1], (tx, ty - _BOX_H / 2)]
    path = f"M{way[0][0]:.1f} {way[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(way):
        bend = (y1 - y0) / 2
        path += f" C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}"
    return path


def _up(layout: Layout, edge: Edge, n: int) -> str:
    """Lead a loop through the gaps between layers and up its own lane, so that it crosses no box."""
    (x, y), (tx, ty) = layout.centres[edge.source], layout.centres[edge.target]
    x, tx, lane, shift = x + _BOX_W / 3, tx + _BOX_W / 3, layout.width + n * _LANE, 10 + 4 * n
    bottom, top = y + _BOX_H / 2, ty - _BOX_H / 2
    return f"M{x:.1f} {bottom:.1f} v{shift} H{lane:.1f} V{top - shift:.1f} H{tx:.1f} V{top:.1f}"


def _arrow(path: str, conditional: bool) -> str:
    return f'<path class="edge{" maybe" if conditional else ""}" d="{path}" marker-end="url(#tip)"/>'


_STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --line: #5b6b7d; --box: #eef3f8; --page: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --line: #93a4b5; --box: #22303d; --page: #141a20; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); }
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
svg { max-width: 100%; height: auto; }
rect { fill: var(--box); stroke: var(--line); }
.end rect { fill: none; }
text { fill: var(--ink); text-anchor: middle; font: 14px system-ui, sans-serif; }
.edge { fill: none; stroke: var(--line); stroke-width: 1.4; stroke-linejoin: round; }
.maybe { stroke-dasharray: 5 4; }
marker path { fill: var(--line); }
dt { font-weight: 600; margin-top: .6rem; }
dd { margin: 0; }
"""


def page(title: str, nodes: list[str], edges: list[Edge], words: dict[str, str]) -> str:
    """Build a page that needs no network: the drawing, and what each step does."""
    steps = "\n".join(f"<dt>{html.escape(n)}</dt><dd>{html.escape(words[n])}</dd>" for n in nodes if words.get(n))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>{html.escape(title)}</h1>\n"
        "<p>A dashed arrow is taken where a decision picks it.</p>\n"
        f"{svg(nodes, edges)}\n<dl>{steps}</dl></body></html>\n"
    )
