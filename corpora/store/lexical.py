"""The lexical index: BM25 over our own terms in SQLite FTS5, one table per corpus.

The index never sees a reader's words: `ragweave.models.text.terms` cuts and stems them first, which gives scripts
without spaces their overlapping pairs, and every query term goes in quoted, so that no query syntax exists.
One table per corpus keeps document frequencies its own and a deletion a deletion.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection

from ragweave.corpora.store.schema import generation
from ragweave.corpora.types import CORPORA, Corpus
from ragweave.models.text import content_terms, terms

if TYPE_CHECKING:
    from ragweave.corpora.store.libraries import Libraries

WEIGHTS = (1.5, 1.0, 1.0)
"""Weights of title, heading and text in BM25."""

BUDGET = 4_000
"""Postings one query may touch. The rarest terms come first; common ones beyond the budget say little and cost most."""

_K1, _B = 1.2, 0.75
"""Constants of BM25, those that FTS5 has built in."""

_MOST_KNOWN = 100_000
"""Frequencies kept at a time."""

TERM_LIMIT = 64
"""Terms of one query; a longer question is cut to its rarest."""


PREFIX = "lex_"
"""How the names of the index's tables begin."""


def table(corpus: Corpus) -> str:
    """Return the name of the index table of a corpus."""
    return f"{PREFIX}{corpus}"


def indexed(text: str) -> str:
    """Return text as the index stores it: its terms, separated by spaces."""
    return " ".join(terms(text))


def create(connection: Connection) -> None:
    """Make the empty index of every corpus, with its vocabulary view, in place of the one that is there."""
    for name in map(table, CORPORA):
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}_terms")
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {name}")
        # The ascii tokeniser splits at ASCII punctuation only, so our terms come through whole in every script.
        how = "title, heading, text, tokenize=\"ascii tokenchars '.'\""
        connection.exec_driver_sql(f"CREATE VIRTUAL TABLE {name} USING fts5({how})")
        connection.exec_driver_sql(f"CREATE VIRTUAL TABLE {name}_terms USING fts5vocab({name}, 'row')")


def put(connection: Connection, corpus: Corpus, rows: Sequence[tuple[int, str, str, str]]) -> None:
    """Write rows (n, title, heading, text), each text already in the form of `indexed`, in place of those of n."""
    name = table(corpus)
    connection.exec_driver_sql(f"DELETE FROM {name} WHERE rowid = ?", [(row[0],) for row in rows])
    connection.exec_driver_sql(f"INSERT INTO {name}(rowid, title, heading, text) VALUES (?, ?, ?, ?)", list(rows))


def delete(connection: Connection, source: str) -> None:
    """Remove the rows of one source; call before its items leave the catalog."""
    for corpus in CORPORA:
        mine = "SELECT n FROM items WHERE source = ? AND corpus = ?"
        connection.exec_driver_sql(f"DELETE FROM {table(corpus)} WHERE rowid IN ({mine})", (source, corpus))


