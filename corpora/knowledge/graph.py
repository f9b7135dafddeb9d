"""Hold the entity graph of a library in memory, to search, draw and export it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
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
"""Neighbours that a drawing shows around an entity; a drawing of more is hard to read."""
GROUPS, NAMED = 5, 4
"""Communities of an overview, and entities of each that are named."""
_CORE = 500
"""Entities with the most neighbours, among which communities are searched."""


class Mention(NamedTuple):
    """What one chunk of a source says about an entity.

    `name` and `kind` are those of this chunk. `items` are (item id, times) of the items that name the entity.
    """

    name: str
    kind: str
    description: str
    source: str
    chunk: str
    items: list[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An entity: its digest, its most common name and type, and what chunks say about it.

    The description and the weight of a neighbour are those of its edge to the entity in the middle. x and y
    are its place in a drawing, each from -1 to 1.
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
    """An entity and its neighbours (`beside`).

    `lines` are (key, key, weight) of the edges among all of them. `items` are the items that name the entity.
    """

    middle: GraphNode
    beside: list[GraphNode]
    lines: list[tuple[str, str, float]]
    items: list[str]


def entity_graph(catalog: Catalog, library: str) -> EntityGraph:
    """Return the graph of the present generation of a library; callers must not change it.

    A node is the digest of an entity with its most common `name` and `kind`, one `description` and its
    `mentions`. An edge has `weight` and `description`. The graph itself has `joined`, which maps the digest
    of a former name to the entity that it became, and `chunks`, the number of chunks.

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
    """Return the graph that the tables of a library hold."""
    import networkx as nx

    graph: EntityGraph = nx.Graph(joined=_notes(connection, NAME))
    columns = [mentions.c[name] for name in ("entity", *Mention._fields)]
    chunks = set()
    for key, *values in connection.execute(select(*columns).order_by(mentions.c.n)):
        mention = Mention(*values)
        if key not in graph:
            graph.add_node(key, mentions=[])
        graph.nodes[key]["mentions"].append(mention)
        chunks.add(mention.chunk)
    graph.graph["chunks"] = len(chunks)
    merged = _merged_descriptions(connection)
    for key, node in graph.nodes.items():
        own: list[Mention] = node["mentions"]
        names, kinds, descriptions = [], [], []
        for mention in own:
            names.append(mention.name)
            descriptions.append(mention.description)
            if mention.kind:
                kinds.append(mention.kind)
        node["name"] = _most_common(names)
        node["kind"] = _most_common(kinds)
        node["description"] = merged.get(key) or together(descriptions)
    _add_edges(graph, connection)
    return graph


def _notes(connection: Connection, stage: str) -> dict[str, str]:
    """Return the notes of a stage in the ledger by item, without empty ones."""
    query = select(stages.c.item, stages.c.params_hash)
    rows = connection.execute(query.where(stages.c.stage == stage, stages.c.params_hash != ""))
    notes = {}
    for item, note in rows:
        notes[item] = note
    return notes


def _merged_descriptions(connection: Connection) -> dict[str, str]:
    """Return the descriptions that a model wrote, by entity; they follow a digest in their notes."""
    descriptions = {}
    for key, note in _notes(connection, MERGED).items():
        _, _, text = note.partition(" ")
        if text:
            descriptions[key] = text
    return descriptions


def _most_common(names: Iterable[str]) -> str:
    """Return the most common of names, the first of equals; "" if there are none."""
    ranked = Counter(names).most_common(1)
    return ranked[0][0] if ranked else ""


def _add_edges(graph: EntityGraph, connection: Connection) -> None:
    """Add the relations between entities; weights of a pair add up, and its first description stays."""
    columns = select(relations.c.head, relations.c.tail, relations.c.weight, relations.c.description)
    for head, tail, weight, text in connection.execute(columns.order_by(relations.c.n)):
        if head not in graph or tail not in graph:
            continue
        if graph.has_edge(head, tail):
            edge = graph.edges[head, tail]
            edge["weight"] += weight
            edge["description"] = edge["description"] or text
        else:
            graph.add_edge(head, tail, weight=0.0 + weight, description=text)


def _node(graph: EntityGraph, key: str, **changes: Any) -> GraphNode:
    """Return an entity of the graph; `changes` replace its fields."""
    node = graph.nodes[key]
    fields = {"key": key, "name": node["name"], "kind": node["kind"], "description": node["description"]}
    fields.update(changes)
    return GraphNode(**fields)


