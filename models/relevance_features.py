"""What the small relevance evaluator looks at.

Each feature says how much of the question a passage carries, by exact stems, by near words, by meaning, or through
the company it keeps: multi-hop evidence is often recognised only by the other candidates that name it. Lengths are
left out on purpose: in fitted models they learn how a data set was made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from ragweave.models import tables, text

Idf = Callable[[str], float]
"""Inverse document frequency of a stemmed term, as `ragweave.models.text.terms` makes them."""

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Text encoder: (n, dim), L2-normalised."""

Matrix = NDArray[np.float64]

OWN = (
    "coverage", "best_sentence", "bigrams", "rarest", "soft", "title_named", "title_phrase", "names", "cosine",
    "sentence_cosine", "answer_type",
)  # fmt: skip
"""Features of a passage by itself, all in [0, 1] but the cosines."""

LINKS = ("named_by", "named_count", "names_others", "joint", "complement", "shared", "bridge", "neighbour")
"""Features of a passage among the other candidates of its question."""

LIMIT = 12_000
"""Characters of a passage that are read; a longer one is judged by its beginning."""

LEAST = 0.1
"""The least that a term weighs."""

FUNCTION_HAN = re.compile("[的了吗呢吧么谁哪什几怎是在和与及有我你他她它这那何]|多少")
"""Chinese function characters: a character pair with one of them is no content."""
_BRACKETS = re.compile(r"\s*[(（][^)）]*[)）]")
_DATE = re.compile(r"\b1\d{3}\b|\b20\d{2}\b|世纪|年")
_WHEN = re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|century)\b|什么时候|何时|哪年|哪一年", re.I)
_COUNT = re.compile(r"\bhow (?:many|much|old|long|far|tall|large|big|high)\b|多少|几", re.I)
_PERSON = re.compile(r"\bwho(?:m|se)?\b|谁", re.I)


@dataclass(frozen=True)
class Passage:
    """What is scored: a text and the title of the document it stands in."""

    title: str
    text: str


@dataclass
class _Read:
    """One passage, taken apart."""

    title: list[str]
    have: set[str]
    rare: list[str]
    """What it has that is no function word."""
    pairs: set[tuple[str, str]]
    sentences: list[str]
    titled: list[str]
    """The whole and each sentence under its title, as they are encoded."""
    sentence_terms: list[set[str]]
    words: list[str]
    phrase: str
    flat: str


def _flat(words: Sequence[str]) -> str:
    """Join words so that a phrase can be looked up as a substring that starts and ends at word ends."""
    return f" {' '.join(words)} "


@lru_cache(maxsize=1_000)
def _read(p: Passage) -> _Read:
    """Take a passage apart; the last ones are kept, because each step of a question reads them again."""
    bare = _BRACKETS.sub("", p.title).strip() or p.title
    body = p.text[:LIMIT]
    cut = tables.statements(body) or [body]
    by_sentence = [text.words(s) for s in cut]
    stems = [[text.stem(w) for w in ws] for ws in by_sentence]
    body_words = list(chain.from_iterable(by_sentence))
    title_words = text.words(p.title)
    content = [t for t in chain.from_iterable(stems) if t not in text.STOP]
    have = dict.fromkeys(chain(map(text.stem, title_words), chain.from_iterable(stems)))
    return _Read(
        title=text.content_terms(bare),
        have=set(have),
        rare=[t for t in have if t not in text.STOP],
        pairs={*pairwise(content), *zip(content, content[2:], strict=False)},
        sentences=cut,
        titled=[f"{p.title}. {s}" for s in (body, *cut)],
        sentence_terms=[set(s) for s in stems],
        words=[w for w in dict.fromkeys([*title_words, *body_words]) if w not in text.STOP],
        phrase=_flat(text.words(bare)),
        flat=_flat(body_words),
    )


@dataclass
class _Asked:
    """The question, taken apart."""

    terms: list[str]
    words: list[str]
    weights: Matrix
    pairs: dict[tuple[str, str], float]
    names: list[set[str]]
    flat: str
    kind: str


