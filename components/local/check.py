"""Verify a sentence without a model: one window of one passage must hold all that it states, and as it states it.

A window is one to three sentences of a passage, an item of a list, or a cell of a table with its row's subject and its
column's head; each below the passage's title and heading. It holds a sentence where every number, date, time, name,
negation and comparison stands in it and most of the other words do. Where it holds other values as well, the sentence
must follow the window's own words in order up to the first of them: else a value might belong to something else. What
no window holds may still be true: that is left to a second opinion.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from ragweave.components.evidence import Strip
from ragweave.components.knowledge import CheckResult
from ragweave.components.local.windows import CAPITAL, NEGATES, Window, counts, values, windows_of
from ragweave.components.passages import as_read
from ragweave.components.run_context import RunContext
from ragweave.corpora.hidden import addresses_machines, without_orders
from ragweave.models import tables, text
from ragweave.models.relevance import Passage

COVERED = 0.8
"""Share of the words of a sentence that a window must hold."""
_TOLD = 0.99
"""Score of a sentence in other words, at most."""
_ASKED = 0.5
"""Weight of a word of the question, which an answer may repeat, beside any other."""
_KEPT = 300
"""Passages whose windows are kept for the next sentence."""
_PREFIX = 4
"""Letters that two forms of a word share at least (German, Germany)."""
_NOTHING = 0.0, 0.0, (0, 0), "There is no evidence for it."
_COVERS = "The evidence covers only {:.0%} of it."
_SIGN = re.compile(r"[<>≤≥=^/+±$€£¥%‰]|(?<![\w.)-])[-–−](?=\d)")
_LINKS = re.compile(r"\b(?:https?://|www\.)\S+|\S+@\S+\.\w+|\b[\w-]+\.(?:com|org|net|io|invalid|example)\b", re.I)
_COMPARES = frozenset(
    "more most less least fewer before after above below over under until only all both each almost about".split()
)
"""Words that count as function words elsewhere and change what a sentence states."""


_Judged = tuple[float, float, tuple[int, int], str]
"""Score of a claim in a window, the share of its words that the window holds, its place, and what is missing."""


_Forms = Mapping[str, frozenset[str]]
"""Of each stem of a claim, the stems of a passage that it is held by."""


class _Whole(NamedTuple):
    """All stems, words and values of a passage with its title, and the stems in order."""

    stems: frozenset[str]
    words: frozenset[str]
    values: Counter[str]
    ordered: list[str]


@dataclass(frozen=True)
class _Claim:
    """A sentence taken apart: stems with their weights, in order, and what must stand in its window.

    Where `asks` is set, it has no word of the question, and the question's words are among the stems.
    """

    stems: dict[str, float]
    order: tuple[str, ...]
    names: list[tuple[str, list[str]]]
    values: list[str]
    compares: list[str]
    denies: bool
    asks: bool


async def check(run: RunContext, sentence: str, strips: Sequence[Strip], question: str) -> CheckResult:
    """Check a sentence against strips of evidence; the run is not needed."""
    return await asyncio.to_thread(support, sentence, [as_read(s) for s in strips], question)


def support(sentence: str, evidence: Sequence[Passage], question: str = "") -> CheckResult:
    """Check one sentence against passages, each by itself.

    A sentence that stands in one word for word has a score of 1; of any other the score is the share of its words that
    the best window holds, 0 where something is missing there. A sentence without a word of the question is verified by
    what holds the question as well: an order that stands in a passage answers nothing. Nor does a link that was not
    asked for.
    """
    if not evidence:
        return CheckResult(False, 0.0, (), _NOTHING[-1])
    if not text.words(sentence):
        return CheckResult(False, 0.0, (), "It says nothing that could be checked.")
    if addresses_machines(sentence):
        return CheckResult(False, 0.0, (), "It repeats an order that a text gives to machines.")
    claim = _claim(sentence, question)
    if any(link.group() not in question for link in _LINKS.finditer(sentence)):
        return CheckResult(False, 0.0, (), "It names an address that was not asked for.")
    # Orders to assistants that stand in retrieved text support nothing.
    read = [Passage(p.title, without_orders(p.text)) for p in evidence]
    copied = tuple(i for i, p in enumerate(read) if not claim.asks and stands_in(sentence, p.text))
    if copied:
        return CheckResult(True, 1.0, copied, "", ((0, 0),) * len(copied))
    judged = [_judge_passage(claim, p) for p in read]
    by = sorted((i for i, (score, *_) in enumerate(judged) if score >= COVERED), key=lambda i: -judged[i][0])
    score, *_, why = max(judged, key=lambda j: _worth((j, 0)))
    windows = tuple(judged[i][2] for i in by)
    return CheckResult(bool(by), min(round(score, 4), _TOLD), tuple(by), "" if by else why, windows)


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


def _claim(sentence: str, question: str) -> _Claim:
    asked = set(text.terms(question))
    names = [(n, text.content_terms(n)) for n in dict.fromkeys([*text.names(sentence), *CAPITAL.findall(sentence)])]
    named = {t for _, parts in names for t in parts}
    stems = {t: _ASKED if t in asked and t not in named else 1.0 for t in text.content_terms(sentence)}
    compares = [w for w in text.words(sentence) if w in _COMPARES]
    order = tuple(t for t in text.terms(sentence) if t in stems)
    asks = bool(asked) and not asked & stems.keys()
    if asks:
        stems = dict.fromkeys(text.content_terms(question), 1.0) | stems
    return _Claim(stems, order, names, values(sentence), compares, bool(NEGATES.search(sentence)), asks)


def _worth(judged: tuple[_Judged, int]) -> tuple[float, float, int]:
    (score, covered, *_), length = judged
    return score if score >= COVERED else 0.0, covered, length


def _judge_passage(claim: _Claim, p: Passage) -> _Judged:
    """Judge a claim in the window that holds most of it; of windows that hold as much the shortest is cited."""
    whole = _whole(p)
    forms = {t: _forms_of(t, whole) for t in {*claim.stems, *(t for _, parts in claim.names for t in parts)}}
    # No window holds what the passage lacks.
    covered, why = _share(claim, forms, whole.stems), _lacks(claim, forms, whole)
    if why or covered < COVERED:
        return 0.0 if why else covered, covered, (0, 0), why or _COVERS.format(covered)
    judged = ((_judge(claim, forms, w), -w.length) for w in windows_of(p))
    return max(judged, key=_worth, default=(_NOTHING, 0))[0]


@lru_cache(maxsize=_KEPT)
def _whole(p: Passage) -> _Whole:
    said = f"{p.title}\n{p.text}"
    stems = frozenset(text.terms(said))
    return _Whole(stems, frozenset(text.words(said)), Counter(values(said)), sorted(stems))


def _judge(claim: _Claim, forms: _Forms, window: Window) -> _Judged:
    covered = _share(claim, forms, window.stems)
    if covered < COVERED:
        return covered, covered, window.place, _COVERS.format(covered)
    why = _lacks(claim, forms, window)
    if not why and claim.asks and window.length > 1:
        why = "No sentence of the evidence says it and what was asked."
    if not why and window.denies != {claim.denies}:
        why = "The evidence denies something else."
    if not why and (window.foreign & claim.stems.keys() or not (window.bound or _bound(claim, forms, window))):
        why = "The evidence gives a value of it to something else."
    return (0.0 if why else covered), covered, window.place, why


def _lacks(claim: _Claim, forms: _Forms, window: Window | _Whole) -> str:
    """Say what a window lacks of what must stand in it, or return ""."""
    for value, times in Counter(claim.values).items():
        if window.values[value] < times:
            return f"The number {value} is not in the evidence."
    for name, parts in claim.names:
        if any(forms[p].isdisjoint(window.stems) for p in parts):
            return f"The name {name} is not in the evidence."
    for word in claim.compares:
        if word not in window.words:
            return f"The evidence does not say “{word}”."
    return next((f"The evidence does not say “{t}”." for t in claim.order if counts(t) and t not in window.stems), "")


def _bound(claim: _Claim, forms: _Forms, window: Window) -> bool:
    """Tell whether the values of a claim belong in the window to what they belong to in the claim."""
    named = {t for _, parts in claim.names for t in parts}
    numbers = {t for t in claim.order if counts(t)}
    kinds = [numbers, named & window.names - numbers]
    if any(_follows([t for t in claim.order if t in kind], window.order) is None for kind in kinds):
        return False
    others = (window.numbers if kinds[0] else frozenset()) | (window.names if named else frozenset())
    foreign = [n for n, t in enumerate(window.order) if t in others and t not in claim.stems]
    foreign = [n for n in foreign if not _is_part(n, claim, window)]
    if not foreign:
        return True
    span = _follows(claim.order, window.order)
    if span is None:
        return False
    # What a title says may belong to all that follows it, and so not to what another value stands before.
    start = span[0] if _share(claim, forms, {*window.order}) >= COVERED and named <= set(window.order) else 0
    return not any(start <= n < span[1] for n in foreign)


def _is_part(at: int, claim: _Claim, window: Window) -> bool:
    """Tell whether a number of a window stands beside others of which the claim gives one: the day of a date, say."""
    run = [at]
    while run[0] and window.order[run[0] - 1] in window.numbers:
        run.insert(0, run[0] - 1)
    while run[-1] + 1 < len(window.order) and window.order[run[-1] + 1] in window.numbers:
        run.append(run[-1] + 1)
    return window.order[at] in window.numbers and any(window.order[n] in claim.stems for n in run)


def _follows(wanted: Sequence[str], order: Sequence[str]) -> tuple[int, int] | None:
    """Return [start, end) of stems that stand in a text in this order, those left out that it lacks; else None."""
    places, at = list[int](), 0
    for stem in wanted:
        if stem in order:
            if stem not in order[at:]:
                return None
            places.append(order.index(stem, at))
            at = places[-1] + 1
    return (places[0], at) if places else (0, len(order))


def _share(claim: _Claim, forms: _Forms, stems: Set[str]) -> float:
    """Return the share of a claim's words that are among these."""
    total = sum(claim.stems.values())
    return sum(w for t, w in claim.stems.items() if not forms[t].isdisjoint(stems)) / total if total else 1.0


def _forms_of(term: str, p: _Whole) -> frozenset[str]:
    """Return the stems of a passage that hold one: itself, and forms up to three letters away."""
    found = {term} & p.stems
    if len(term) >= _PREFIX and term.isascii() and term.isalpha():
        found |= {term[:-n] for n in (1, 2, 3) if len(term) - n >= _PREFIX} & p.stems
        for at in range(bisect_left(p.ordered, term), len(p.ordered)):
            if not p.ordered[at].startswith(term):
                break
            found |= {p.ordered[at]} if len(p.ordered[at]) - len(term) <= 3 else set()
    return frozenset(found)