def overview(graph: EntityGraph) -> list[list[GraphNode]]:
    """Return the largest communities (Louvain), each as its entities with the most neighbours.

    The weight of an entity is its number of neighbours.
    """
    import networkx as nx

    degrees = dict(graph.degree())
    core = sorted(graph, key=lambda key: (-degrees[key], key))[:_CORE]
    communities = nx.community.louvain_communities(graph.subgraph(core), weight="weight", seed=0)
    groups = []
    rank = {}
    for n, key in enumerate(core):
        rank[key] = n
    for community in communities:
        if len(community) > 1:
            groups.append(sorted(community, key=rank.__getitem__))
    groups.sort(key=len, reverse=True)
    out = []
    for group in groups[:GROUPS]:
        nodes = []
        for key in group[:NAMED]:
            nodes.append(_node(graph, key, weight=float(degrees[key])))
        out.append(nodes)
    return out


def around(graph: EntityGraph, key: str, k: int = SHOWN) -> Neighbourhood | None:
    """Return an entity and its `k` strongest neighbours; None if no chunk mentions it.

    In the drawing the neighbours form a ring; those with an edge between them are next to each other.
    """
    if key not in graph:
        return None
    edges = graph.adj[key]
    best = sorted(edges, key=lambda other: (-edges[other]["weight"], other))[:k]
    spots = _layout(graph, key, best)
    neighbours = []
    for one in best:
        x, y = spots[one]
        edge = edges[one]
        neighbours.append(_node(graph, one, weight=edge["weight"], description=edge["description"], x=x, y=y))
    x, y = spots[key]
    drawn = graph.subgraph([key, *best])
    lines = [(one, other, edge["weight"]) for one, other, edge in drawn.edges(data=True)]
    items = _items_by_count(graph.nodes[key]["mentions"])
    return Neighbourhood(_node(graph, key, x=x, y=y), neighbours, lines, items)


def _layout(graph: EntityGraph, key: str, best: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return x and y of an entity and its neighbours, which form a ring around it."""
    import networkx as nx

    among = graph.subgraph(best)
    ring: dict[str, None] = {}
    for start in best:
        ring.update(dict.fromkeys(nx.dfs_preorder_nodes(among, start)))
    shells = [[key]]
    if ring:
        shells.append(list(ring))
    spots = nx.shell_layout(graph.subgraph([key, *best]), shells)
    rounded = {}
    for one, (x, y) in spots.items():
        rounded[one] = (round(float(x), 3), round(float(y), 3))
    return rounded


def _items_by_count(own: Iterable[Mention]) -> list[str]:
    """Return the items that mention an entity, the most frequent first."""
    counts: Counter[str] = Counter()
    for mention in own:
        for item, times in mention.items:
            counts[item] = times
    return [item for item, _ in counts.most_common()]


def export(graph: EntityGraph, to: Path) -> None:
    """Write the graph as GraphML, completely or not at all.

    Gephi, Cytoscape, yEd and `networkx.read_graphml` read GraphML.

    Raises:
        InputError: the file exists, or cannot be written.
    """
    import networkx as nx

    if to.exists():
        raise InputError(f"{to} exists", "name another file")
    part = to.with_name(f".{to.name}.{os.getpid()}")
    try:
        nx.write_graphml(_exported(graph), part)
        part.replace(to)
    except OSError as error:
        raise InputError(
            f"{to} cannot be written ({error.strerror or error})", "name another file"
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _exported(graph: EntityGraph) -> EntityGraph:
    """Return a copy of the graph whose attributes are texts and numbers only."""
    import networkx as nx

    out: EntityGraph = nx.Graph()
    for key, node in graph.nodes.items():
        sources = {m.source for m in node["mentions"]}
        out.add_node(
            key,
            label=_xml_text(node["name"]),
            kind=_xml_text(node["kind"]),
            description=_xml_text(node["description"]),
            mentions=len(node["mentions"]),
            sources=len(sources),
        )
    for head, tail, edge in graph.edges(data=True):
        out.add_edge(head, tail, weight=float(edge["weight"]), description=_xml_text(edge["description"]))
    return out


def _xml_text(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return "".join(filter(_in_xml, text))


def _in_xml(character: str) -> bool:
    if character in "\t\n":
        return True
    is_control = character < " "
    is_surrogate = "\ud800" <= character <= "\udfff"
    return not is_control and not is_surrogate and character < "\ufffe"
