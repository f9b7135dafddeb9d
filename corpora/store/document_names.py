"""Which documents a query names: by the words of their titles, files, folders, dates and first lines.

A name distinguishes documents that look alike, such as the reports of two companies. The words of a name
count for nothing if no other document looks like the one that has it: the search by words and vectors finds
it by its text, and words of a title occur in many questions about something else. A file that is named with
its ending always counts.

A word leads to a document if it names few documents of this library; no list of words decides. Names are read
from the catalog once after each change, so a renamed file is known by its new name without a run of index.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from ragweave.corpora.store import look_alikes
from ragweave.corpora.store.schema import in_parts, items, paths, sources
from ragweave.corpora.store.stores import Stores
from ragweave.corpora.store.words import Ranking
from ragweave.corpora.types import Corpus
from ragweave.models.dates import days, names_day
from ragweave.models.text import STOP, fold, stem, words

LONG = 3
"""Passages of a long document: its first lines name it, and it is searched by itself if a query names it."""
OPENING = 240
"""Characters of the first lines of a long document."""
FOLDERS = 2
"""Folders above a file whose names count."""
SHARPNESS = 3
"""Power that separates the document that is named best from others of which a query has some words."""
LEAST = 0.05
"""Lead below which a document counts as not named."""
LEADING, NEARLY = 0.5, 0.8
"""Lead from which a document comes first, and a long one is searched by itself (docs/results.md); and the
share of the best lead that it needs: the other quarter of the same company only shares its name."""
FEW = 5
"""Documents that are searched by themselves, at most; a name that more share says little."""
MORE = 20
"""Items that are added from the documents that a query names."""
_OPENING, _FOLDER, _SHARED = 0.5, 0.5, 0.5
"""Weights of a word of the first lines, of a folder, and of a number of several documents; 1 in titles."""
_FILE_WORDS = 12
"""Words of a file's name that is looked for in a query."""
_ENDING = re.compile(r"\.\w{1,5}(?!\w)")
_COMMON = 50
"""Documents that a word may name in any library; in a large one a tenth of all."""
_ANYWHERE: tuple[Corpus, ...] = ("document", "video")
"""Corpora over which it is counted in how many documents a word occurs."""
_DIGIT = re.compile(r"\d")
_REMEMBERED = 200
"""Queries whose leads are remembered."""


class NamedDocument(NamedTuple):
    """A document: a source may hold several, such as the mails of a mailbox."""

    source: str
    title: str


Leads = Mapping[NamedDocument, float]
"""How clearly a query names each document, in [LEAST, 1]; those that it does not name are left out."""


@dataclass(frozen=True)
class Names:
    """The words that name the documents of a library."""

    documents: list[NamedDocument]
    long: frozenset[NamedDocument]
    """Documents of at least `LONG` passages."""
    held_by: Mapping[str, int]
    """How many passages each source has."""
    holding: Mapping[str, Mapping[int, float]]
    """By stem the numbers of the documents that it names, with its weight there. Words in titles of short
    documents are left out: the search by words and the relevance model weigh them already."""
    files: Mapping[str, list[int]]
    """By folded file name the numbers of its documents."""


def leads(held: Stores, library: str, query: str) -> Leads:
    """Return which documents of a library a query names, and how clearly."""
    memory = held.catalog.memory(library)
    known: dict[str, Leads] = memory.setdefault("leads", {})
    if query not in known:
        if len(known) >= _REMEMBERED:
            known.clear()
        known[query] = _leads(held, library, query)
    return known[query]


def clear(known: Leads) -> Leads:
    """Return the leads of the documents that are named clearly, and nearly as well as the best."""
    least = max(LEADING, NEARLY * max(known.values(), default=0.0))
    found = {}
    for document, lead in known.items():
        if lead >= least:
            found[document] = lead
    return found


def leading(held: Stores, library: str, query: str) -> list[str]:
    """Return the sources of long documents that a query names clearly; none if they are many or hold most."""
    clearly = clear(leads(held, library, query))
    if not clearly:
        return []
    names = _names(held, library)
    long = []
    for d in clearly:
        if d in names.long:
            long.append(d.source)
    few = list(dict.fromkeys(long))
    own = sum(map(names.held_by.__getitem__, few))
    return few if len(few) <= FEW and 2 * own <= sum(names.held_by.values()) else []