def vocabulary(p: Passage) -> set[str]:
    """Return the stems of a passage and its title."""
    r = _read(p)
    return r.have.union(r.title)  # a title that is parted by brackets has words without them


def content_words(of: str) -> dict[str, str]:
    """Return the words that carry content by their stem, in order of appearance."""
    found: dict[str, str] = {}
    for w in text.words(of):
        if w not in text.STOP and not FUNCTION_HAN.search(w):
            found.setdefault(text.stem(w), w)
    return found


def _ask(question: str, idf: Idf) -> _Asked:
    found = content_words(question)
    terms = list(found)
    weights = np.array([idf(t) for t in terms])
    unspaced = np.array([bool(text.UNSPACED_LETTER.match(t)) for t in terms], dtype=bool)
    if unspaced.any():
        # Pairs that straddle two words are in no text; their high idf must not decide.
        weights[unspaced] = np.minimum(weights[unspaced], np.median(weights[unspaced]))
    content = [t for t in text.terms(question) if t not in text.STOP]
    pairs = {(a, b): idf(a) + idf(b) for a, b in pairwise(content)}
    kinds = {"count": _COUNT, "when": _WHEN, "who": _PERSON}
    kind = next((name for name, pattern in kinds.items() if pattern.search(question)), "")
    names = [set(text.content_terms(n)) for n in text.names(question)]
    return _Asked(
        terms, list(found.values()), weights, pairs, [n for n in names if n], _flat(text.words(question)), kind
    )


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


def look(question: str, passages: Sequence[Passage], idf: Idf, embed: Embed) -> Looked:
    """Read passages, at least one, with the question in mind; weights of terms below LEAST count as that."""

    def weigh(term: str) -> float:
        return max(idf(term), LEAST)

    asked = _ask(question, weigh)
    read = [_read(p) for p in passages]
    ask, *_ = whole = embed([question, *(r.titled[0] for r in read)]).astype(np.float64)
    cosines = embed([s for r in read for s in r.titled[1:]]).astype(np.float64) @ ask
    by_passage = np.split(cosines, np.cumsum([len(r.sentences) for r in read])[:-1])
    has = np.array([[t in r.have for t in asked.terms] for r in read], dtype=np.float64).reshape(len(read), -1)
    near = np.maximum(has, _near(asked, read, embed))
    rarest = (has * asked.weights).max(axis=1, initial=0.0) / asked.weights.max(initial=LEAST)
    carried = zip(_share(asked.weights, has), rarest, _share(asked.weights, near), whole[1:] @ ask, strict=True)
    own = np.array([_own(asked, r, weigh, *c, s) for r, c, s in zip(read, carried, by_passage, strict=True)])
    pairs = _pairs(asked, read, weigh, has, whole[1:], _rare_cosines(asked, read, idf))
    return Looked(own, pairs, not asked.terms)


def base(own: Matrix) -> Matrix:
    """Return the unfitted score, (n,) in about [0, 2]: coverage, half the title, half the cosine."""
    column = {name: own[:, i] for i, name in enumerate(OWN)}
    return np.asarray(column["coverage"] + 0.5 * column["title_named"] + 0.5 * column["cosine"])


def _share(weights: Matrix, has: Matrix) -> Matrix:
    """Return the share of the question's terms, by weight, that each row has, (n,)."""
    return np.asarray(has @ weights / (weights.sum() or 1.0))


