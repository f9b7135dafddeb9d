"""The tables of the lexical index in SQLite: FTS5, whose vocabulary and averages are read beside its own BM25."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from ragweave.corpora.store.words import WEIGHTS, Row


def create(connection: Connection, name: str) -> None:
    """Make an empty index, with its vocabulary view, in place of the one that is there."""
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}_terms")
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}")
    # The ascii tokeniser splits at ASCII punctuation only, so our terms come through whole in every script.
    how = "title, heading, text, tokenize=\"ascii tokenchars '.'\""
    connection.exec_driver_sql(f"CREATE VIRTUAL TABLE {name} USING fts5({how})")
    connection.exec_driver_sql(f"CREATE VIRTUAL TABLE {name}_terms USING fts5vocab({name}, 'row')")


def put(connection: Connection, name: str, rows: Sequence[Row]) -> None:
    """Write rows in place of those of the same numbers."""
    connection.exec_driver_sql(f"DELETE FROM {name} WHERE rowid = ?", [(row[0],) for row in rows])
    connection.exec_driver_sql(
        f"INSERT INTO {name}(rowid, title, heading, text) VALUES (?, ?, ?, ?)", list(rows)
    )


def frequencies(
    connection: Connection, names: Sequence[str], terms: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Return in how many rows of each index a term stands, by term and index."""
    if not names:
        return {}
    # The vocabulary view reads a single term without a scan: one lookup a term and index, within one
    # statement.
    looks = ", ".join(f"(SELECT doc FROM {name}_terms WHERE term = value)" for name in names)
    found = connection.exec_driver_sql(f"SELECT value, {looks} FROM json_each(?)", (json.dumps(terms),))
    return {row[0]: {name: doc for name, doc in zip(names, row[1:], strict=True) if doc} for row in found}


def candidates(
    connection: Connection,
    name: str,
    weights: Mapping[str, float],
    average: float,
    k: int,
    sources: Sequence[str],
) -> list[tuple[int, str, float]]:
    """Return the best k (row, item id, BM25 over the terms of `weights`); FTS5 weighs them itself."""
    values: list[Any] = [" OR ".join('"' + term.replace('"', '""') + '"' for term in weights)]
    only = ""
    if sources:
        only = f" AND rowid IN (SELECT n FROM items WHERE source IN ({','.join('?' * len(sources))}))"
        values += sources
    columns = ", ".join(str(w) for w in WEIGHTS)
    rows = connection.exec_driver_sql(
        f"SELECT found.rowid, id, score FROM (SELECT rowid, -bm25({name}, {columns}) AS score FROM {name}"
        f" WHERE {name} MATCH ?{only} ORDER BY score DESC, rowid LIMIT ?) AS found JOIN items ON items.n ="
        " found.rowid ORDER BY score DESC, found.rowid",
        (*values, k),
    )
    return [(row[0], row[1], float(row[2])) for row in rows]


def tokens(connection: Connection, name: str) -> int:
    """Return the tokens of an index, from the averages record that FTS5 keeps (row 1, varints; the first is rows)."""
    record: bytes = connection.exec_driver_sql(f"SELECT block FROM {name}_data WHERE id = 1").scalar_one()
    values, value = [], 0
    for byte in record:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            values.append(value)
            value = 0
    return sum(values[1:])
