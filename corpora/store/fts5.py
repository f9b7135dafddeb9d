"""The tables of the lexical index in SQLite: FTS5, its vocabulary and its averages.

FTS5 keeps no text. The words of an item lie packed in a table of our own, which a view shows to FTS5 when it
removes a row.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, text

from ragweave.corpora.store.words import WEIGHTS, Row


def create(connection: Connection, name: str) -> None:
    """Make an empty index, with its vocabulary view, in place of the one that is there."""
    drop(connection, name)
    connection.exec_driver_sql(f"DROP VIEW IF EXISTS {name}_shown")
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}_packed")
    connection.exec_driver_sql(
        f"CREATE TABLE {name}_packed (n INTEGER PRIMARY KEY, title TEXT, heading TEXT, words)"
    )
    shown = "n, title, heading, ragweave_unpacked(words) AS text"
    connection.exec_driver_sql(f"CREATE VIEW {name}_shown AS SELECT {shown} FROM {name}_packed")
    # The ascii tokeniser splits at ASCII punctuation only, so our terms come through whole in every script.
    how = "title, heading, text, tokenize=\"ascii tokenchars '.'\""
    read = f"content='{name}_shown', content_rowid='n'"
    connection.exec_driver_sql(f"CREATE VIRTUAL TABLE {name} USING fts5({how}, {read})")
    connection.exec_driver_sql(f"CREATE VIRTUAL TABLE {name}_terms USING fts5vocab({name}, 'row')")


def drop(connection: Connection, name: str) -> None:
    """Remove the tables of FTS5, and leave the words."""
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}_terms")
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}")


def take_over(connection: Connection, name: str) -> None:
    """Make the index of an earlier version, in which FTS5 kept the words, into today's."""
    connection.exec_driver_sql(f"CREATE TEMP TABLE words_before AS SELECT {_WORDS} FROM {name}")
    create(connection, name)
    connection.exec_driver_sql(f"INSERT INTO {name}_packed SELECT * FROM words_before")
    connection.exec_driver_sql("DROP TABLE words_before")
    connection.exec_driver_sql(f"INSERT INTO {name}({name}) VALUES ('rebuild')")


_WORDS = "rowid AS n, title, heading, ragweave_packed(text) AS words"


def put(connection: Connection, name: str, rows: Sequence[Row]) -> None:
    """Write rows in place of those of the same numbers."""
    numbers = [(row[0],) for row in rows]
    connection.exec_driver_sql(f"DELETE FROM {name} WHERE rowid = ?", numbers)
    connection.exec_driver_sql(
        f"INSERT OR REPLACE INTO {name}_packed VALUES (?, ?, ?, ragweave_packed(?))", list(rows)
    )
    connection.exec_driver_sql(
        f"INSERT INTO {name}(rowid, title, heading, text) VALUES (?, ?, ?, ?)", list(rows)
    )


def remove(connection: Connection, name: str, chosen: str, given: Mapping[str, str]) -> None:
    """Remove the rows whose numbers a query chooses; FTS5 reads their words before these go."""
    connection.execute(text(f"DELETE FROM {name} WHERE rowid IN ({chosen})"), given)
    connection.execute(text(f"DELETE FROM {name}_packed WHERE n IN ({chosen})"), given)


def merge(connection: Connection, name: str, pages: int) -> bool:
    """Merge so many pages of the index, so that words of removed rows go; return whether more is left.

    A negative number of pages begins the merging of all parts into one.
    """
    raw: Any = connection.connection.driver_connection
    before = raw.total_changes
    raw.execute(f"INSERT INTO {name}({name}, rank) VALUES ('merge', {pages})")
    return bool(raw.total_changes - before > 1)


def frequencies(
    connection: Connection, names: Sequence[str], terms: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Return in how many rows of each index a term stands, by term and index."""
    if not names:
        return {}
    # The vocabulary view reads a single term without a scan: one lookup a term and index, within one
    # statement.
    lookups = []
    for name in names:
        lookups.append(f"(SELECT doc FROM {name}_terms WHERE term = value)")
    looks = ", ".join(lookups)
    found = connection.exec_driver_sql(f"SELECT value, {looks} FROM json_each(?)", (json.dumps(terms),))
    out: dict[str, dict[str, int]] = {}
    for row in found:
        counts = {}
        for name, doc in zip(names, row[1:], strict=True):
            if doc:
                counts[name] = doc
        out[row[0]] = counts
    return out


def candidates(
    connection: Connection,
    name: str,
    weights: Mapping[str, float],
    average: float,
    k: int,
    sources: Sequence[str],
) -> list[tuple[int, str, float]]:
    """Return the best k (row, item id, BM25 over the terms of `weights`); FTS5 weighs them itself."""
    quoted = []
    for term in weights:
        quoted.append('"' + term.replace('"', '""') + '"')
    values: list[Any] = [" OR ".join(quoted)]
    only = ""
    if sources:
        only = f" AND rowid IN (SELECT n FROM items WHERE source IN ({','.join('?' * len(sources))}))"
        values += sources
    columns = ", ".join(map(str, WEIGHTS))
    rows = connection.exec_driver_sql(
        f"SELECT found.rowid, id, score FROM (SELECT rowid, -bm25({name}, {columns}) AS score FROM {name}"
        f" WHERE {name} MATCH ?{only} ORDER BY score DESC, rowid LIMIT ?) AS found JOIN items ON items.n ="
        " found.rowid ORDER BY score DESC, found.rowid",
        (*values, k),
    )
    return [(row[0], row[1], float(row[2])) for row in rows]


def tokens(connection: Connection, name: str) -> int:
    """Return the number of tokens, from the averages record of FTS5 (row 1, varints; the first is rows)."""
    record: bytes = connection.exec_driver_sql(f"SELECT block FROM {name}_data WHERE id = 1").scalar_one()
    values, value = [], 0
    for byte in record:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            values.append(value)
            value = 0
    return sum(values[1:])
