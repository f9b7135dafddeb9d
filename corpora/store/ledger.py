"""The ledger of stages: what was begun, so that a run that was killed leaves nothing behind.

Three rows tell the story of a source. `read`: `done` or `failed`, with the error. `commit`: `running` from before its
first vector is written until the transaction that makes it known. `drop`: `pending` from the transaction that
forgets a source until its vectors are gone. Rows of `pictures` say how far those of a source were read, and, one for
each file that it links to, how that file looked: a run reads again what would be read further, or links to a change.
One row tells of the library:
`vectors`, `lost` from before collections that a kill left half-written are removed until their vectors are made again.
A run begins by finishing what the rows of the last one say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, delete, func, select
from sqlalchemy.dialects.sqlite import insert

from ragweave.corpora.store.catalog import now
from ragweave.corpora.store.schema import items, stages

PICTURES = "pictures"


def mark(
    connection: Connection,
    library: str,
    sources: Sequence[str],
    stage: str,
    status: str,
    params_hash: str,
    error: str = "",
) -> None:
    """Write the row of a stage for each source."""
    if not sources:
        return
    rows = [
        {
            "library": library,
            "source": source,
            "item": "",
            "stage": stage,
            "params_hash": params_hash,
            "status": status,
            "error": error,
            "at": now(),
        }
        for source in dict.fromkeys(sources)
    ]
    statement = insert(stages)
    new = {name: statement.excluded[name] for name in ("params_hash", "status", "error", "at")}
    keys = ["library", "source", "item", "stage"]
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=new), rows)


def forget(connection: Connection, library: str, sources: Sequence[str]) -> None:
    """Remove every row of these sources."""
    for source in sources:
        connection.execute(delete(stages).where(stages.c.library == library, stages.c.source == source))


def mark_lost(connection: Connection, library: str) -> None:
    """Note that vectors of a library were lost."""
    mark(connection, library, [""], "vectors", "lost", "")


def lost(connection: Connection, library: str) -> bool:
    """Whether vectors of a library were lost and are not made again yet."""
    query = select(stages.c.status).where(stages.c.library == library, stages.c.stage == "vectors")
    return connection.execute(query).first() is not None


def unfinished(connection: Connection, library: str) -> list[str]:
    """Return the sources whose vectors must go: begun and never made known, or forgotten and never cleared."""
    held = select(func.count()).select_from(items).where(items.c.library == library, items.c.source == stages.c.source)
    query = select(stages.c.source).where(
        stages.c.library == library,
        ((stages.c.stage == "commit") & (stages.c.status == "running")) | (stages.c.stage == "drop"),
        held.scalar_subquery() == 0,
    )
    return sorted(set(connection.execute(query).scalars()))


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
