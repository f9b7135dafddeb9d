"""The lexical index: BM25 over our own terms, in SQLite's FTS5 or in PostgreSQL postings.

The index stores terms, not words: `ragweave.models.text.terms` cuts and stems the text first, and cuts
scripts without spaces into overlapping pairs. Query terms are quoted, so a query has no syntax. Each corpus
has a table of its own, and so its own document frequencies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from sqlalchemy import Connection, bindparam, func, select, text

from ragweave.corpora.store import fts5, postings
from ragweave.corpora.store.schema import items
from ragweave.corpora.store.words import Row, bm25, term_weight, weighted_counts
from ragweave.corpora.types import CORPORA, Corpus
from ragweave.models.text import content_terms, terms

if TYPE_CHECKING:
    from ragweave.corpora.store.libraries import Libraries

BUDGET = 4_000
"""Postings that one query may read; rare terms come first, because common ones cost most and say little."""

_MOST_KNOWN = 100_000
"""Terms whose frequencies are cached."""

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
    """Create an empty index of every corpus; it replaces the old one."""
    for name in map(table, CORPORA):
        _engine(connection).create(connection, name)


def put(connection: Connection, corpus: Corpus, rows: Sequence[Row]) -> None:
    """Write rows, whose texts have the form of `indexed`; they replace rows of the same numbers."""
    _engine(connection).put(connection, table(corpus), rows)


def delete(connection: Connection, source: str) -> None:
    """Remove the rows of one source; call before its items leave the catalog."""
    for corpus in CORPORA:
        mine = "SELECT n FROM items WHERE source = :source AND corpus = :corpus"
        _engine(connection).remove(connection, table(corpus), mine, {"source": source, "corpus": corpus})


class Frequencies:
    """Document frequencies in every corpus of a library, cached until the next commit."""

    def __init__(self, connection: Connection) -> None:
        query = select(items.c.corpus, func.count()).group_by(items.c.corpus)
        self.totals: dict[Corpus, int] = {}
        """Items of each corpus that holds any."""
        for row in connection.execute(query):
            self.totals[row[0]] = int(row[1])
        self._averages: dict[Corpus, float] = {}
        self._known: dict[str, dict[str, int]] = {}

    def of(self, connection: Connection, corpus: Corpus, wanted: Iterable[str]) -> dict[str, int]:
        """Return the document frequency of each term in a corpus; 0 if it does not occur."""
        if len(self._known) > _MOST_KNOWN:
            self._known = {}
        # A local reference: another thread may replace the cache.
        known = self._known
        needed = dict.fromkeys(wanted)
        missing = list(needed.keys() - known.keys())
        if missing:
            # No index holds a term with a null character.
            searchable = []
            for term in missing:
                if "\0" not in term:
                    searchable.append(term)
            # One query for all corpora, because a question searches each of them.
            tables = [table(each) for each in self.totals]
            found = _engine(connection).frequencies(connection, tables, searchable)
            for term in missing:
                known[term] = found.get(term, {})
        # Files may have been added since the items were counted, so cap the frequency at that count.
        most = self.totals.get(corpus, 0)
        name = table(corpus)
        result: dict[str, int] = {}
        for term in needed:
            result[term] = min(most, known[term].get(name, 0))
        return result

    def average(self, connection: Connection, corpus: Corpus) -> float:
        """Return the mean number of tokens of the items of a corpus."""
        if corpus not in self._averages:
            tokens = _engine(connection).tokens(connection, table(corpus))
            self._averages[corpus] = tokens / self.totals[corpus]
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
        """Return the number of items in some corpora, and how many of them contain each stemmed term."""
        with self._catalog.reading(library) as connection:
            known = self._frequencies(library, connection)
            total = 0
            counts = dict.fromkeys(terms, 0)
            for corpus in corpora:
                total += known.totals.get(corpus, 0)
                for term, count in known.of(connection, corpus, terms).items():
                    counts[term] += count
        return total, counts

    def _frequencies(self, library: str, connection: Connection) -> Frequencies:
        memory = self._catalog.memory(library)
        if "frequencies" not in memory:
            memory.setdefault("frequencies", Frequencies(connection))
        found: Frequencies = memory["frequencies"]
        return found


def prune(frequency: dict[str, int], budget: int = BUDGET, limit: int = TERM_LIMIT) -> list[str]:
    """Return the terms to search: those that occur, rarest first, within the budget, at least one."""
    kept: list[str] = []
    spent = 0
    for term in _rarest_first(frequency):
        count = frequency[term]
        if kept and (spent + count > budget or len(kept) == limit):
            break
        kept.append(term)
        spent += count
    return kept


def _rarest_first(frequency: Mapping[str, int]) -> list[str]:
    """Return the terms that occur, rarest first."""
    occurring = []
    for term, count in frequency.items():
        if count:
            occurring.append((count, term))
    return [term for _, term in sorted(occurring)]


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

    The rarest terms choose the candidates. If the budget leaves terms out, all terms score the candidates.
    """
    frequency = frequencies.of(connection, corpus, content_terms(query) or terms(query))
    kept = prune(frequency, budget)
    if not kept:
        return []
    total = frequencies.totals[corpus]
    weights: dict[str, float] = {}
    for term in _rarest_first(frequency)[:TERM_LIMIT]:
        weights[term] = term_weight(total, frequency[term])
    whole = len(kept) == len(weights)
    most = k if whole else max(2 * k, 100)
    kept_weights = {}
    for term in kept:
        kept_weights[term] = weights[term]
    average = frequencies.average(connection, corpus)
    found = _engine(connection).candidates(connection, table(corpus), kept_weights, average, most, sources)
    ids = {}
    scored = []
    for n, id_, score in found:
        ids[n] = id_
        scored.append((n, score))
    if not whole:
        scored = _scored(connection, corpus, weights, average, list(ids))[:k]
    hits = []
    for n, score in scored:
        if score > 0:
            hits.append((ids[n], score))
    return hits


def _scored(
    connection: Connection, corpus: Corpus, weights: Mapping[str, float], average: float, rows: Sequence[int]
) -> list[tuple[int, float]]:
    """Return the rows with their BM25 over all terms, best first, as FTS5's bm25() computes it."""
    query = text(f"SELECT rowid, title, heading, text FROM {table(corpus)} WHERE rowid IN :rows")
    texts = connection.execute(query.bindparams(bindparam("rows", expanding=True)), {"rows": rows})
    scored = []
    for n, *columns in texts:
        words = [column.split(" ") if column else [] for column in columns]
        counts = weighted_counts(words, weights)
        scored.append((n, bm25(weights, counts, sum(map(len, words)), average)))
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))
