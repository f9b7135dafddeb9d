"""The lexical index: BM25 over our own terms, in SQLite's FTS5 or in postings in PostgreSQL, one table per corpus.

The index never sees a reader's words: `ragweave.models.text.terms` cuts and stems them first, which gives
scripts without spaces their overlapping pairs, and every query term goes in quoted, so that no query syntax
exists. One table per corpus keeps document frequencies its own and a deletion a deletion.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from sqlalchemy import Connection, bindparam, func, select, text

from ragweave.corpora.store import fts5, postings
from ragweave.corpora.store.schema import items
from ragweave.corpora.store.words import K1, WEIGHTS, B, Row
from ragweave.corpora.types import CORPORA, Corpus
from ragweave.models.text import content_terms, terms

if TYPE_CHECKING:
    from ragweave.corpora.store.libraries import Libraries

BUDGET = 4_000
"""Postings one query may touch. The rarest terms come first; common ones beyond the budget say little and cost most."""

_MOST_KNOWN = 100_000
"""Frequencies kept at a time."""

TERM_LIMIT = 64
"""Terms of one query; a longer question is cut to its rarest."""


PREFIX = "lex_"
"""How the names of the index's tables begin."""


def table(corpus: Corpus) -> str:
    """Return the name of the index table of a corpus."""
    return f"{PREFIX}{corpus}"


def _engine(connection: Connection) -> ModuleType:
    return postings if connection.dialect.name == "postgresql" else fts5


def create(connection: Connection) -> None:
    """Make the empty index of every corpus in place of the one that is there."""
    for name in map(table, CORPORA):
        _engine(connection).create(connection, name)


def put(connection: Connection, corpus: Corpus, rows: Sequence[Row]) -> None:
    """Write rows, each text already in the form of `indexed`, in place of those of the same numbers."""
    _engine(connection).put(connection, table(corpus), rows)


def delete(connection: Connection, source: str) -> None:
    """Remove the rows of one source; call before its items leave the catalog."""
    for corpus in CORPORA:
        mine = "SELECT n FROM items WHERE source = :source AND corpus = :corpus"
        _engine(connection).remove(connection, table(corpus), mine, {"source": source, "corpus": corpus})


class Frequencies:
    """Document frequencies in every corpus of a library, read from the index and kept while nobody commits."""

    def __init__(self, connection: Connection) -> None:
        query = select(items.c.corpus, func.count()).group_by(items.c.corpus)
        self.totals: dict[Corpus, int] = {row[0]: int(row[1]) for row in connection.execute(query)}
        """Items of each corpus that holds any."""
        self._averages: dict[Corpus, float] = {}
        self._known: dict[str, dict[str, int]] = {}

    def of(self, connection: Connection, corpus: Corpus, wanted: Iterable[str]) -> dict[str, int]:
        """Return the document frequency of each term in a corpus, 0 where it does not occur."""
        if len(self._known) > _MOST_KNOWN:
            self._known = {}
        known, needed, name = (
            self._known,
            dict.fromkeys(wanted),
            table(corpus),
        )  # another thread may begin anew
        if missing := list(needed.keys() - known.keys()):
            whole = [t for t in missing if "\0" not in t]  # no index holds others
            # In all corpora at once: a question is asked of each.
            found = _engine(connection).frequencies(connection, [*map(table, self.totals)], whole)
            known.update({t: found.get(t, {}) for t in missing})
        # Files may have been added since the items were counted: a term is in no more of them than there
        # were.
        most = self.totals.get(corpus, 0)
        return {t: min(most, known[t].get(name, 0)) for t in needed}

    def average(self, connection: Connection, corpus: Corpus) -> float:
        """Return the tokens of an item of a corpus on average."""
        if corpus not in self._averages:
            self._averages[corpus] = (
                _engine(connection).tokens(connection, table(corpus)) / self.totals[corpus]
            )
        return self._averages[corpus]


class Lexical:
    """The lexical search of the libraries of a home."""

    def __init__(self, catalog: Libraries) -> None:
        self._catalog = catalog

    def search(
        self, library: str, corpus: Corpus, queries: Sequence[str], k: int, sources: Sequence[str] = ()
    ) -> list[list[tuple[str, float]]]:
        """Return up to k (item id, BM25 score) for each query, best first."""
        with self._catalog.reading(library) as connection:
            known = self._frequencies(library, connection)
            return [search(connection, known, corpus, q, k, sources) for q in queries]

    def counted(
        self, library: str, corpora: Sequence[Corpus], terms: Sequence[str]
    ) -> tuple[int, dict[str, int]]:
        """Return the number of items in some corpora, and in how many of them each stemmed term stands."""
        with self._catalog.reading(library) as connection:
            known = self._frequencies(library, connection)
            found = [known.of(connection, corpus, terms) for corpus in corpora]
        together = map(sum, zip(*(df.values() for df in found), strict=True))
        total = sum(known.totals.get(corpus, 0) for corpus in corpora)
        return total, dict(zip(dict.fromkeys(terms), together, strict=True))

    def _frequencies(self, library: str, connection: Connection) -> Frequencies:
        memory = self._catalog.memory(library)
        found: Frequencies = memory.get("frequencies") or memory.setdefault(
            "frequencies", Frequencies(connection)
        )
        return found


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
    query: str,
    k: int,
    sources: Sequence[str] = (),
    budget: int = BUDGET,
) -> list[tuple[str, float]]:
    """Return up to k (item id, BM25 score), best first; scores are positive, higher is better.

    The rarest terms choose the candidates; where others had to be left out, the candidates are then scored by
    all.
    """
    frequency = frequencies.of(connection, corpus, content_terms(query) or terms(query))
    kept = prune(frequency, budget)
    if not kept:
        return []
    asked = [t for t, count in sorted(frequency.items(), key=lambda pair: (pair[1], pair[0])) if count][
        :TERM_LIMIT
    ]
    total = frequencies.totals[corpus]
    weights = {t: max(math.log((total - frequency[t] + 0.5) / (frequency[t] + 0.5)), 1e-6) for t in asked}
    whole = len(kept) == len(asked)
    most = k if whole else max(2 * k, 100)
    few = {t: weights[t] for t in kept}
    average = frequencies.average(connection, corpus)
    found = _engine(connection).candidates(connection, table(corpus), few, average, most, sources)
    ids = {n: id_ for n, id_, _ in found}
    scored = [(n, score) for n, _, score in found]
    if not whole:
        scored = _scored(connection, corpus, weights, average, list(ids))[:k]
    return [(ids[n], score) for n, score in scored if score > 0]


def _scored(
    connection: Connection, corpus: Corpus, weights: Mapping[str, float], average: float, rows: Sequence[int]
) -> list[tuple[int, float]]:
    """Return the rows with their BM25 over all terms, best first: the formula and constants of FTS5's own bm25()."""
    query = text(f"SELECT rowid, title, heading, text FROM {table(corpus)} WHERE rowid IN :rows")
    texts = connection.execute(query.bindparams(bindparam("rows", expanding=True)), {"rows": rows})
    scored = []
    for n, *columns in texts:
        length, counts = 0, dict.fromkeys(weights, 0.0)
        for column, weight in zip(columns, WEIGHTS, strict=True):
            words = column.split(" ") if column else []
            length += len(words)
            for term in weights.keys() & words:
                counts[term] += weight * words.count(term)
        norm = K1 * (1 - B + B * length / average)
        scored.append((n, sum(idf * counts[t] * (K1 + 1) / (counts[t] + norm) for t, idf in weights.items())))
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))