def of_items(held: Stores, library: str, query: str, ids: Iterable[str]) -> dict[str, float]:
    """Return the lead of each item's document by item id, without documents that are not named clearly."""
    known = clear(leads(held, library, query))
    if not known:
        return {}
    with held.catalog.reading(library) as connection:
        rows = connection.execute(
            select(items.c.id, items.c.source, items.c.title).where(items.c.id.in_([*ids]))
        )
        found = {}
        for id_, source, title in rows:
            lead = known.get(NamedDocument(source, title), 0.0)
            if lead:
                found[id_] = lead
    return found


def _leads(held: Stores, library: str, query: str) -> Leads:
    names = _names(held, library)
    count = len(names.documents)
    said = []
    for t in _query_terms(query):
        if t in names.holding:
            said.append(t)
    if count < 2:
        return {}
    found = _by_words(held, library, names, said) if said else {}
    if found:
        found = _with_look_alikes(held, library, names, found)
    for n in _files_in(query, names):
        found[names.documents[n]] = 1.0
    return found


def _with_look_alikes(
    held: Stores, library: str, names: Names, found: Mapping[NamedDocument, float]
) -> dict[NamedDocument, float]:
    """Return the leads of the documents that look like another one."""
    alike = look_alikes.with_look_alikes(held, library, found, names.long)
    kept = {}
    for document, lead in found.items():
        if document in alike:
            kept[document] = lead
    return kept


def _files_in(query: str, names: Names) -> list[int]:
    """Return the documents of the files that a query names with their endings."""
    folded = fold(query)
    found: list[int] = []
    for ending in _ENDING.finditer(folded):
        before = folded[: ending.end()].split(" ")[-_FILE_WORDS:]
        for first in range(len(before)):
            name = " ".join(before[first:]).lstrip("\"'“‘(«")
            if name in names.files:
                found += names.files[name]
                break
    return found


def _by_words(held: Stores, library: str, names: Names, said: Sequence[str]) -> dict[NamedDocument, float]:
    """Return the leads of documents by the words that name them."""
    count = len(names.documents)
    documents, stand = held.lexical.counted(library, _ANYWHERE, said)
    scores: defaultdict[int, float] = defaultdict(float)
    for term in said:
        named = names.holding[term]
        anywhere = max(stand.get(term, 0) / max(documents, 1), len(named) / count) * count
        weight = (_rarity(count, len(named)) + _rarity(count, anywhere)) / 2
        if len(named) > 1 and _DIGIT.search(term):
            weight *= _SHARED
        for n, share in named.items():
            scores[n] += weight * share
    top = max(scores.values())
    if top <= 0:
        return {}
    sure = min(1.0, top / math.log(count + 1))
    found = {}
    for n, score in scores.items():
        lead = sure * (score / top) ** SHARPNESS
        if lead >= LEAST:
            found[names.documents[n]] = lead
    return found


def _rarity(count: int, named: float) -> float:
    return max(0.0, math.log((count + 1) / (named + 0.5)))


def _query_terms(query: str) -> list[str]:
    found = dict.fromkeys(_stems(query))
    folded = fold(query)
    for start, end, day in days(query):
        found |= dict.fromkeys(_date_terms(day.isoformat(), names_day(folded[start:end])))
    return list(found)


def _stems(text: str) -> list[str]:
    found: list[str] = []
    for w in words(text):
        if w not in STOP:
            found.append(stem(w))
    return found


def _date_terms(iso: str, day: bool = True) -> list[str]:
    """Return year, month and day of a date as terms."""
    return [iso[:4], iso[:7], iso[:10]] if day else [iso[:4], iso[:7]]


def _names(held: Stores, library: str) -> Names:
    memory = held.catalog.memory(library)
    if "document names" not in memory:
        with held.catalog.reading(library) as connection:
            memory["document names"] = _read(connection)
    found: Names = memory["document names"]
    return found


