"""Verify a sentence without a model: one window of one passage must hold all that it states.

A window is a sentence of the passage with its neighbours, or a row of a table under its column heads, each below the
passage's title. It holds the sentence where every number, name and comparison stands in it, most of the other words do,
and what is nearest to the sentence denies something only if the sentence does. What a window does not hold may still be
true: that is left to a second opinion.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from ragweave.components.evidence import Strip
from ragweave.components.knowledge import CheckResult
from ragweave.components.passages import as_read
from ragweave.components.run_context import RunContext
from ragweave.corpora.hidden import addresses_machines, without_orders
from ragweave.models import tables, text
from ragweave.models.relevance import Passage

COVERED = 0.8
"""Share of the words of a sentence that a window must hold."""
_TOLD = 0.99
"""Score of a sentence in other words, at most: whose value it gives is not told by its words."""
_NOTHING = 0.0, 0.0, "There is no evidence for it."
_ASKED = 0.5
"""Weight of a word of the question, which an answer may repeat, beside any other."""
_KEPT = 300
"""Passages whose windows are kept for the next sentence."""
_PREFIX = 4
"""Letters that two forms of a word share at least (German, Germany)."""
_VALUE = re.compile(r"(?:[<>≤≥±$€£¥]\s?)?(?:(?<![\w.)-])[-–−])?\d[\d.,:]*(?:\s?[%‰])?")
_SIGN = re.compile(r"[<>≤≥=^/+±$€£¥%‰]|(?<![\w.)-])[-–−](?=\d)")
_NEGATES = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|nicht|keine?[nmrs]?|nie|niemals|ohne|jamais|sans"
    r"|ne|pas|aucune?)\b|n['’]t\b|[不没未无]",
    re.I,
)
_COMPARES = frozenset(
    "more most less least fewer before after above below over under until only all both each almost about".split()
)
"""Words that count as function words elsewhere and change what a sentence states."""


@dataclass(frozen=True)
class _Window:
    """What is read together: stems, folded words, values; and of each sentence its stems, and whether it denies."""

    stems: frozenset[str]
    words: frozenset[str]
    values: frozenset[str]
    parts: tuple[tuple[frozenset[str], bool], ...]


@dataclass(frozen=True)
class _Claim:
    """A sentence taken apart: stems with their weights, and what must stand in its window."""

    stems: dict[str, float]
    names: list[tuple[str, list[str]]]
    values: list[str]
    compares: list[str]
    denies: bool


async def check(run: RunContext, sentence: str, strips: Sequence[Strip], question: str) -> CheckResult:
    """Check a sentence against strips of evidence; the run is not needed."""
    return await asyncio.to_thread(support, sentence, [as_read(s) for s in strips], question)


def support(sentence: str, evidence: Sequence[Passage], question: str = "") -> CheckResult:
    """Check one sentence against passages, each by itself.

    A sentence that stands in one word for word has a score of 1; of any other the score is the share of its words that
    the best window holds, 0 where a number, a name, a negation or a comparison is missing there.
    """
    if not evidence:
        return CheckResult(False, 0.0, (), _NOTHING[-1])
    if not text.words(sentence):
        return CheckResult(False, 0.0, (), "It says nothing that could be checked.")
    if addresses_machines(sentence):
        return CheckResult(False, 0.0, (), "It repeats an order that a text gives to machines.")
    # Orders to assistants that stand in retrieved text support nothing.
    read = [Passage(p.title, without_orders(p.text)) for p in evidence]
    if copied := tuple(i for i, p in enumerate(read) if stands_in(sentence, p.text)):
        return CheckResult(True, 1.0, copied, "")
    claim = _claim(sentence, question)
    judged = [max((_judge(claim, w) for w in _windows(p)), default=_NOTHING) for p in read]
    by = sorted((i for i, (score, _, _) in enumerate(judged) if score >= COVERED), key=lambda i: -judged[i][0])
    score, _, why = max(judged)
    return CheckResult(bool(by), min(round(score, 4), _TOLD), tuple(by), "" if by else why)


def stands_in(sentence: str, passage: str) -> bool:
    """Tell whether a passage holds a sentence word for word, from the start of one of its sentences to an end.

    The signs beside numbers count as well, so that 18 is not −18, nor $5 €5.
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


