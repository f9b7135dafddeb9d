"""Drawing entities without a network: a spring layout as SVG inside one self-contained HTML page."""

from __future__ import annotations

import html
import math
from typing import Any

_SIZE, _MARGIN = 1_000.0, 60.0
_EDGES = 4
"""Relations that are drawn of each entity: its strongest."""
_STYLE = """
:root { color-scheme: light dark; --ink: #1d2733; --line: #9fb0c0; --dot: #3b7dd8; --page: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --line: #4a5a6a; --dot: #6fa8f5; --page: #141a20; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
svg { width: 100%; height: auto; }
line { stroke: var(--line); }
circle { fill: var(--dot); fill-opacity: .75; }
text { fill: var(--ink); font: 13px system-ui, sans-serif; text-anchor: middle; }
g.entity:hover circle { fill-opacity: 1; }
td { padding: .1rem 1rem .1rem 0; vertical-align: top; }
"""


def page(title: str, drawn: Any) -> str:
    """Build a page with the entities of a `networkx.Graph` of `ragweave.corpora.knowledge.view`."""
    rows = "\n".join(
        f"<tr><td>{html.escape(data['name'])}</td><td>{html.escape(data['kind'])}</td><td>{data['chunks']}</td>"
        f"<td>{html.escape(', '.join(data['names'][:6]))}</td></tr>"
        for _, data in drawn.nodes(data=True)
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>{html.escape(title)}</h1>\n"
        "<p>A larger dot is spoken of in more places; a line joins what is spoken of together.</p>\n"
        f"{svg(drawn)}\n<table><tr><th>entity</th><th>type</th><th>chunks</th><th>also called</th></tr>\n{rows}</table>"
        "</body></html>\n"
    )


def svg(drawn: Any) -> str:
    """Draw a graph as one `<svg>` element: each entity with its strongest relations."""
    import networkx

    kept = networkx.Graph()
    kept.add_nodes_from(drawn.nodes(data=True))
    for node in drawn:
        best = sorted(drawn[node].items(), key=lambda r: (-r[1]["weight"], r[0]))[:_EDGES]
        kept.add_edges_from((node, other, data) for other, data in best)
    placed = networkx.spring_layout(kept, seed=7, k=2.2 / math.sqrt(max(1, len(kept))), iterations=80, weight=None)
    at = {node: tuple(_MARGIN + (_SIZE - 2 * _MARGIN) * (float(c) + 1) / 2 for c in xy) for node, xy in placed.items()}
    top = max((data["chunks"] for _, data in kept.nodes(data=True)), default=1)
    heavy = max((data["weight"] for _, _, data in kept.edges(data=True)), default=1.0)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE:.0f} {_SIZE:.0f}" role="img">']
    for one, other, data in kept.edges(data=True):
        (x, y), (tx, ty) = at[one], at[other]
        width = 0.6 + 2.4 * data["weight"] / heavy
        parts.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{tx:.1f}" y2="{ty:.1f}" stroke-width="{width:.1f}"/>')
    for node, data in kept.nodes(data=True):
        x, y = at[node]
        radius = 4 + 12 * math.sqrt(data["chunks"] / top)
        name = html.escape(data["name"])
        parts.append(
            f'<g class="entity"><title>{name}: {data["chunks"]} chunks</title>'
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
            f'<text x="{x:.1f}" y="{y - radius - 3:.1f}">{name}</text></g>'
        )
    return "\n".join([*parts, "</svg>"])
