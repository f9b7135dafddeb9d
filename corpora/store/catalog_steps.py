"""The numbers of a catalog's tables, and the steps that bring older ones up to those of `schema.py`.

A change of the tables adds a step under the next number, on which both SQLite and PostgreSQL agree, and a
home of the number before to `tests/data/homes`. A new catalog is made from `schema.py` at once, without any
step.
"""

from __future__ import annotations

from sqlalchemy import Connection

from ragweave.corpora.store.migrations import History, Step


def _tables_of_files(connection: Connection) -> None:
    from ragweave.corpora.store import table_schema  # which imports this history through `schema.py`

    table_schema.create(connection)


STEPS: dict[int, Step] = {7: _tables_of_files}
"""The step to each number above 6, the first that every library of 0.1 has in common."""
HISTORY = History(6, STEPS)
