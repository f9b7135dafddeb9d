"""The ledger: work done for a source after reading it, and its parameters.

Rows of `pictures` say how far those of a source were read, and, one for each file that it links to, how that
file
looked: a run reads again what would be read further, or links to a change.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, delete, select

from ragweave.corpora.store.schema import stages, upsert

PICTURES = "pictures"
MERGED = "merged"
"""Stage of a text that was made of several sources: `item` says of what, and one of the sources keeps it."""


def mark(connection: Connection, source: str, stage: str, params_hash: str, item: str = "") -> None:
    """Note that a stage is done for a source, or for an item of it."""
    upsert(connection, stages, {"source": source, "item": item, "stage": stage, "params_hash": params_hash})


def forget_merged(connection: Connection, source: str) -> None:
    """Remove the texts that were made of a source and others, before it changes or goes."""
    mine = select(stages.c.item).where(stages.c.stage == MERGED, stages.c.source == source)
    connection.execute(delete(stages).where(stages.c.stage == MERGED, stages.c.item.in_(mine)))


def put_pictures(connection: Connection, source: str, reached: str, links: Iterable[tuple[str, str]]) -> None:
    """Note how far the pictures of a source were read, and how the files that it links to looked."""
    connection.execute(delete(stages).where(stages.c.source == source, stages.c.stage == PICTURES))
    for item, state in [*([("", reached)] if reached else []), *links]:
        mark(connection, source, PICTURES, state, item)


def pictures(connection: Connection) -> list[tuple[str, str, str]]:
    """Return (source, "" or a linked file, how far or how it looked) of every source with pictures."""
    query = select(stages.c.source, stages.c.item, stages.c.params_hash).where(stages.c.stage == PICTURES)
    return [(row[0], row[1], row[2]) for row in connection.execute(query)]
