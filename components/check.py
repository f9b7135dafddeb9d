"""Check an answer: one model call judges every sentence, and a verdict counts only if its grounds support it.

A model must prove in three ways that it reads. It passes an exam before it checks anything (`exam.py`). Each
call contains a false and a true control sentence (`controls.py`). The words that it copies must be in a shown
passage and state what the sentence states (`grounds.py`). Nothing else makes a sentence verified.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ragweave.components import verdicts
from ragweave.components.controls import lay
from ragweave.components.evidence import Support
from ragweave.components.grounds import Grounds, find, lacking, underivable
from ragweave.components.references import SLACK, times_in
from ragweave.components.run_context import RunContext
from ragweave.components.sentence_cut import cut
from ragweave.components.verdicts import Said, ShownPassage, Verdict

WHOLE = 3_000
"""Characters of a cited passage that the model reads; a longer one is cut around what the sentences state."""
PART = 1_000
"""Characters that it reads of a passage that no sentence cites, around what the sentences state."""
OTHERS = (3, 5)
"""Passages without a citation that the model reads: at least, and at most if they are short."""
_OTHERS_LENGTH = 2_500
"""Characters of these passages together."""
_TRIES = 2
"""Calls for one answer: a second one with fresh controls if those of the first fail."""
_LINK = re.compile(r"\b(?:https?://|www\.)[^\s)\]>”\"]+|\S+@\S+\.\w+", re.I)
_WORST: tuple[Said, ...] = ("contradicted", "disputed", "not stated", "follows", "about sources", "supported")
"""Verdicts from the worst to the best; of several on one sentence the worst counts."""

FAILED = (
    "The model that checks answers failed its control sentences twice; the sentences of this answer are not"
    " checked."
)
UNREAD = "The verdicts of the model that checks answers could not be read; this answer is not checked."


class Claim(NamedTuple):
    """A sentence of an answer.

    Attributes:
        text: the sentence, without marks.
        cited: numbers of the sources that it cites, from 1.
        frame: whether it only frames the answer: the model reads it, but does not judge it.
    """

    text: str
    cited: tuple[int, ...] = ()
    frame: bool = False


class CheckSource(NamedTuple):
    """A passage that may support an answer.

    Attributes:
        id: of the evidence.
        title: as a model reads it, with file and date.
        text: all of it.
        date: ISO date, or "".
        span: [start, end] in seconds, of a clip.
        memory: whether a model wrote it from memory; then it supports nothing.
    """

    id: str
    title: str
    text: str
    date: str = ""
    span: tuple[float, float] | None = None
    memory: bool = False


class Mark(NamedTuple):
    """The result of the check of one sentence.

    Attributes:
        support: the mark.
        rests: the words that decide it, from several passages if it needs them together.
        against: the words of a source that contradicts them.
        why: the part of the sentence that its grounds lack, or "".
    """

    support: Support
    rests: tuple[Grounds, ...] = ()
    against: tuple[Grounds, ...] = ()
    why: str = ""


class CheckedAnswer(NamedTuple):
    """The marks of an answer, one per sentence; `void` is the reason if none counts, or ""."""

    marks: list[Mark]
    void: str = ""


NOT_CHECKED = Mark("unchecked")
_NO_WORDS = Mark("unverified", why="no passage has the words")


async def check(
    run: RunContext, question: str, said: Sequence[Claim], sources: Sequence[CheckSource]
) -> CheckedAnswer:
    """Judge the sentences of an answer in one call, and once more if its control sentences fail.

    Args:
        run: provides the model.
        question: question of the turn.
        said: the whole answer, in its order.
        sources: passages that may support it: cited ones first, then the others by search rank.
    """
    cited = [claim.cited for claim in said]
    texts = _texts(said)
    shown = _shown(question, said, sources)
    used: list[str] = []
    for attempt in range(_TRIES):
        laid = lay(question, shown, texts, cited, attempt, used)
        rows = await verdicts.ask(run, question, laid.passages, laid.sentences, laid.cited)
        if rows is None:
            return CheckedAnswer([NOT_CHECKED] * len(said), UNREAD)
        if laid.held(rows):
            marks: list[Mark] = []
            for claim, number in zip(said, laid.own, strict=True):
                marks.append(judged(claim, rows.get(number, []), sources, question))
            return CheckedAnswer(marks)
        for control in laid.controls.values():
            used.append(control.text)
    return CheckedAnswer([NOT_CHECKED] * len(said), FAILED)


def judged(claim: Claim, rows: Sequence[Verdict], sources: Sequence[CheckSource], question: str) -> Mark:
    """Return the mark of a sentence by the worst of its verdicts."""
    if claim.frame or not rows:
        return NOT_CHECKED
    worst = _worst(rows)
    if worst == "not stated":
        return Mark("unverified")
    if worst == "about sources":
        return NOT_CHECKED
    texts = _texts(sources)
    rests: dict[Grounds, None] = {}
    missed = False
    for row in rows:
        if row.verdict == worst:
            grounds = find(row.words, texts, row.passage)
            if grounds is None:
                missed = True
            else:
                rests[grounds] = None
    decisive = tuple(rests)
    if worst == "disputed":
        return _disputed(claim, rows, decisive, sources, question)
    if not decisive:
        return _NO_WORDS
    if worst == "contradicted":
        return Mark("contradicted", decisive, decisive)
    if worst == "follows" and missed:
        return _NO_WORDS
    return _supported(claim, decisive, sources, question, worst == "follows")


def _texts(given: Iterable[Claim | CheckSource | Grounds]) -> list[str]:
    return [one.text for one in given]


def _worst(rows: Iterable[Verdict]) -> Said:
    """Return the worst verdict of several."""
    worst = len(_WORST) - 1
    for row in rows:
        worst = min(worst, _WORST.index(row.verdict))
    return _WORST[worst]


def _supported(
    claim: Claim, rests: tuple[Grounds, ...], sources: Sequence[CheckSource], question: str, follows: bool
) -> Mark:
    """Return verified if the words state everything, follows if arithmetic derives it, else unverified."""
    found: list[CheckSource] = []
    for grounds in rests:
        source = sources[grounds.passage - 1]
        if source.memory:
            return Mark("model")
        found.append(source)
    link = _foreign_link(claim.text, rests)
    if link:
        return Mark("unverified", why=link)
    text = _without_places(claim.text, found)
    passages = [(s.title, s.text) for s in sources]
    missing = lacking(text, rests, passages, question)
    if not missing and not follows:
        return Mark("verified", rests)
    missing = underivable(text, rests, passages, question)
    return Mark("unverified", why=missing) if missing else Mark("follows", rests)


def _without_places(text: str, sources: Sequence[CheckSource]) -> str:
    """Return a sentence without the clock times that lie within the recordings that support it."""
    for written, at in times_in(text):
        for source in sources:
            if source.span is not None and source.span[0] - SLACK <= at <= source.span[1] + SLACK:
                text = text.replace(written, "")
                break
    return text


def _foreign_link(text: str, rests: Iterable[Grounds]) -> str:
    """Return a web or mail address of a sentence that its grounds lack, or ""."""
    words = "\n".join(_texts(rests))
    for m in _LINK.finditer(text):
        link = m.group().rstrip(".,;:!?")
        if link not in words:
            return link
    return ""


def _disputed(
    claim: Claim,
    rows: Sequence[Verdict],
    rests: tuple[Grounds, ...],
    sources: Sequence[CheckSource],
    question: str,
) -> Mark:
    """Return disputed with the words of both sides; an older source never disputes a newer one."""
    texts = _texts(sources)
    against: dict[Grounds, None] = {}
    for row in rows:
        if row.verdict == "disputed":
            grounds = find(row.says, texts, row.against)
            if grounds is not None and grounds not in rests:
                against[grounds] = None
    if not against:
        return Mark("unverified", why="no passage has the words that say otherwise")
    if rests and _all_older(against, rests, sources):
        return _supported(claim, rests, sources, question, follows=False)
    return Mark("disputed", rests, tuple(against))


def _all_older(against: Iterable[Grounds], rests: Sequence[Grounds], sources: Sequence[CheckSource]) -> bool:
    """Return whether the sources of one side have dates, all before the dates of the other side."""
    for grounds in against:
        date = sources[grounds.passage - 1].date
        for other in rests:
            if not date or date >= sources[other.passage - 1].date:
                return False
    return True


def _shown(question: str, said: Sequence[Claim], sources: Sequence[CheckSource]) -> list[ShownPassage]:
    """Return what the model reads of each source: all of it, or of a long one what bears on the sentences."""
    texts = _texts(said)
    shown: list[ShownPassage] = []
    for n, source in enumerate(sources, 1):
        citing: list[str] = []
        for claim in said:
            if n in claim.cited:
                citing.append(claim.text)
        limit = WHOLE if citing else PART
        text = source.text
        if len(text) > limit:
            text = cut(text, citing or texts, question, limit)
        shown.append(ShownPassage(source.title, text))
    return shown


def others(ranked: Sequence[CheckSource], cited: Sequence[CheckSource]) -> list[CheckSource]:
    """Return the best passages that no sentence cites: three, or up to five if they are short."""
    ids: set[str] = set()
    known: list[str] = []
    for source in cited:
        ids.add(source.id)
        known.append(_one_line(source.text))
    chosen: list[CheckSource] = []
    length = 0
    for source in ranked:
        flat = _one_line(source.text)
        if source.id in ids or any(flat in text for text in known):
            continue
        length += min(len(source.text), PART)
        if len(chosen) >= OTHERS[0] and length > _OTHERS_LENGTH:
            break
        chosen.append(source)
        known.append(flat)
        if len(chosen) == OTHERS[1]:
            break
    return chosen


def _one_line(text: str) -> str:
    return " ".join(text.split())