class Frequencies:
    """Document frequencies of one corpus, read from the index and kept for one generation."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._generation = -1
        self._total = 0
        self._known: dict[str, int] = {}
        self._lock = threading.Lock()

    def of(self, connection: Connection, generation: int, wanted: Iterable[str]) -> tuple[int, dict[str, int]]:
        """Return the number of items and the document frequency of each term (0 where it does not occur)."""
        with self._lock:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            if generation != self._generation:
                self._known.clear()
                query = "SELECT count(*) FROM items WHERE corpus = ?"
                self._total = connection.exec_driver_sql(query, (self._corpus,)).scalar_one()
                self._generation = generation
            needed = dict.fromkeys(wanted)
            if missing := list(needed.keys() - self._known.keys()):
                # The vocabulary view reads a single term without a scan: one lookup a term, within one statement.
                look = f"(SELECT doc FROM {table(self._corpus)}_terms WHERE term = value)"
                found = connection.exec_driver_sql(f"SELECT value, {look} FROM json_each(?)", (json.dumps(missing),))
                # JSON gives a term with a null character back without it.
                self._known |= {**dict.fromkeys(missing, 0), **{term: count or 0 for term, count in found}}
            return self._total, dict(zip(needed, map(self._known.__getitem__, needed), strict=True))


class Lexical:
    """The lexical search of the libraries of a home."""

    def __init__(self, catalog: Libraries) -> None:
        self._catalog = catalog
        self._known: dict[tuple[str, Corpus], Frequencies] = {}

    def search(
        self, library: str, corpus: Corpus, queries: Sequence[str], k: int, sources: Sequence[str] = ()
    ) -> list[list[tuple[str, float]]]:
        """Return up to k (item id, BM25 score) for each query, best first."""
        with self._catalog.reading(library) as connection:
            at, known = generation(connection), self._frequencies(library, corpus)
            return [search(connection, known, corpus, at, q, k, sources) for q in queries]

    def counted(self, library: str, corpora: Sequence[Corpus], terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """Return the number of items in some corpora, and in how many of them each stemmed term stands."""
        with self._catalog.reading(library) as connection:
            at = generation(connection)
            found = [self._frequencies(library, corpus).of(connection, at, terms) for corpus in corpora]
        together = map(sum, zip(*(df.values() for _, df in found), strict=True))
        return sum(total for total, _ in found), dict(zip(dict.fromkeys(terms), together, strict=True))

    def _frequencies(self, library: str, corpus: Corpus) -> Frequencies:
        return self._known.setdefault((library, corpus), Frequencies(corpus))


def prune(frequency: dict[str, int], budget: int = BUDGET, limit: int = TERM_LIMIT) -> list[str]:
    """Return the terms worth searching: those that occur, rarest first, within the budget, never none of them."""
    kept: list[str] = []
    spent = 0
    for term, count in sorted(frequency.items(), key=lambda pair: (pair[1], pair[0])):
        if count == 0:
            continue
        if kept and (spent + count > budget or len(kept) == limit):
            break
        kept.append(term)
        spent += count
    return kept


def search(
    connection: Connection,
    frequencies: Frequencies,
    corpus: Corpus,
    generation: int,
    query: str,
    k: int,
    sources: Sequence[str] = (),
    budget: int = BUDGET,
) -> list[tuple[str, float]]:
    """Return up to k (item id, BM25 score), best first; scores are positive, higher is better.

    The rarest terms choose the candidates; where others had to be left out, the candidates are then scored by all.
    """
    _, frequency = frequencies.of(connection, generation, content_terms(query) or terms(query))
    kept = prune(frequency, budget)
    if not kept:
        return []
    asked = [t for t, count in sorted(frequency.items(), key=lambda pair: (pair[1], pair[0])) if count][:TERM_LIMIT]
    whole = len(kept) == len(asked)
    found = _candidates(connection, corpus, kept, k if whole else max(2 * k, 100), sources)
    if not whole:
        found = _scored(connection, corpus, asked, frequency, [n for n, _ in found])[:k]
    names = _ids(connection, [n for n, _ in found])
    return [(names[n], score) for n, score in found if score > 0 and n in names]


def _candidates(
    connection: Connection, corpus: Corpus, kept: Sequence[str], k: int, sources: Sequence[str]
) -> list[tuple[int, float]]:
    """Return the best k (row, BM25 over `kept`)."""
    name = table(corpus)
    values: list[Any] = [" OR ".join('"' + term.replace('"', '""') + '"' for term in kept)]
    only = ""
    if sources:
        only = f" AND rowid IN (SELECT n FROM items WHERE source IN ({','.join('?' * len(sources))}))"
        values += sources
    weights = ", ".join(str(w) for w in WEIGHTS)
    rows = connection.exec_driver_sql(
        f"SELECT rowid, -bm25({name}, {weights}) AS score FROM {name} "
        f"WHERE {name} MATCH ?{only} ORDER BY score DESC, rowid LIMIT ?",
        (*values, k),
    )
    return [(row[0], float(row[1])) for row in rows]


def _scored(
    connection: Connection, corpus: Corpus, asked: Sequence[str], frequency: dict[str, int], rows: Sequence[int]
) -> list[tuple[int, float]]:
    """Return the rows with their BM25 over all terms, best first: the formula and constants of FTS5's own bm25()."""
    name = table(corpus)
    total, tokens = _totals(connection, name)
    average = tokens / total
    weight = {t: max(math.log((total - frequency[t] + 0.5) / (frequency[t] + 0.5)), 1e-6) for t in asked}
    texts = connection.exec_driver_sql(
        f"SELECT rowid, title, heading, text FROM {name} WHERE rowid IN ({','.join('?' * len(rows))})", tuple(rows)
    )
    scored = []
    for n, *columns in texts:
        # Doubled spaces keep two equal neighbours from sharing the space between them.
        padded = [f" {column.replace(' ', '  ')} " for column in columns]
        length = sum(column.count(" ") + 1 for column in columns if column)
        norm = _K1 * (1 - _B + _B * length / average)
        score = 0.0
        for term, idf in weight.items():
            needle = f" {term} "
            count = sum(w * column.count(needle) for w, column in zip(WEIGHTS, padded, strict=True))
            score += idf * count * (_K1 + 1) / (count + norm)
        scored.append((n, score))
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def _totals(connection: Connection, name: str) -> tuple[int, int]:
    """Return the rows and the tokens of an index, from the averages record that FTS5 keeps (row 1, varints)."""
    record: bytes = connection.exec_driver_sql(f"SELECT block FROM {name}_data WHERE id = 1").scalar_one()
    values, value = [], 0
    for byte in record:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            values.append(value)
            value = 0
    return values[0], sum(values[1:])


def _ids(connection: Connection, rows: Sequence[int]) -> dict[int, str]:
    found = connection.exec_driver_sql(f"SELECT n, id FROM items WHERE n IN ({','.join('?' * len(rows))})", tuple(rows))
    return {row[0]: row[1] for row in found}
