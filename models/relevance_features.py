"""What the small relevance evaluator looks at.

Each feature says how much of the question a passage carries: by exact stems, by near words, or by meaning. Beside them
stands which passage names which: multi-hop evidence is often recognised only by the candidate that names it. Lengths
are left out on purpose: in fitted models they learn how a data set was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragweave.models import text
from ragweave.models.encoders import Remembering
from ragweave.models.relevance_reading import LEAST, Asked, Idf, Matrix, Passage, Read, ask, read

OWN = (
    "coverage", "best_sentence", "bigrams", "rarest", "soft", "title_named", "title_phrase", "cosine",
    "sentence_cosine",
)  # fmt: skip
"""Features of a passage by itself, all in [0, 1] but the cosines."""


@dataclass(frozen=True)
class Looked:
    """What was seen of n passages for one question."""

    own: Matrix
    """(n, len(OWN)), features of each by itself."""
    names: NDArray[np.bool_]
    """(n, n), whether the second holds the title of the first."""
    blank: bool
    """The question has no content word, so that nothing but the cosines says anything."""

    def of(self, places: Sequence[int]) -> Looked:
        """Return what was seen of some of the passages, as if the others were no candidates."""
        return Looked(self.own[[*places]], self.names[places][:, places], self.blank)

    @property
    def named_by(self) -> Matrix:
        """(n,), how near to the question the best of the other candidates is that names a passage; 0 for none."""
        column = {name: self.own[:, i] for i, name in enumerate(OWN)}
        near = np.clip(column["coverage"] + 0.5 * column["title_named"] + 0.5 * column["cosine"], 0.0, None)
        return np.asarray((self.names * near).max(axis=1, initial=0.0))


def look(question: str, passages: Sequence[Passage], idf: Idf, embed: Remembering) -> Looked:
    """Read passages, at least one, with the question in mind; weights of terms below LEAST count as that."""
    seen = _Seen(question, passages, idf, embed)
    return Looked(seen.own(), _names(seen.read), not seen.asked.terms)


def look_alone(question: str, passages: Sequence[Passage], idf: Idf, embed: Remembering) -> tuple[Matrix, bool]:
    """Return the features of passages by themselves, as `look` does, and whether the question is blank."""
    seen = _Seen(question, passages, idf, embed)
    return seen.own(), not seen.asked.terms


class _Seen:
    """Passages beside a question: what both have in common, by words and by vectors."""

    def __init__(self, question: str, passages: Sequence[Passage], idf: Idf, embed: Remembering) -> None:
        def weigh(term: str) -> float:
            return max(idf(term), LEAST)

        self.weigh, self.asked, self.read = weigh, ask(question, weigh), [read(p) for p in passages]
        (self._vectors, self._placed), self._embed = _vectors(self.read, embed), embed
        self._question = embed([question])[0]

    def own(self) -> Matrix:
        """Return the features of each passage by itself, (n, len(OWN))."""
        asked = self.asked
        has = np.array([[t in r.have for t in asked.terms] for r in self.read], dtype=np.float64)
        has = has.reshape(len(self.read), -1)
        near = np.maximum(has, _near(asked, self.read, self._vectors, self._placed, self._embed))
        rarest = (has * asked.weights).max(axis=1, initial=0.0) / asked.weights.max(initial=LEAST)
        covered = _share(asked.weights, has)
        said = np.array([self._said(r, coverage) for r, coverage in zip(self.read, covered.tolist(), strict=True)])
        return np.column_stack([covered, said[:, :2], rarest, _share(asked.weights, near), said[:, 2:], *self._meant()])

    def _said(self, r: Read, coverage: float) -> tuple[float, float, float, float]:
        """Return `best_sentence`, `bigrams`, `title_named` and `title_phrase` of one passage."""
        weights, pairs = self.asked.weight, self.asked.pairs
        titled = [t for t in r.title if t in weights]
        shares = [sum(weights[t] for t in titled)] * r.count
        for term, weight in weights.items():
            if term not in titled:
                for n in r.holding.get(term, ()):
                    shares[n] += weight
        joined = sum(w for p, w in pairs.items() if r.joins(p)) / self.asked.paired if pairs else coverage
        named = sum(map(self.weigh, titled)) / sum(map(self.weigh, r.title)) if titled else 0.0
        return max(shares) / self.asked.total, joined, named, float(bool(r.title) and r.phrase in self.asked.flat)

    def _meant(self) -> tuple[Matrix, Matrix]:
        """Return the cosines of each passage, and of its nearest sentence, to the question, (n,) each."""
        counts = [len(r.titled) for r in self.read]
        rows = np.concatenate([own[:n] for own, n in zip(self._placed, counts, strict=True)])
        cosines = (self._vectors.take(rows, axis=0) @ self._question).astype(np.float64)
        starts = np.cumsum([0, *counts[:-1]])
        whole = cosines[starts]
        cosines[starts] = -np.inf
        return whole, np.maximum.reduceat(cosines, starts)


def _vectors(read: Sequence[Read], embed: Remembering) -> tuple[NDArray[np.float32], list[NDArray[np.intp]]]:
    """Return the array that keeps the vectors of all passages and their words, and the rows of each passage in it.

    Questions that are answered side by side share what was read: its rows may be those of another array a moment later.
    """
    kept = embed.kept
    while True:
        placed = [r.placed for r in read]
        stale = [r for r, (table, _) in zip(read, placed, strict=True) if table is not kept]
        if not stale:
            return kept.vectors, [rows for _, rows in placed]
        kept, rows = embed.placed([t for r in stale for t in (*r.titled, *r.words)])
        ends = np.cumsum([len(r.titled) + len(r.words) for r in stale])
        for r, own in zip(stale, np.split(np.array(rows, dtype=np.intp), ends[:-1]), strict=True):
            r.placed = kept, own


def _share(weights: Matrix, has: Matrix) -> Matrix:
    """Return the share of the question's terms, by weight, that each row has, (n,)."""
    return np.asarray(has @ weights / (weights.sum() or 1.0))


def _near(
    asked: Asked,
    read: Sequence[Read],
    vectors: NDArray[np.float32],
    placed: Sequence[NDArray[np.intp]],
    embed: Remembering,
) -> Matrix:
    """Return for each passage and question term the cosine of its nearest word, (n, terms), not below 0.

    Scripts without spaces are left out: their character pairs have no vectors of their own.
    """
    near = np.zeros((len(read), len(asked.terms)))
    spaced = [i for i, w in enumerate(asked.words) if not text.UNSPACED_LETTER.match(w)]
    filled = [i for i, r in enumerate(read) if r.words]
    if not filled or not spaced:
        return near
    words = [placed[i][len(read[i].titled) :] for i in filled]
    rows = np.concatenate(words)
    # Marks on the rows tell which there are, and where, sooner than sorting them does.
    place = np.zeros(len(vectors), dtype=np.intp)
    place[rows] = 1
    different = np.flatnonzero(place)
    place[different] = np.arange(len(different))
    cosines = embed([asked.words[i] for i in spaced]) @ vectors.take(different, axis=0).T
    starts = np.cumsum([0, *map(len, words[:-1])])
    nearest = np.maximum.reduceat(cosines.take(place[rows], axis=1), starts, axis=1)
    near[np.ix_(filled, spaced)] = np.clip(nearest.T, 0.0, 1.0)
    return near


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
