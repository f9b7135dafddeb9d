"""What the small relevance evaluator looks at.

Each feature says how much of the question a passage carries, by exact stems, by near words, by meaning, or through
the company it keeps: multi-hop evidence is often recognised only by the other candidates that name it. Lengths are
left out on purpose: in fitted models they learn how a data set was made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragweave.models import text
from ragweave.models.encoders import Remembering
from ragweave.models.relevance_reading import (
    LEAST,
    Asked,
    Idf,
    Matrix,
    Passage,
    Read,
    ask,
    numbered,
    rare_weights,
    read,
)

OWN = (
    "coverage", "best_sentence", "bigrams", "rarest", "soft", "title_named", "title_phrase", "names", "cosine",
    "sentence_cosine", "answer_type",
)  # fmt: skip
"""Features of a passage by itself, all in [0, 1] but the cosines."""

LINKS = ("named_by", "named_count", "names_others", "joint", "complement", "shared", "bridge", "neighbour")
"""Features of a passage among the other candidates of its question."""

_DATE = re.compile(r"\b1\d{3}\b|\b20\d{2}\b|世纪|年")


@dataclass(frozen=True)
class Looked:
    """What was seen of n passages for one question."""

    own: Matrix
    """(n, len(OWN)), features of each by itself."""
    pairs: Matrix
    """(6, n, n), what the second has to do with the first: is named by it, covers of the question with it, adds, ..."""
    blank: bool
    """The question has no content word, so that nothing but the cosines says anything."""

    def of(self, places: Sequence[int]) -> Looked:
        """Return what was seen of some of the passages, as if the others were no candidates."""
        return Looked(self.own[[*places]], self.pairs[:, places][:, :, places], self.blank)

    @property
    def links(self) -> Matrix:
        """(n, len(LINKS)), features of each among the others."""
        n = len(self.own)
        if n < 2:
            return np.zeros((n, len(LINKS)))
        strength = np.clip(base(self.own), 0.0, None)
        named, union, added, rare, bridge, near = self.pairs
        by = [named * strength, named.T * strength, union, *(m * strength for m in (added, rare, bridge, near))]
        best = [m.max(axis=1) for m in by]
        return np.column_stack([best[0], named.sum(axis=1) / (n - 1), *best[1:]])


def look(
    question: str, passages: Sequence[Passage], idf: Idf, embed: Remembering, rare: Sequence[Matrix] = ()
) -> Looked:
    """Read passages, at least one, with the question in mind; weights of terms below LEAST count as that.

    `rare` are the weights of each passage as `rare_weights` returns them, where they are known.
    """
    seen = _Seen(question, passages, idf, embed)
    rare = rare or [rare_weights(p, idf) for p in passages]
    return Looked(seen.own(), _pairs(seen, _rare_cosines(seen.asked, seen.read, rare)), not seen.asked.terms)


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
        vectors, placed = _vectors(self.read, embed)
        self._ask = embed([question])[0].astype(np.float64)
        ends = np.cumsum([len(r.titled) for r in self.read])
        rows = np.concatenate([own[: len(r.titled)] for r, own in zip(self.read, placed, strict=True)])
        whole = vectors.take(rows, axis=0).astype(np.float64)
        self.vectors = whole[ends - [len(r.titled) for r in self.read]]
        """(n, dim), of each passage as a whole."""
        self._by_sentence = [part[1:] for part in np.split(whole @ self._ask, ends[:-1])]
        held = [[t in r.have for t in self.asked.terms] for r in self.read]
        self.has = np.array(held, dtype=np.float64).reshape(len(self.read), -1)
        """(n, terms), 1 where a passage has a term of the question."""
        self._near = np.maximum(self.has, _near(self.asked, self.read, vectors, placed, embed))

    def own(self) -> Matrix:
        """Return the features of each passage by itself, (n, len(OWN))."""
        asked, has = self.asked, self.has
        rarest = (has * asked.weights).max(axis=1, initial=0.0) / asked.weights.max(initial=LEAST)
        near, cosines = _share(asked.weights, self._near), self.vectors @ self._ask
        carried = (a.tolist() for a in (_share(asked.weights, has), rarest, near, cosines))
        rows = zip(self.read, *carried, self._by_sentence, strict=True)
        return np.array([_own(asked, r, self.weigh, *row) for r, *row in rows])


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


def base(own: Matrix) -> Matrix:
    """Return the unfitted score, (n,) in about [0, 2]: coverage, half the title, half the cosine."""
    column = {name: own[:, i] for i, name in enumerate(OWN)}
    return np.asarray(column["coverage"] + 0.5 * column["title_named"] + 0.5 * column["cosine"])


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
    rows = [placed[i][len(read[i].titled) :] for i in filled]
    different, columns = np.unique(np.concatenate(rows), return_inverse=True)
    cosines = embed([asked.words[i] for i in spaced]) @ vectors.take(different, axis=0).T
    starts = np.cumsum([0, *map(len, rows[:-1])])
    nearest = np.maximum.reduceat(cosines[:, columns], starts, axis=1)
    near[np.ix_(filled, spaced)] = np.clip(nearest.T, 0.0, 1.0)
    return near


def _own(
    asked: Asked, r: Read, idf: Idf, coverage: float, rarest: float, soft: float, cosine: float, by_sentence: Matrix
) -> list[float]:
    weights = dict(zip(asked.terms, asked.weights.tolist(), strict=True))
    total = sum(weights.values()) or 1.0
    titles = weights.keys() & r.title
    # Most sentences hold none of the question's terms, and many the same ones.
    holding = [frozenset(weights.keys() & s | titles) for s in r.sentence_terms]
    shares = {held: sum(weights[t] for t in asked.terms if t in held) / total for held in set(holding)}
    best = max(range(len(holding)), key=lambda i: shares[holding[i]])
    pair_total = sum(asked.pairs.values())
    wanted = {t: idf(t) for t in r.title}
    titled = sum(w for t, w in wanted.items() if t in weights) / sum(wanted.values()) if wanted else 0.0
    return [
        coverage,
        shares[holding[best]],
        sum(w for p, w in asked.pairs.items() if p in r.pairs) / pair_total if pair_total else coverage,
        rarest,
        soft,
        titled,
        float(bool(r.title) and r.phrase in asked.flat),
        sum(len(n & r.have) / len(n) for n in asked.names) / len(asked.names) if asked.names else 0.0,
        cosine,
        float(by_sentence.max()),
        float(bool(_TELLS[asked.kind](r.sentences[best]))) if asked.kind else 0.0,
    ]


_TELLS: dict[str, Callable[[str], object]] = {"when": _DATE.search, "count": text.numbers, "who": text.names}
"""What tells whether a sentence has what such a question asks for."""


def _pairs(seen: _Seen, rare: Matrix) -> Matrix:
    asked, read = seen.asked, seen.read
    # Passages of one document have one title: each is looked for once.
    first = {r.phrase: r for r in read}
    which = [*map({phrase: n for n, phrase in enumerate(first)}.__getitem__, (r.phrase for r in read))]
    apart = np.not_equal.outer(which, which).astype(np.float64)
    # Only a passage that has every word of a title can hold it as a phrase.
    titled = [(set(r.title), phrase) for phrase, r in first.items()]
    named = np.array([[bool(t) and t <= s.have and phrase in s.flat for s in read] for t, phrase in titled])[which]
    share = asked.weights / asked.weights.sum() if asked.terms else asked.weights
    covered = seen.has @ share
    union = np.maximum(seen.has[:, None], seen.has[None]) @ share
    terms = set(asked.terms)
    focus = [max(r.sentence_terms, key=lambda s: len(terms & s)) for r in read]
    new = [{t: seen.weigh(t) for t in r.title if t not in terms} for r in first.values()]
    bridge = np.array([[_part(weights, f) for f in focus] for weights in new])[which]
    return np.asarray(np.stack([named, union, union - covered, rare, bridge, seen.vectors @ seen.vectors.T]) * apart)


def _part(weights: Mapping[str, float], sentence: set[str]) -> float:
    """Return the share of words, by weight, that a sentence holds."""
    if sentence.isdisjoint(weights):
        return 0.0
    return sum(w for t, w in weights.items() if t in sentence) / sum(weights.values())


def _rare_cosines(asked: Asked, read: Sequence[Read], weights: Sequence[Matrix]) -> Matrix:
    """Return the cosines of the passages' idf vectors without the question's words, (n, n)."""
    numbers, column = np.unique(np.concatenate([r.numbers for r in read]), return_inverse=True)
    weight, row = np.concatenate(weights), np.repeat(np.arange(len(read)), [len(w) for w in weights])
    weight[np.isin(numbers, [numbered.get(t, -1) for t in asked.terms])[column]] = 0.0
    norm = np.sqrt(np.bincount(row, weight**2, len(read)))[:, None]
    # What stands in one passage alone is no part of a product of two.
    shared = np.bincount(column, minlength=len(numbers)) > 1
    held, place = shared[column], np.cumsum(shared) - 1
    rows = np.zeros((len(read), int(shared.sum())))
    rows[row[held], place[column[held]]] = weight[held]
    rows /= np.where(norm > 0, norm, 1.0)
    return np.asarray(rows @ rows.T)


def comparison(seen: Looked) -> Matrix:
    """Return the inputs of the boosters of `order`, (n, 38); the first 11 are the passages' own.

    Everything is relative to the other candidates, because absolute values fit one data set and fail on the next.
    """
    own, links = seen.own, seen.links
    behind = [m - m.max(axis=0) for m in (own, links)]
    return np.hstack([standardise(own), standardise(links), *behind])


def standardise(x: Matrix) -> Matrix:
    """Return x with zero mean and unit spread per column, over the candidates; constant columns become 0."""
    spread = x.std(axis=0)
    return np.asarray((x - x.mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0) * (spread > 1e-9))
