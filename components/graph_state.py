"""How far the entity graph of each library is built, and what building the rest asks of the chat model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragweave.components.entities import model_name
from ragweave.components.reencoding import libraries

if TYPE_CHECKING:
    from ragweave.corpora.store.libraries import LibraryRow

HOUR_CALLS, HOUR_INPUT, HOUR_OUTPUT = 15, 17_000, 3_000
"""Calls and tokens of an hour of recordings, as `python benchmarks/entity_cost.py DATA` counts them."""


@dataclass(frozen=True)
class GraphState:
    """The entity graph of a library that holds recordings.

    Attributes:
        library: name of the library.
        seconds: length of its recordings.
        entities: entities in the graph.
        chunks: parts of up to 1,200 tokens that the model reads with one call each.
        left: parts that the present model has not read.
        path: a recording or transcript that can be indexed again, or "" if none is there any more.
    """

    library: str
    seconds: float
    entities: int
    chunks: int
    left: int
    path: str


async def graph_states() -> list[GraphState]:
    """Return the state of each library with recordings; without a chat model all of it counts as unread."""
    reader = model_name()

    def states() -> list[GraphState]:
        found: list[GraphState] = []
        for row in libraries():
            state = _state(row, reader)
            if state.chunks:
                found.append(state)
        return found

    return await asyncio.to_thread(states)


def _state(row: LibraryRow, reader: str) -> GraphState:
    from ragweave.corpora.knowledge.graph import entity_graph
    from ragweave.corpora.knowledge.stage import chunks_left
    from ragweave.corpora.store.stores import stores

    catalog = stores().catalog
    seconds, holding = 0.0, set()
    for recording in catalog.recordings(row.id):
        seconds += recording.end
        holding.add(recording.source)
    path = ""
    for source in catalog.sources(row.id, sorted(holding)):
        path = path or (source.path if Path(source.path).is_file() else "")
    chunks, left = chunks_left(catalog, row.id, reader)
    return GraphState(row.name, seconds, len(entity_graph(catalog, row.id)), chunks, left, path)
