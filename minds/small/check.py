"""The small check of one sentence: does the evidence say it?

Two things are asked. Most of what the sentence says must be found in the evidence, by stems, near words and meaning.
And what a fluent sentence gets wrong most easily must agree outright: numbers and units, months, names, negation.
Who did what to whom is not read: a sentence that swaps two names of its evidence passes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ragweave.corpora.hidden import addresses_machines
from ragweave.minds.desk import Desk
from ragweave.minds.evidence import Strip
from ragweave.minds.known import Checked
from ragweave.minds.passages import as_read
from ragweave.minds.small.answer.hostile import without_orders
from ragweave.minds.small.question.facts import Fact, Negation, facts, negations
from ragweave.models import tables, text
from ragweave.models.relevance import Passage, embed
from ragweave.models.relevance_features import LIMIT, content_words

SUPPORTED = 0.6
"""Lowest score of a supported sentence."""
DISAGREES = 0.35
"""Factor on the score for each number, name or negation that disagrees."""
SECONDS = 2
"""Passages that are tried, one after the other, together with the best."""
TIED = 1.0
"""Words of a claim beside which its number or name must stand; numbers and words that only compare count half."""
NEAR = 0.5
"""Lowest cosine at which a word stands in for another."""
_OPEN, KEPT = 4, 300
"""Letters that two forms of a word share at least, and passages whose reading is kept for the next sentence."""

OPPOSITES = {
    a: b
    for pair in (
        "increase decrease|rise fall|more less|more fewer|before after|largest smallest|biggest smallest|"
        "highest lowest|north south|east west|northern southern|eastern western|win lose|won lost|first last|"
        "older younger|male female|father mother|son daughter|brother sister|husband wife|born died|begin end|"
        "start stop|open close|accept reject|allow forbid|always never|above below|early late|old new|true false|"
        "success failure|married divorced"
    ).split("|")
    for x, y in [pair.split()]
    for a, b in ((text.stem(x), text.stem(y)), (text.stem(y), text.stem(x)))
}
"""Words whose swap turns a sentence round, by stem."""


@dataclass
class _Claim:
    words: dict[str, str]
    weights: dict[str, float]
    facts: Sequence[Fact]
    names: list[tuple[str, list[str]]]
    negations: Sequence[Negation]
    vector: NDArray[np.float32]


class _Stems(frozenset[str]):
    """Stems, and what is left of them without up to three letters at their ends."""

    @cached_property
    def cut(self) -> frozenset[str]:
        return frozenset(h[:-n] for h in self for n in (1, 2, 3) if len(h) - n >= _OPEN)


@dataclass(frozen=True)
class _Read:
    """One piece of evidence, or several read as one; what is found in it is kept for the next sentence."""

    heads: tuple[str, ...]
    titles: _Stems
    sentences: tuple[str, ...]
    terms: tuple[_Stems, ...]
    vectors: NDArray[np.float32]
    vocabulary: dict[str, str]
    named: _Stems
    """Stems of the parts of its names."""
    lower: frozenset[str]
    """Words without a capital."""

    @cached_property
    def everything(self) -> _Stems:
        return _Stems(self.titles.union(*self.terms))

    @cached_property
    def titled(self) -> tuple[_Stems, ...]:
        """The stems of each sentence with those of the titles."""
        return tuple(_Stems(t | self.titles) for t in self.terms)

    @property
    def said(self) -> list[Fact]:
        """The numbers and months of its sentences."""
        return [f for s in self.sentences for f in facts(s)]

    @property
    def headed(self) -> list[Fact]:
        """Those of its heads: when a clip is played says nothing."""
        return [f for s in self.heads for f in facts(_CLOCK.sub("", s))]


async def check(desk: Desk, sentence: str, strips: Sequence[Strip], question: str) -> Checked:
    """Check a sentence against strips of evidence; the desk is not needed."""
    return await asyncio.to_thread(support, sentence, [as_read(s) for s in strips], question)


def support(sentence: str, evidence: Sequence[Passage], question: str = "") -> Checked:
    """Check one sentence against its evidence.

    A sentence that stands in the evidence word for word is supported, with a score of 1. Otherwise each passage is
    tried alone, then the best one together with one that adds most to it and is about the same thing. A name or date in
    a title counts as said; words of the question weigh half, because an answer may repeat them.
    """
    if not evidence:
        return Checked(False, 0.0, (), "There is no evidence for it.")
    if not text.words(sentence):
        return Checked(False, 0.0, (), "It says nothing that could be checked.")
    if addresses_machines(sentence):
        return Checked(False, 0.0, (), "It repeats an order that a text gives to machines.")
    # An instruction found in retrieved text supports nothing.
    evidence = [_harmless(p) for p in evidence]
    copied = tuple(i for i, p in enumerate(evidence) if stands_in(sentence, p.text))
    if copied:
        return Checked(True, 1.0, copied, "")
    read = [*map(_read, evidence)]
    claim = _claim(sentence, question, read)
    if not claim.words and not claim.facts:
        return Checked(False, 0.0, (), "It says nothing that could be checked.")
    judged = [_judge(claim, r) for r in read]
    best = max(range(len(read)), key=lambda i: judged[i][0])
    value, why = judged[best]
    by: tuple[int, ...] = tuple(
        i for i in sorted(range(len(read)), key=lambda i: -judged[i][0]) if judged[i][0] >= SUPPORTED
    )
    if value < SUPPORTED and len(read) > 1:
        missing = claim.words.keys() - read[best].everything
        rest = [i for i in range(len(read)) if i != best]
        rest.sort(key=lambda i: (-len(missing & read[i].everything), -judged[i][0]))
        for second in rest[:SECONDS]:
            joint, joint_why = _judge(claim, _join(read[best], read[second]))
            if joint > value and (joint < SUPPORTED or _tied(claim, read[best], read[second])):
                value, why, by = joint, joint_why, (best, second)
            if value >= SUPPORTED:
                break
    if value < SUPPORTED:
        return Checked(False, round(value, 4), (), why)
    return Checked(True, round(value, 4), by, "", _adding(claim, read, by[:2]))


def _tied(claim: _Claim, best: _Read, other: _Read) -> bool:
    """Say whether each number and name that the best lacks stands in the other beside more of the claim.

    A word of it alone may stand anywhere: that pupils take the first ferry does not make pupils say something.
    """
    said, head, told = [*best.headed, *best.said], other.headed, [*zip(other.terms, other.titled, strict=True)]
    numbers = [
        (content_words(f.shown), [any(map(f.agrees, [*head, *facts(s)])) for s in other.sentences])
        for f in claim.facts
        if not any(map(f.agrees, said))
    ]
    names = [
        (parts, [_in(parts[-1], t) or all(_in(p, u) for p in parts) for t, u in told])
        for _, parts in claim.names
        if not any(_in(p, best.everything) for p in parts)
    ]
    return all(
        any(here and _shared(claim, t, own) >= TIED for t, here in zip(other.titled, held, strict=True))
        for own, held in (*numbers, *names)
    )


def _shared(claim: _Claim, have: _Stems, own: Collection[str]) -> float:
    """Return how much of a claim, besides some words of it, is there."""
    said = {t: w for t, w in claim.words.items() if t not in own and _in(t, have)}
    return sum(0.5 if t in OPPOSITES or t.isdigit() or facts(w) else 1.0 for t, w in said.items())


def _adding(claim: _Claim, read: Sequence[_Read], by: Sequence[int]) -> tuple[int, ...]:
    """Return the evidence that holds words of a claim which that it rests on lacks, most of them first.

    One such word, and no more of the claim than a number or a word that only compares, may stand anywhere.
    """
    have = _Stems(frozenset[str]().union(*(read[i].everything for i in by)))
    left = {t for t in claim.words if not _in(t, have)}
    out: list[int] = []
    near = [i for i, r in enumerate(read) if i not in by and _shared(claim, r.everything, ()) >= 2 * TIED]
    while left:
        held = {i: {t for t in left if _in(t, read[i].everything)} for i in near if i not in out}
        most = max(held, key=lambda i: len(held[i]), default=-1)
        if most < 0 or not held[most]:
            break
        out.append(most)
        left -= held[most]
    return tuple(out)


def stands_in(sentence: str, passage: str) -> bool:
    """Say whether a passage holds the sentence word for word, from the start of one of its sentences to an end.

    What stands beside numbers counts as well, so that 18 is not −18, nor $5 €5.
    """
    wanted, signs = text.words(sentence), _SIGN.findall(sentence)
    cut, said = _worded(passage)
    for start in range(len(cut)):
        end, have = start, list[str]()
        while end < len(cut) and len(have) < len(wanted):
            have += said[end]
            end += 1
        if have == wanted and _SIGN.findall(" ".join(cut[start:end])) == signs:
            return True
    return False


@lru_cache(maxsize=KEPT)
def _harmless(p: Passage) -> Passage:
    return Passage(p.title, without_orders(p.text))


@lru_cache(maxsize=KEPT)
def _worded(passage: str) -> tuple[list[str], list[list[str]]]:
    cut = tables.statements(passage)
    return cut, [text.words(s) for s in cut]


_SIGN = re.compile(r"[<>≤≥=^/+±$€£¥%‰]|(?<![\w.)-])[-–−](?=\d)")


@lru_cache(maxsize=KEPT)
def _read(p: Passage) -> _Read:
    sentences = tables.statements(p.text[:LIMIT]) or [p.title]
    return _Read(
        (p.title,),
        _Stems(text.terms(p.title)),
        tuple(sentences),
        tuple(_Stems(text.terms(s)) for s in sentences),
        embed([f"{p.title}. {s}" for s in sentences]),
        content_words(f"{p.title} {p.text[:LIMIT]}"),
        _Stems(t for part in (p.title, *sentences) for n in text.names(part) for t in text.content_terms(n)),
        frozenset(t for s in sentences for t in _LOWER.findall(s)),
    )


_LOWER = re.compile(r"(?<![\w.])[a-z][\w’'-]*")


def _join(a: _Read, b: _Read) -> _Read:
    return _Read(
        a.heads + b.heads,
        _Stems(a.titles | b.titles),
        a.sentences + b.sentences,
        a.terms + b.terms,
        np.vstack([a.vectors, b.vectors]),
        {**a.vocabulary, **b.vocabulary},
        _Stems(a.named | b.named),
        a.lower | b.lower,
    )


def _claim(sentence: str, question: str, read: Sequence[_Read]) -> _Claim:
    words = content_words(sentence)
    asked = set(text.terms(question))
    said = facts(sentence)
    lower = frozenset[str]().union(*(r.lower for r in read))
    found = [part for n in text.names(sentence) for part in re.split(r"\s(?:and|&)\s", n)]
    names = [(n, text.content_terms(n)) for n in found if not _opens(sentence, n, lower)]
    named = {t for _, parts in names for t in parts}
    weights = {t: 0.5 if t in asked and t not in named else 1.0 for t in words}
    return _Claim(words, weights, said, [(n, p) for n, p in names if p], negations(sentence), embed([sentence])[0])


def _opens(sentence: str, name: str, lower: frozenset[str]) -> bool:
    """Say whether a one-word name is only the capitalised beginning of the sentence."""
    if " " in name or not sentence.lstrip("\"'“‘( ").startswith(name) or name.isupper():
        return False
    return name.lower() in lower or bool(re.search(r"(?:ed|ing|ly|ous|ive|ful|ment|tion|ers?)$", name.lower()))


def _judge(claim: _Claim, read: _Read) -> tuple[float, str]:
    """Return the score of a claim against one reading, and what speaks against it most."""
    overlap = [len(claim.words.keys() & t) for t in read.terms]
    cosines = read.vectors @ claim.vector
    rank = sorted(range(len(overlap)), key=lambda i: (-overlap[i] - float(cosines[i]), i))[:2]
    everything = read.everything
    missing = [w for t, w in claim.words.items() if not _in(t, everything)]
    near = _near(missing, list(read.vocabulary.values()))
    held = {t: near.get(w, 0.0) if w in missing else 1.0 for t, w in claim.words.items()}
    total = sum(claim.weights.values())
    covered = sum(claim.weights[t] * held[t] for t in held) / total if total else 1.0
    score = 0.8 * covered + 0.2 * float(np.clip(cosines.max(), 0.0, 1.0)) if total else covered
    wrong = _disagreements(claim, read, rank, everything)
    why = wrong[0] if wrong else f"The evidence covers only {covered:.0%} of it."
    return max(0.0, min(1.0, score)) * DISAGREES ** len(wrong), why


def _in(term: str, have: _Stems) -> bool:
    """Say whether a stem is there, or one that only goes on for up to three letters (German, Germany)."""
    if term in have:
        return True
    if len(term) < _OPEN or not term.isalpha() or not term.isascii():
        return False
    return term in have.cut or any(term[:-n] in have for n in (1, 2, 3) if len(term) - n >= _OPEN)


def _near(missing: list[str], vocabulary: list[str]) -> dict[str, float]:
    """Return the cosine of each missing word to its nearest word of the evidence, where it is near at all."""
    spaced = [w for w in missing if w.isalpha() and w.isascii()]
    if not spaced or not vocabulary:
        return {}
    vectors = embed([*spaced, *vocabulary])
    best = (vectors[: len(spaced)] @ vectors[len(spaced) :].T).max(axis=1)
    return {w: float(b) for w, b in zip(spaced, best, strict=True) if b >= NEAR}


_CLOCK = re.compile(r"(?<!\d)\d+(?::[0-5]\d)+-\d+(?::[0-5]\d)+(?!\d)")


def _disagreements(claim: _Claim, read: _Read, rank: Sequence[int], everything: _Stems) -> list[str]:
    """Say in sentences which numbers, names and negations disagree."""
    wrong: list[str] = []
    said, heads = read.said, read.headed  # a head names years and numbers, not how much there is of something
    for f in claim.facts:
        if not any(f.agrees(g) for g in said) and not any(f.agrees(g) and f.unit == g.unit for g in heads):
            kind = "month" if f.value.startswith("month") else "number"
            wrong.append(f"The {kind} {f.shown} is not in the evidence.")
    for name, parts in claim.names:
        if not all(_in(p, everything) for p in parts) and not _in(parts[-1], read.named):
            wrong.append(f"The name {name} is not in the evidence.")
    for n in claim.negations:
        if not any(n.scope & m.scope for s in read.sentences for m in negations(s)):
            wrong.append(f"The evidence does not say “{n.shown}”.")
    for m in negations(read.sentences[rank[0]]):
        denied = len(m.scope & claim.words.keys()) * 2 > len(m.scope) if m.scope else False
        if denied and not any(m.scope & n.scope for n in claim.negations):
            wrong.append(f"The evidence denies it: “{m.shown}”.")
    window = read.titles.union(*(read.terms[i] for i in rank))
    for t in claim.words:
        opposite = OPPOSITES.get(t)
        if opposite and t not in everything and opposite in window and opposite not in claim.words:
            wrong.append(f"The evidence says the opposite of “{claim.words[t]}”.")
    return wrong