@lru_cache(maxsize=_KEPT)
def _worded(passage: str) -> tuple[list[str], list[list[str]]]:
    cut = tables.statements(passage)
    return cut, [text.words(s) for s in cut]


@lru_cache(maxsize=_KEPT)
def _windows(p: Passage) -> tuple[_Window, ...]:
    """Return the windows of a passage; a row of a table has no neighbours."""
    spans = [s for s in tables.spans(p.text) if not tables.is_heads(p.text, *s)]
    rows = [tables.is_row(p.text[a:b]) for a, b in spans]
    said = [tables.told(p.text, a, b) for a, b in spans] or [""]
    parts = [(frozenset(text.terms(s)), bool(_NEGATES.search(s))) for s in said]
    out = []
    for n in range(len(said)):
        beside = [m for m in (n - 1, n + 1) if 0 <= m < len(spans) and not (rows[n] or rows[m])]
        read = [n, *beside]
        whole = " ".join([p.title, *(said[m] for m in read)])
        stems, words = frozenset(text.terms(whole)), frozenset(text.words(whole))
        out.append(_Window(stems, words, frozenset(_values(whole)), tuple(parts[m] for m in read)))
    return tuple(out)


def _claim(sentence: str, question: str) -> _Claim:
    asked = set(text.terms(question))
    # Weekdays and months count as names as well: their capital tells them.
    capital = re.findall(r"(?<=\s)[\"“'(]*([^\W\d_a-z][\w’'-]*)", sentence)
    names = [(n, text.content_terms(n)) for n in dict.fromkeys([*text.names(sentence), *capital])]
    named = {t for _, parts in names for t in parts}
    stems = {t: _ASKED if t in asked and t not in named else 1.0 for t in text.content_terms(sentence)}
    compares = [w for w in text.words(sentence) if w in _COMPARES]
    return _Claim(stems, names, _values(sentence), compares, bool(_NEGATES.search(sentence)))


def _values(said: str) -> list[str]:
    """Return the numbers of a text with the signs that stand beside them, without marks of thousands."""
    found = (m.group().rstrip(".,:") for m in _VALUE.finditer(text.fold(said)))
    return ["".join(re.sub(r"(?<=\d),(?=\d{3})", "", v).split()).replace("–", "-").replace("−", "-") for v in found]


def _judge(claim: _Claim, window: _Window) -> tuple[float, float, str]:
    """Return the score of a claim in a window, the share of its words that the window holds, and what is missing."""
    covered = _share(claim, window.stems)
    for value in claim.values:
        if value not in window.values:
            return 0.0, covered, f"The number {value} is not in the evidence."
    for name, parts in claim.names:
        if not all(_held(p, window.stems) for p in parts):
            return 0.0, covered, f"The name {name} is not in the evidence."
    for word in claim.compares:
        if word not in window.words:
            return 0.0, covered, f"The evidence does not say “{word}”."
    nearest = max(_share(claim, stems) for stems, _ in window.parts)
    denies = {denied for stems, denied in window.parts if _share(claim, stems) == nearest}
    if covered >= COVERED and denies != {claim.denies}:
        return 0.0, covered, "The evidence denies something else."
    return covered, covered, f"The evidence covers only {covered:.0%} of it."


def _share(claim: _Claim, stems: frozenset[str]) -> float:
    """Return the share of a claim's words that are among these."""
    total = sum(claim.stems.values())
    return sum(w for t, w in claim.stems.items() if _held(t, stems)) / total if total else 1.0


def _held(term: str, have: frozenset[str]) -> bool:
    """Tell whether a stem is there, or one that goes on for up to three letters."""
    if term in have:
        return True
    if len(term) < _PREFIX or not (term.isascii() and term.isalpha()):
        return False
    return any(term[:-n] in have for n in (1, 2, 3) if len(term) - n >= _PREFIX) or any(
        h.startswith(term) and len(h) - len(term) <= 3 for h in have
    )
