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


def _packed_texts(connection: Connection) -> None:
    """Compress what SQLite keeps of texts, and begin to note what has to leave the disk."""
    from ragweave.corpora.store import fts5, packed

    connection.exec_driver_sql("CREATE TABLE removed (source VARCHAR NOT NULL PRIMARY KEY)")
    if connection.dialect.name == "postgresql":
        return
    for name in WORDS:
        fts5.take_over(connection, name)
    long = f"length(text) >= {packed.LONG}"
    connection.exec_driver_sql(f"UPDATE items SET text = ragweave_packed(text) WHERE {long}")


WORDS = ("lex_paragraph", "lex_document", "lex_image", "lex_clip", "lex_video")
"""The indexes of words of number 7."""
STEPS: dict[int, Step] = {7: _tables_of_files, 8: _packed_texts}
"""The step to each number above 6, the first that every library of 0.1 has in common."""
HISTORY = History(6, STEPS)