def _near(asked: _Asked, read: Sequence[_Read], embed: Embed) -> Matrix:
    """Return for each passage and question term the cosine of its nearest word, (n, terms), not below 0.

    Scripts without spaces are left out: their character pairs have no vectors of their own.
    """
    near = np.zeros((len(read), len(asked.terms)))
    vocabulary = _numbered(chain.from_iterable(r.words for r in read))
    columns = [*map(vocabulary.__getitem__, chain.from_iterable(r.words for r in read))]
    spaced = [i for i, w in enumerate(asked.words) if not text.UNSPACED_LETTER.match(w)]
    if not vocabulary or not spaced:
        return near
    vectors = embed([*(asked.words[i] for i in spaced), *vocabulary])
    cosines = vectors[: len(spaced)] @ vectors[len(spaced) :].T
    filled = [i for i, r in enumerate(read) if r.words]
    starts = np.cumsum([0, *(len(read[i].words) for i in filled[:-1])])
    nearest = np.maximum.reduceat(cosines[:, columns], starts, axis=1)
    near[np.ix_(filled, spaced)] = np.clip(nearest.T, 0.0, 1.0)
    return near


def _numbered(words: Iterable[str]) -> dict[str, int]:
    """Return the place of each word among the different ones, in their order."""
    return {w: i for i, w in enumerate(dict.fromkeys(words))}


def _own(
    asked: _Asked, r: _Read, idf: Idf, coverage: float, rarest: float, soft: float, cosine: float, by_sentence: Matrix
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


def _pairs(asked: _Asked, read: Sequence[_Read], idf: Idf, has: Matrix, vectors: Matrix, rare: Matrix) -> Matrix:
    titles = [r.phrase for r in read]
    apart = np.array([[float(t != u) for u in titles] for t in titles])
    titled = [set(r.title) for r in read]
    # Only a passage that has every word of a title can hold it as a phrase.
    named = np.array(
        [[bool(t) and t <= s.have and r.phrase in s.flat for s in read] for t, r in zip(titled, read, strict=True)]
    )
    share = asked.weights / asked.weights.sum() if asked.terms else asked.weights
    covered = has @ share
    union = np.stack([np.maximum(has, h) @ share for h in has])
    asked_terms = set(asked.terms)
    focus = [r.sentence_terms[int(np.argmax([len(asked_terms & s) for s in r.sentence_terms]))] for r in read]
    new = [{t: idf(t) for t in r.title if t not in asked_terms} for r in read]
    bridge = np.array([[_part(weights, f) for f in focus] for weights in new])
    return np.asarray(np.stack([named, union, union - covered, rare, bridge, vectors @ vectors.T]) * apart)


def _part(weights: Mapping[str, float], sentence: set[str]) -> float:
    """Return the share of words, by weight, that a sentence holds."""
    if sentence.isdisjoint(weights):
        return 0.0
    return sum(w for t, w in weights.items() if t in sentence) / sum(weights.values())


def _rare_cosines(asked: _Asked, read: Sequence[_Read], idf: Idf) -> Matrix:
    """Return the cosines of the passages' idf vectors without the question's words, (n, n)."""
    column = _numbered(chain.from_iterable(r.rare for r in read))
    weights = np.maximum(np.fromiter(map(idf, column), dtype=np.float64, count=len(column)), LEAST)
    weights[[column[t] for t in asked.terms if t in column]] = 0.0
    rows = np.zeros((len(read), len(column)))
    for i, r in enumerate(read):
        held = [*map(column.__getitem__, r.rare)]
        rows[i, held] = weights[held]
    norm = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(norm > 0, norm, 1.0)
    return np.asarray(rows @ rows.T)


def comparison(seen: Looked) -> tuple[Matrix, Matrix]:
    """Return the inputs of the two boosters of `order`: all features, (n, 38), and the passages' own, (n, 11).

    Everything is relative to the other candidates, because absolute values fit one data set and fail on the next.
    """
    own, links = standardise(seen.own), standardise(seen.links)
    behind = [m - m.max(axis=0) for m in (seen.own, seen.links)]
    return np.hstack([own, links, *behind]), own


def standardise(x: Matrix) -> Matrix:
    """Return x with zero mean and unit spread per column, over the candidates; constant columns become 0."""
    spread = x.std(axis=0)
    return np.asarray((x - x.mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0) * (spread > 1e-9))
