"""The ledger of stages: what was done for a source, and with which parameters.

`read` is `done` or `failed`, with the error. Rows of `pictures` say how far those of a source were read, and, one for
each file that it links to, how that file looked: a run reads again what would be read further, or links to a change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.sqlite import insert

from ragweave.corpora.store.catalog import now
from ragweave.corpora.store.schema import stages, upsert

PICTURES = "pictures"


def mark(
    connection: Connection,
    library: str,
    sources: Sequence[str],
    stage: str,
    status: str,
    params_hash: str,
    error: str = "",
    item: str = "",
) -> None:
    """Write the row of a stage for each source, or for an item of it."""
    if not sources:
        return
    row = {"library": library, "item": item, "stage": stage}
    facts = {"params_hash": params_hash, "status": status, "error": error, "at": now()}
    upsert(connection, stages, *({**row, **facts, "source": source} for source in dict.fromkeys(sources)))


def forget(connection: Connection, library: str, sources: Sequence[str]) -> None:
    """Remove every row of these sources."""
    for source in sources:
        connection.execute(delete(stages).where(stages.c.library == library, stages.c.source == source))


def put_pictures(
    connection: Connection, library: str, source: str, reached: str, links: Iterable[tuple[str, str]]
) -> None:
    """Note how far the pictures of a source were read, and how the files that it links to looked."""
    mine = (stages.c.library == library) & (stages.c.source == source) & (stages.c.stage == PICTURES)
    connection.execute(delete(stages).where(mine))
    common = {"library": library, "source": source, "stage": PICTURES, "status": "done", "error": "", "at": now()}
    rows = [("", reached)] if reached else []
    for item, state in [*rows, *links]:
        connection.execute(insert(stages).values({**common, "item": item, "params_hash": state}))


def pictures(connection: Connection, library: str) -> list[tuple[str, str, str]]:
    """Return (source, "" or a linked file, how far or how it looked) of every source with pictures."""
    query = select(stages.c.source, stages.c.item, stages.c.params_hash).where(
        stages.c.library == library, stages.c.stage == PICTURES
    )
    return [(row[0], row[1], row[2]) for row in connection.execute(query)]
