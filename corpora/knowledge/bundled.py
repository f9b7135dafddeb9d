"""The knowledge graph in a bundle: its rows as JSON lines, and what may stand in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection, Engine, Table, select

from ragweave.corpora.store.catalog import now
from ragweave.corpora.store.schema import aliases, mentions, relations, stages

_Id = Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]
_Text = Annotated[str, Field(max_length=5_000)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")


class MentionRow(_Row):
    """What a chunk says about an entity."""

    source: _Id
    chunk: _Id
    entity: _Id
    name: Annotated[str, Field(min_length=1, max_length=500)]
    kind: Annotated[str, Field(max_length=100)]
    description: _Text
    items: Annotated[list[tuple[_Id, Annotated[int, Field(ge=0)]]], Field(max_length=10_000)]


class RelationRow(_Row):
    """What a chunk says about two entities."""

    source: _Id
    chunk: _Id
    head: _Id
    tail: _Id
    description: _Text
    weight: Annotated[float, Field(ge=0, le=1e9)]


class AliasRow(_Row):
    """A pair of names."""

    one: _Id
    other: _Id
    reason: Annotated[str, Field(max_length=40)]


class ReadRow(_Row):
    """A chunk, or a source, that was read."""

    source: _Id
    item: Annotated[str, Field(max_length=24, pattern=r"^[0-9a-f]*$")]
    stage: Annotated[str, Field(pattern=r"^(extract|graph)$")]
    params_hash: Annotated[str, Field(max_length=64)]


PARTS: Mapping[str, tuple[Table, type[_Row]]] = {
    "graph/mentions.jsonl": (mentions, MentionRow),
    "graph/relations.jsonl": (relations, RelationRow),
    "graph/aliases.jsonl": (aliases, AliasRow),
    "graph/read.jsonl": (stages, ReadRow),
}
"""Parts of a bundle that hold the graph, in the order in which they are stored; all are left out where it is empty."""


def rows(engine: Engine, library: str, part: str, sources: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a part, those of these sources only."""
    table, model = PARTS[part]
    kept = set(sources)
    columns = [table.c[name] for name in model.model_fields]
    query = select(*columns).where(table.c.library == library)
    if table is stages:
        query = query.where(stages.c.stage.in_(["extract", "graph"]), stages.c.status == "done")
    with engine.begin() as connection:
        for row in connection.execute(query.order_by(*(c for c in columns if c.name not in ("items",)))).mappings():
            if "source" not in row or row["source"] in kept:
                yield dict(row)


def insert(connection: Connection, library: str, part: str, found: Iterable[BaseModel]) -> int:
    """Store the rows of a part, within a write transaction; return how many."""
    table, _ = PARTS[part]
    values = [{**row.model_dump(mode="json"), "library": library} for row in found]
    if table is stages:
        values = [{**v, "status": "done", "error": "", "at": now()} for v in values]
    if values:
        connection.execute(table.insert(), values)
    return len(values)
