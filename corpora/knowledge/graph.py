"""The entity graph of a library in memory: read once a generation, for searching, drawing and exporting it."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from ragweave.corpora.knowledge.facts import together
from ragweave.corpora.knowledge.store import NAME
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.ledger import MERGED
from ragweave.corpora.store.schema import mentions, relations, stages
from ragweave.models.errors import InputError

EntityGraph = Any
"""A `networkx.Graph`, which comes without types."""
SHOWN = 10
"""Entities of a drawing beside the one in its middle; more cannot be read."""
GROUPS, NAMED = 5, 4
"""Communities of an overview, and entities of each that are named."""
_CORE = 500
"""Entities, those joined to the most others, among which communities are looked for."""


class Mention(NamedTuple):
    """What one chunk of a source says of an entity, by which name and type, and (item, times) of those that name it."""

    name: str
    kind: str
    description: str
    source: str
    chunk: str
    items: list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity by its digest, its most common name and type, and what chunks say of it.

    Of a neighbour, the description and the weight are those of what joins it to the entity in the middle. A
    drawing has it at x and y, each from -1 to 1.
    """

    key: str
    name: str
    kind: str
    description: str = ""
    weight: float = 0.0
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """An entity, its neighbours, the weights of the lines between two of these keys, and the items that name it."""

    middle: GraphNode
    beside: list[GraphNode]
    lines: list[tuple[str, str, float]]
    items: list[str]


def entity_graph(catalog: Catalog, library: str) -> EntityGraph:
    """Return the graph as of the present generation of a library; nobody changes it.

    A node is the digest of an entity with its most common `name` and `kind`, one `description` and its
    `mentions`. An edge has `weight` and `description`. The graph itself has `joined`, the entity that a
    digest of another name became, and `chunks`, how many there are.

    Raises:
        LibraryError: the catalog cannot be read, or the library was deleted.
    """
    with catalog.reading(library) as connection:
        memory = catalog.memory(library)
        if "entity_graph" not in memory:
            memory["entity_graph"] = _read(connection)
        found: EntityGraph = memory["entity_graph"]
        return found


def _read(connection: Connection) -> EntityGraph:
    import networkx as nx

    notes = {NAME: dict[str, str](), MERGED: dict[str, str]()}
    noted = select(stages.c.stage, stages.c.item, stages.c.params_hash).where(stages.c.stage.in_(notes))
    for stage, item, note in connection.execute(noted.where(stages.c.params_hash != "")):
        notes[stage][item] = note
    merged = {key: text for key, note in notes[MERGED].items() if (text := note.partition(" ")[2])}
    graph: EntityGraph = nx.Graph(joined=notes[NAME])
    columns = [mentions.c[name] for name in ("entity", *Mention._fields)]
    for key, *told in connection.execute(select(*columns).order_by(mentions.c.n)):
        if key not in graph:
            graph.add_node(key, mentions=[])
        graph.nodes[key]["mentions"].append(Mention(*told))
    for key, node in graph.nodes.items():
        own: list[Mention] = node["mentions"]
        kinds = Counter(m.kind for m in own if m.kind)
        node["name"] = Counter(m.name for m in own).most_common(1)[0][0]
        node["kind"] = kinds.most_common(1)[0][0] if kinds else ""
        node["description"] = merged.get(key) or together(m.description for m in own)
    graph.graph["chunks"] = len({m.chunk for _, own in graph.nodes(data="mentions") for m in own})
    ends = select(relations.c.head, relations.c.tail, relations.c.weight, relations.c.description)
    for head, tail, weight, text in connection.execute(ends.order_by(relations.c.n)):
        if head in graph and tail in graph:
            edge = (
                graph.edges[head, tail] if graph.has_edge(head, tail) else {"weight": 0.0, "description": ""}
            )
            graph.add_edge(
                head, tail, weight=edge["weight"] + weight, description=edge["description"] or text
            )
    return graph


def _shown(graph: EntityGraph, key: str, **of_it: Any) -> GraphNode:
    node = graph.nodes[key]
    return GraphNode(
        **{"key": key, **{name: node[name] for name in ("name", "kind", "description")}, **of_it}
    )


def overview(graph: EntityGraph) -> list[list[GraphNode]]:
    """Return the largest communities (Louvain), of each the entities joined to the most others, with that number."""
    import networkx as nx

    many = dict(graph.degree())
    core = sorted(graph, key=lambda key: (-many[key], key))[:_CORE]
    found = nx.community.louvain_communities(graph.subgraph(core), weight="weight", seed=0)
    groups = sorted(([key for key in core if key in c] for c in found if len(c) > 1), key=len, reverse=True)
    return [
        [_shown(graph, key, weight=float(many[key])) for key in group[:NAMED]] for group in groups[:GROUPS]
    ]


def around(graph: EntityGraph, key: str, k: int = SHOWN) -> Neighbourhood | None:
    """Return an entity and its neighbours, the most strongly joined first; None where nothing mentions it.

    In the drawing the neighbours stand on a ring, those next to each other that are joined to each other.
    """
    import networkx as nx

    if key not in graph:
        return None
    joined = graph.adj[key]
    best = sorted(joined, key=lambda other: (-joined[other]["weight"], other))[:k]
    among = graph.subgraph(best)
    ring = dict.fromkeys(one for start in best for one in nx.dfs_preorder_nodes(among, start))
    drawn = graph.subgraph([key, *best])
    spots = nx.shell_layout(drawn, [[key], [*ring]] if ring else [[key]])
    at = {one: {"x": round(float(x), 3), "y": round(float(y), 3)} for one, (x, y) in spots.items()}
    items = Counter(dict(counted for m in graph.nodes[key]["mentions"] for counted in m.items))
    return Neighbourhood(
        _shown(graph, key, **at[key]),
        [_shown(graph, one, **{**joined[one], **at[one]}) for one in best],
        [(one, other, edge["weight"]) for one, other, edge in drawn.edges(data=True)],
        [item for item, _ in items.most_common()],
    )


def export(graph: EntityGraph, to: Path) -> None:
    """Write the graph as GraphML, which Gephi, Cytoscape, yEd and `networkx.read_graphml` read; whole or not at all.

    Raises:
        InputError: the file exists, or cannot be written.
    """
    import networkx as nx

    if to.exists():
        raise InputError(f"{to} exists", "name another file")
    out: EntityGraph = nx.Graph()
    for key, node in graph.nodes.items():
        told = {"label": node["name"], "kind": node["kind"], "description": node["description"]}
        counts = {"mentions": len(node["mentions"]), "sources": len({m.source for m in node["mentions"]})}
        out.add_node(key, **{name: _plain(text) for name, text in told.items()}, **counts)
    for head, tail, edge in graph.edges(data=True):
        out.add_edge(head, tail, weight=float(edge["weight"]), description=_plain(edge["description"]))
    part = to.with_name(f".{to.name}.{os.getpid()}")
    try:
        nx.write_graphml(out, part)
        part.replace(to)
    except OSError as error:
        raise InputError(
            f"{to} cannot be written ({error.strerror or error})", "name another file"
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _plain(text: str) -> str:
    """Return a text without the signs that XML cannot hold."""
    return "".join(
        c for c in text if c in "\t\n" or (c >= " " and not "\ud800" <= c <= "\udfff" and c < "\ufffe")
    )