def _read(connection: Connection) -> Names:
    passages: dict[NamedDocument, int] = {}
    held_by: defaultdict[str, int] = defaultdict(int)
    grouped = select(items.c.source, items.c.title, func.count()).where(items.c.corpus != "document")
    for source, title, count in connection.execute(grouped.group_by(items.c.source, items.c.title)):
        passages[NamedDocument(source, title)] = count
        held_by[source] += count
    documents = list(passages)
    long = frozenset([document for document in documents if passages[document] >= LONG])
    openings = _openings(connection, long)
    files: defaultdict[str, list[str]] = defaultdict(list)
    for source, path in connection.execute(select(paths.c.source, paths.c.path)):
        files[source].append(path)
    dates = {}
    for s, date in connection.execute(select(sources.c.id, sources.c.date)):
        if date:
            dates[s] = date
    holding: defaultdict[str, dict[int, float]] = defaultdict(dict)
    called: defaultdict[str, list[int]] = defaultdict(list)
    for n, document in enumerate(documents):
        own = files[document.source]
        file_names = {fold(PurePath(path).name) for path in own}
        for name in file_names:
            called[name].append(n)
        weights = _file_weights(document.title, own, dates.get(document.source, ""))
        if document in long:
            weights = _heavier(weights, dict.fromkeys(_stems(document.title), 1.0))
            weights = _heavier(weights, dict.fromkeys(_stems(openings.get(document, "")), _OPENING))
        for term, weight in weights.items():
            holding[term][n] = weight
    most = max(_COMMON, len(documents) // 10)
    kept = {}
    for term, named in holding.items():
        if len(named) <= most:
            kept[term] = named
    return Names(documents, long, held_by, kept, called)


def _openings(connection: Connection, long: Collection[NamedDocument]) -> dict[NamedDocument, str]:
    """Return the first lines of the sources of long documents; other texts, which are most, are not read."""
    first = select(items.c.source, items.c.title, items.c.text)
    first = first.where(items.c.ordinal == 0, items.c.corpus == "paragraph")
    found: dict[NamedDocument, str] = {}
    for some in in_parts(sorted({document.source for document in long})):
        for source, title, text in connection.execute(first.where(items.c.source.in_(some))):
            found[NamedDocument(source, title)] = text[:OPENING]
    return found


def _file_weights(title: str, files: Iterable[str], date: str) -> dict[str, float]:
    """Return the weights of words of a document's files, folders and date that its title does not have."""
    weights: dict[str, float] = {}
    for path in map(PurePath, files):
        weights = _heavier(weights, dict.fromkeys(_stems(path.stem), 1.0))
        for folder in path.parts[1:-1][-FOLDERS:]:
            weights = _heavier(weights, dict.fromkeys(_stems(folder), _FOLDER))
    if date:
        weights = _heavier(weights, dict.fromkeys(_date_terms(date), 1.0))
    for term in _stems(title):
        weights.pop(term, None)
    return weights


def _heavier(weights: dict[str, float], others: Mapping[str, float]) -> dict[str, float]:
    """Return both with the heavier weight of each term."""
    heavier = dict(weights)
    for term, weight in others.items():
        heavier[term] = max(weight, weights.get(term, 0.0))
    return heavier


def added(
    held: Stores,
    library: str,
    corpus: Corpus,
    queries: Sequence[str],
    dense: Sequence[Ranking],
    words: Sequence[Ranking],
    near: Callable[[int, Sequence[str]], Ranking],
) -> tuple[list[Ranking], list[Ranking]]:
    """Return the lists of each query with the best items of the documents that it names.

    `near` returns the nearest items of the n-th query within some sources.
    """
    more_dense, more_words = list(dense), list(words)
    for n, query in enumerate(queries):
        some = leading(held, library, query)
        if some:
            (said,) = held.lexical.search(library, corpus, [query], MORE, some)
            more_dense[n] = joined(dense[n], near(n, some))
            more_words[n] = joined(words[n], said)
    return more_dense, more_words


def joined(ranking: Ranking, more: Ranking) -> Ranking:
    """Return a ranking with the further hits of another one with the same scores."""
    best = dict(more) | dict(ranking)
    return sorted(best.items(), key=lambda hit: (-hit[1], hit[0]))
