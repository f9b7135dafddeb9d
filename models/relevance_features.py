"""What the small relevance evaluator looks at.

Each feature says how much of the question a passage carries by exact stems, or how near it is by its stored
vector. Added is which passage names which: multi-hop evidence is often recognised only by the candidate that
names it. Lengths
are left out on purpose: in fitted models they learn how a data set was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragweave.models.relevance_reading import LEAST, Asked, Idf, Matrix, Passage, Read, ask, read

OWN = ("coverage", "best_sentence", "bigrams", "rarest", "title_named", "title_phrase", "near")
"""Features of a passage by itself, all in [0, 1] but `near`, which counts standard deviations (`deviations`)."""

LEADS = 0.05
"""What a standard deviation of nearness adds to how well a passage leads to those that it names."""

FEW = 50
"""Passages of a library at which nearness counts half: among a few each is near or far by chance."""


@dataclass(frozen=True)
class Looked:
    """What was seen of n passages for one question."""

    own: Matrix
    """(n, len(OWN)), features of each by itself."""
    names: NDArray[np.bool_]
    """(n, n), whether the second holds the title of the first."""
    blank: bool
    """The question has no content word, so that nothing but the vectors says anything."""

    def of(self, places: Sequence[int]) -> Looked:
        """Return what was seen of some of the passages, as if the others were no candidates."""
        return Looked(self.own[[*places]], self.names[places][:, places], self.blank)

    @property
    def named_by(self) -> Matrix:
        """(n,), how near to the question the best of the other candidates is that names a passage; 0 for none."""
        column = {name: self.own[:, i] for i, name in enumerate(OWN)}
        leads = np.clip(column["coverage"] + 0.5 * column["title_named"] + LEADS * column["near"], 0.0, None)
        return np.asarray((self.names * leads).max(axis=1, initial=0.0))


def look(question: str, passages: Sequence[Passage], idf: Idf, near: Sequence[float] = ()) -> Looked:
    """Read passages, at least one, with the question in mind; weights of terms below LEAST count as that."""
    rows, asked, weigh = _read(question, passages, idf)
    return Looked(_own(asked, rows, weigh, near), _names(rows), not asked.terms)


def look_alone(
    question: str, passages: Sequence[Passage], idf: Idf, near: Sequence[float] = ()
) -> tuple[Matrix, bool]:
    """Return the features of passages by themselves, as `look` does, and whether the question is blank."""
    rows, asked, weigh = _read(question, passages, idf)
    return _own(asked, rows, weigh, near), not asked.terms


def deviations(cosines: Matrix, library: Matrix) -> Matrix:
    """Return how far cosines lie above those of a library's passages, in their standard deviations, (n,).

    `library` has the cosines of a sample of them to the same question, (m,). Encoders differ in the cosines
    that they give to strangers, and questions do; deviations compare.
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
    has = np.array([[t in r.have for t in asked.terms] for r in rows], dtype=np.float64).reshape(
        len(rows), -1
    )
    rarest = (has * asked.weights).max(axis=1, initial=0.0) / asked.weights.max(initial=LEAST)
    covered = np.asarray(has @ asked.weights / (asked.weights.sum() or 1.0))
    said = np.array([_said(r, asked, weigh, c) for r, c in zip(rows, covered.tolist(), strict=True)])
    nearness = np.zeros(len(rows)) if len(near) == 0 else np.asarray(near, dtype=np.float64)
    return np.column_stack([covered, said[:, :2], rarest, said[:, 2:], nearness])


def _said(r: Read, asked: Asked, weigh: Idf, coverage: float) -> tuple[float, float, float, float]:
    """Return `best_sentence`, `bigrams`, `title_named` and `title_phrase` of one passage."""
    weights, pairs = asked.weight, asked.pairs
    titled = [t for t in r.title if t in weights]
    shares = [sum(weights[t] for t in titled)] * r.count
    for term, weight in weights.items():
        if term not in titled:
            for n in r.holding.get(term, ()):
                shares[n] += weight
    joined = sum(w for p, w in pairs.items() if r.joins(p)) / asked.paired if pairs else coverage
    named = sum(map(weigh, titled)) / sum(map(weigh, r.title)) if titled else 0.0
    return max(shares) / asked.total, joined, named, float(bool(r.title) and r.phrase in asked.flat)


def _names(read: Sequence[Read]) -> NDArray[np.bool_]:
    # Passages of one document have one title: each is looked for once.
    first = {r.phrase: r for r in read}
    which = [*map({phrase: n for n, phrase in enumerate(first)}.__getitem__, (r.phrase for r in read))]
    # Only a passage that has every word of a title can hold it as a phrase.
    titled = [(set(r.title), phrase) for phrase, r in first.items()]
    held = np.array([[bool(t) and t <= s.have and phrase in s.flat for s in read] for t, phrase in titled])
    return np.asarray(held[which] & np.not_equal.outer(which, which))


def standardise(x: Matrix) -> Matrix:
    """Return x with zero mean and unit spread per column, over the candidates; constant columns become 0."""
    spread = x.std(axis=0)
    return np.asarray((x - x.mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0) * (spread > 1e-9))
