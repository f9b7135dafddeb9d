"""Compute the features of the small relevance evaluator.

Each feature measures how much of the question a passage contains by exact stems, or how similar its stored
vector is. The features also record which passage names which, because often only the candidate that names it
shows that a passage is multi-hop evidence. Lengths are left out on purpose: in fitted models they learn how a
data set was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragweave.models.relevance_reading import LEAST, Asked, Idf, Matrix, Passage, Read, ask, read

OWN = ("coverage", "best_sentence", "bigrams", "rarest", "title_named", "title_phrase", "near")
"""Features of one passage; all are in [0, 1] but `near`, which is in standard deviations (`deviations`)."""

LEADS = 0.05
"""Weight of a standard deviation of similarity in how well a passage leads to those that it names."""

FEW = 50
"""Passages of a library at which similarity counts half: among a few it is mostly chance."""


@dataclass(frozen=True)
class Looked:
    """The features of n passages for one question."""

    own: Matrix
    """Shape (n, len(OWN)); the features of each passage."""
    names: NDArray[np.bool_]
    """Shape (n, n); whether the second passage holds the title of the first."""
    blank: bool
    """Whether the question has no content word, so that only the vectors carry information."""

    def of(self, places: Sequence[int]) -> Looked:
        """Return the features of some passages, as if the others were no candidates."""
        return Looked(self.own[[*places]], self.names[places][:, places], self.blank)

    @property
    def named_by(self) -> Matrix:
        """Shape (n,); the relevance of the best other candidate that names a passage, 0 if none does."""
        column = dict(zip(OWN, self.own.T, strict=True))
        leads = np.clip(column["coverage"] + 0.5 * column["title_named"] + LEADS * column["near"], 0.0, None)
        return np.asarray((self.names * leads).max(axis=1, initial=0.0))


def look(question: str, passages: Sequence[Passage], idf: Idf, near: Sequence[float] = ()) -> Looked:
    """Return the features of one or more passages; term weights below LEAST are raised to LEAST."""
    rows, asked, weigh = _read(question, passages, idf)
    return Looked(_own(asked, rows, weigh, near), _names(rows), not asked.terms)


def look_alone(
    question: str, passages: Sequence[Passage], idf: Idf, near: Sequence[float] = ()
) -> tuple[Matrix, bool]:
    """Return the features of each passage, as `look` does, and whether the question is blank."""
    rows, asked, weigh = _read(question, passages, idf)
    return _own(asked, rows, weigh, near), not asked.terms


def deviations(cosines: Matrix, library: Matrix) -> Matrix:
    """Return by how many standard deviations cosines exceed those of a library's passages, (n,).

    `library` holds the cosines of a sample of passages to the same question, (m,). The cosines of unrelated
    texts differ between encoders and between questions; deviations can be compared.
    """
    spread = float(library.std()) if len(library) else 0.0
    if spread < 1e-6:
        return np.zeros(len(cosines))
    return np.asarray((cosines - library.mean()) / spread * (len(library) / (len(library) + FEW)))


def _read(question: str, passages: Sequence[Passage], idf: Idf) -> tuple[list[Read], Asked, Idf]:
    def weigh(term: str) -> float:
        return max(idf(term), LEAST)

    return [read(p) for p in passages], ask(question, weigh), weigh


def _own(asked: Asked, rows: Sequence[Read], weigh: Idf, near: Sequence[float]) -> Matrix:
    """Return the features of each passage by itself, (n, len(OWN))."""
    table: list[list[bool]] = []
    for row in rows:
        table.append([term in row.have for term in asked.terms])
    has = np.array(table, dtype=np.float64).reshape(len(rows), -1)
    rarest = (has * asked.weights).max(axis=1, initial=0.0) / asked.weights.max(initial=LEAST)
    covered = np.asarray(has @ asked.weights / (asked.weights.sum() or 1.0))
    others: list[tuple[float, float, float, float]] = []
    for row, coverage in zip(rows, covered.tolist(), strict=True):
        others.append(_word_features(row, asked, weigh, coverage))
    columns = np.array(others)
    similarity = np.zeros(len(rows)) if len(near) == 0 else np.asarray(near, dtype=np.float64)
    return np.column_stack([covered, columns[:, :2], rarest, columns[:, 2:], similarity])


def _word_features(r: Read, asked: Asked, weigh: Idf, coverage: float) -> tuple[float, float, float, float]:
    """Return `best_sentence`, `bigrams`, `title_named` and `title_phrase` of one passage."""
    weights, pairs = asked.weight, asked.pairs
    titled = list(filter(weights.__contains__, r.title))
    shares = [sum(map(weights.__getitem__, titled))] * r.count
    for term, weight in weights.items():
        if term not in titled:
            for n in r.holding.get(term, ()):
                shares[n] += weight
    joined = sum(map(pairs.__getitem__, filter(r.joins, pairs))) / asked.paired if pairs else coverage
    named = sum(map(weigh, titled)) / sum(map(weigh, r.title)) if titled else 0.0
    return max(shares) / asked.total, joined, named, float(bool(r.title) and r.phrase in asked.flat)


def _names(read: Sequence[Read]) -> NDArray[np.bool_]:
    """Return whether the second of two passages holds the title of the first, (n, n)."""
    # Passages of one document share a title, so each title is searched once.
    numbers: dict[str, int] = {}
    which: list[int] = []
    held: list[list[bool]] = []
    for row in read:
        if row.phrase not in numbers:
            numbers[row.phrase] = len(numbers)
            held.append(_held_by(set(row.title), row.phrase, read))
        which.append(numbers[row.phrase])
    return np.asarray(np.array(held)[which] & np.not_equal.outer(which, which))


def _held_by(words: set[str], phrase: str, read: Sequence[Read]) -> list[bool]:
    """Return for each passage whether it holds a title as a phrase; the words are a quick first test."""
    if not words:
        return [False] * len(read)
    return [words <= row.have and phrase in row.flat for row in read]


def standardise(x: Matrix) -> Matrix:
    """Return x with zero mean and unit spread per column, over the candidates; constant columns become 0."""
    spread = x.std(axis=0)
    return np.asarray((x - x.mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0) * (spread > 1e-9))
