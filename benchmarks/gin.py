"""The other way to search words in PostgreSQL, for `lexical.py` alone: a tsvector of our own terms under a GIN index.

It has the functions of `ragweave.corpora.store.postings` and stands in its place. GIN finds the rows; what they are
worth is said by PostgreSQL's own ts_rank, or by BM25 over the positions that the vectors hold (`RANK`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, text

from ragweave.corpora.store.postings import frequencies, tokens
from ragweave.corpora.store.words import K1, WEIGHTS, B, Row

__all__ = ["RANK", "candidates", "create", "finish", "frequencies", "put", "tokens"]

RANK = "ts_rank"
"""What orders the rows: "ts_rank" or "bm25"."""

_CREATE = """
DROP TABLE IF EXISTS NAME, NAME_words, NAME_terms;
CREATE TABLE NAME (rowid bigint PRIMARY KEY, title text NOT NULL, heading text NOT NULL, text text NOT NULL);
CREATE TABLE NAME_words (n bigint PRIMARY KEY, words tsvector NOT NULL, length integer NOT NULL);
CREATE INDEX ON NAME_words USING gin (words);
CREATE TABLE NAME_terms (term text COLLATE "C" PRIMARY KEY, doc bigint NOT NULL);
"""
_TITLE, _HEADING, _TEXT = WEIGHTS
# Its weights are those of D to A, and at most 1.
_TS_RANK = f"ts_rank('{{0, {_TEXT / _TITLE}, {_HEADING / _TITLE}, 1}}', words, CAST(:query AS tsquery), 1)"
_BM25 = f"""(SELECT sum(q.weight * t.tf * :above / (t.tf + :short + :each * length))
    FROM unnest(CAST(:terms AS text[]), CAST(:weights AS float8[])) AS q(term, weight)
    JOIN (SELECT lexeme, cardinality(positions) + {_TITLE - 1} * cardinality(array_positions(weights, 'A')) AS tf
          FROM unnest(words)) AS t ON t.lexeme = q.term)"""


def create(connection: Connection, name: str) -> None:
    """Make an empty index in place of the one that is there."""
    connection.exec_driver_sql(_CREATE.replace("NAME", name))


def put(connection: Connection, name: str, rows: Sequence[Row]) -> None:
    """Write new rows."""
    columns = ", ".join(("rowid", "title", "heading", "text"))
    one = "unnest(CAST(:n AS bigint[]), CAST(:title AS text[]), CAST(:heading AS text[]), CAST(:text AS text[]))"
    n, title, heading, said = map(list, zip(*rows, strict=True))
    given = {"n": n, "title": title, "heading": heading, "text": said}
    connection.execute(text(f"INSERT INTO {name}({columns}) SELECT * FROM {one}"), given)
    vectors = [_vector(row[1:]) for row in rows]
    lengths = [sum(len(words.split()) for words in row[1:]) for row in rows]
    one = "unnest(CAST(:n AS bigint[]), CAST(CAST(:words AS text[]) AS tsvector[]), CAST(:lengths AS integer[]))"
    given = {"n": n, "words": vectors, "lengths": lengths}
    connection.execute(text(f"INSERT INTO {name}_words SELECT * FROM {one}"), given)


def finish(connection: Connection, name: str) -> None:
    """Count the rows of every term, and all tokens, which the index does not know."""
    stat = f"SELECT word, ndoc FROM ts_stat('SELECT words FROM {name}_words')"
    all_of_them = f"SELECT '', sum(length) FROM {name}_words"
    connection.exec_driver_sql(f"INSERT INTO {name}_terms {stat} UNION ALL {all_of_them}")


def candidates(
    connection: Connection, name: str, weights: Mapping[str, float], average: float, k: int, sources: Sequence[str]
) -> list[tuple[int, str, float]]:
    """Return the best k (row, item id, score) of those that hold any of the terms."""
    given = {"query": " | ".join(map(_quoted, weights)), "k": k}
    if RANK == "bm25":
        given |= {"above": K1 + 1, "short": K1 * (1 - B), "each": K1 * B / average}
        given |= {"terms": list(weights), "weights": list(weights.values())}
    score = _BM25 if RANK == "bm25" else _TS_RANK
    where = f"FROM {name}_words WHERE words @@ CAST(:query AS tsquery)"
    best = f"SELECT n, {score} AS score {where} ORDER BY score DESC, n LIMIT :k"
    query = f"SELECT n, id, score FROM ({best}) AS found JOIN items USING (n) ORDER BY score DESC, n"
    return [(row[0], row[1], float(row[2])) for row in connection.execute(text(query), given)]


def _vector(columns: Sequence[str]) -> str:
    """Return terms as a tsvector: each with its places, of which A is the title, B the heading and C the text."""
    places: dict[str, list[str]] = {}
    said = [(label, term) for label, words in zip("ABC", columns, strict=True) for term in words.split()]
    for at, (label, term) in enumerate(said, 1):
        places.setdefault(term, []).append(f"{min(at, 16_383)}{label}")
    return " ".join(f"{_quoted(term)}:{','.join(there[:255])}" for term, there in places.items())


def _quoted(term: str) -> str:
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"
