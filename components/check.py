"""Check an answer: one call of a model judges every sentence, and a verdict counts only if its grounds hold it.

A model proves that it was reading in three ways. Before it checks anything it passes an exam (`exam.py`);
each call carries a false and a true control sentence (`controls.py`); and the words that it copies must be in
a shown passage and hold what the sentence states (`grounds.py`). There is no second way to be verified.
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
from ragweave.components.verdicts import Said, ShownPassage, Verdict
from ragweave.models import tables
from ragweave.models.text import content_terms, terms

WHOLE = 3_000
"""Characters of a cited passage that the model reads whole; a longer one is cut around what the sentences say."""
PART = 1_000
"""Characters that it reads of a passage that no sentence cites: those around what the sentences say."""
OTHERS = (3, 5)
"""Passages that no sentence cites and that are read: at least, and at most if they are short."""
_OTHERS_LENGTH = 2_500
"""Characters of these passages together."""
_TRIES = 2
"""Calls for one answer: a second one with fresh controls if those of the first fail."""
_CUT = "[…]"
_LINK = re.compile(r"\b(?:https?://|www\.)[^\s)\]>”\"]+|\S+@\S+\.\w+", re.I)
_WORST: tuple[Said, ...] = ("contradicted", "disputed", "not stated", "follows", "about sources", "supported")
"""Of several verdicts on one sentence the first of these counts."""

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
        frame: it only frames the answer: the model reads it, and nothing in it is judged.
    """

    text: str
    cited: tuple[int, ...] = ()
    frame: bool = False


class CheckSource(NamedTuple):
    """A passage that an answer may rest on.

    Attributes:
        id: of the evidence.
        title: as a model reads it, with file and date.
        text: all of it.
        date: ISO date, or "".
        span: [start, end] in seconds, of a clip.
        memory: a model wrote it from what it knows: it supports nothing.
    """

    id: str
    title: str
    text: str
    date: str = ""
    span: tuple[float, float] | None = None
    memory: bool = False


class Mark(NamedTuple):
    """What the check says of one sentence.

    Attributes:
        support: the mark.
        rests: the words that decide it; of several passages if it takes them together.
        against: the words of another source that says otherwise.
        why: what its grounds do not hold, or "".
    """

    support: Support
    rests: tuple[Grounds, ...] = ()
    against: tuple[Grounds, ...] = ()
    why: str = ""


class CheckedAnswer(NamedTuple):
    """The marks of an answer, one a sentence; `void` says why none counts, or is ""."""

    marks: list[Mark]
    void: str = ""


NOT_CHECKED = Mark("unchecked")


async def check(
    run: RunContext, question: str, said: Sequence[Claim], sources: Sequence[CheckSource]
) -> CheckedAnswer:
    """Judge the sentences of an answer in one call, and once more if the control sentences of the call fail.

    Args:
        run: lends the model.
        question: what was asked.
        said: the whole answer, in its order.
        sources: what it may rest on, those that it cites first, the others by their rank in the search.
    """
    texts = [s.text for s in said]
    cited = [s.cited for s in said]
    shown = [
        ShownPassage(s.title, part) for s, part in zip(sources, _read(question, said, sources), strict=True)
    ]
    used: list[str] = []
    for attempt in range(_TRIES):
        laid = lay(question, shown, texts, cited, attempt, used)
        rows = await verdicts.ask(run, question, laid.passages, laid.sentences, laid.cited)
        if rows is None:
            return CheckedAnswer([NOT_CHECKED] * len(said), UNREAD)
        if laid.held(rows):
            own = zip(said, laid.own, strict=True)
            return CheckedAnswer([judged(s, rows.get(n, []), sources, question) for s, n in own])
        used += [control.text for control in laid.controls.values()]
    return CheckedAnswer([NOT_CHECKED] * len(said), FAILED)


def judged(claim: Claim, rows: Sequence[Verdict], sources: Sequence[CheckSource], question: str) -> Mark:
    """Return the mark that verdicts on a sentence come to; the worst of them counts."""
    if claim.frame or not rows:
        return NOT_CHECKED
    worst = next(said for said in _WORST if any(row.verdict == said for row in rows))
    if worst == "not stated":
        return Mark("unverified")
    if worst == "about sources":
        return NOT_CHECKED
    texts = [s.text for s in sources]
    found = [find(row.words, texts, row.passage) for row in rows if row.verdict == worst]
    rests = tuple(dict.fromkeys(g for g in found if g is not None))
    if worst == "contradicted":
        return (
            Mark("contradicted", rests, rests)
            if rests
            else Mark("unverified", why="no passage has the words")
        )
    if worst == "disputed":
        return _disputed(claim, rows, rests, sources, question)
    if not rests or (worst == "follows" and None in found):
        return Mark("unverified", why="no passage has the words")
    return _supported(claim, rests, sources, question, worst == "follows")


def _supported(
    claim: Claim, rests: tuple[Grounds, ...], sources: Sequence[CheckSource], question: str, follows: bool
) -> Mark:
    """Return verified if the words hold all that is stated, follows if arithmetic gives it, else not found."""
    if any(sources[g.passage - 1].memory for g in rests):
        return Mark("model")
    link = _foreign_link(claim.text, rests)
    if link:
        return Mark("unverified", why=link)
    text = _without_places(claim.text, [sources[g.passage - 1] for g in rests])
    passages = [(s.title, s.text) for s in sources]
    missing = lacking(text, rests, passages, question)
    if not missing and not follows:
        return Mark("verified", rests)
    missing = underivable(text, rests, passages, question)
    return Mark("unverified", why=missing) if missing else Mark("follows", rests)


def _without_places(text: str, sources: Sequence[CheckSource]) -> str:
    """Return a sentence without the clock times that are places within the recordings it rests on."""
    spans = [s.span for s in sources if s.span is not None]
    for written, at in times_in(text):
        if any(start - SLACK <= at <= end + SLACK for start, end in spans):
            text = text.replace(written, "")
    return text


def _foreign_link(text: str, rests: Iterable[Grounds]) -> str:
    """Return an address of a sentence that its grounds do not have letter by letter, or ""."""
    words = "\n".join(g.text for g in rests)
    links = (m.group().rstrip(".,;:!?") for m in _LINK.finditer(text))
    return next((link for link in links if link not in words), "")


def _disputed(
    claim: Claim,
    rows: Sequence[Verdict],
    rests: tuple[Grounds, ...],
    sources: Sequence[CheckSource],
    question: str,
) -> Mark:
    """Return disputed with the words of both sides; an older source never disputes what a newer one says."""
    texts = [s.text for s in sources]
    found = [find(row.says, texts, row.against) for row in rows if row.verdict == "disputed"]
    against = tuple(dict.fromkeys(g for g in found if g is not None and g not in rests))
    if not against:
        return Mark("unverified", why="no passage has the words that say otherwise")
    if rests and all(_older(g, rests, sources) for g in against):
        return _supported(claim, rests, sources, question, follows=False)
    return Mark("disputed", rests, against)


def _older(one: Grounds, others: Sequence[Grounds], sources: Sequence[CheckSource]) -> bool:
    """Tell whether a source is older than all others, as far as both have a date."""
    mine = sources[one.passage - 1].date
    theirs = [sources[g.passage - 1].date for g in others]
    return bool(mine) and all(mine < date for date in theirs)


def _read(question: str, said: Sequence[Claim], sources: Sequence[CheckSource]) -> list[str]:
    """Return what the model reads of each source: all of it, or of a long one what bears on the sentences."""
    out = []
    for n, source in enumerate(sources, 1):
        citing = [s.text for s in said if n in s.cited]
        limit = WHOLE if citing else PART
        if len(source.text) <= limit:
            out.append(source.text)
            continue
        out.append(cut(source.text, citing or [s.text for s in said], question, limit))
    return out


def cut(text: str, said: Sequence[str], question: str, limit: int) -> str:
    """Cut a text at the ends of sentences to at most `limit` characters, keeping what bears on what is said.

    Each sentence that is said keeps its best place first; rows stay below the heads of their columns.
    """
    spans = tables.spans(text)
    have = [set(terms(text[a:b])) for a, b in spans]
    kept: set[int] = set()
    left = limit
    for n in _by_worth(said, question, have):
        for near in (n, n - 1, n + 1):
            if 0 <= near < len(spans) and near not in kept:
                length = spans[near][1] - spans[near][0] + len(_CUT) + 2
                if length <= left:
                    kept.add(near)
                    left -= length
    parts: list[str] = []
    last = -1
    for n in sorted(kept):
        if n != last + 1:
            parts.append(_CUT)
            heads = tables.heads_above(text, spans[n][0])
            parts += [heads] if heads else []
        parts.append(text[slice(*spans[n])])
        last = n
    return "\n".join([*parts, _CUT] if last < len(spans) - 1 else parts)


def _by_worth(said: Sequence[str], question: str, have: Sequence[set[str]]) -> list[int]:
    """Return the numbers of parts, the best of each sentence in turns, then the next best of each."""
    asked = set(content_terms(question))
    rare = {
        t: 1 / (1 + sum(t in part for part in have)) for t in asked.union(*(content_terms(s) for s in said))
    }
    orders = []
    for sentence in said:
        wanted = set(content_terms(sentence))
        worth = [
            sum(rare[t] for t in part & wanted) + 0.3 * sum(rare[t] for t in part & asked) for part in have
        ]
        orders.append(sorted(range(len(have)), key=lambda n, worth=worth: (-worth[n], n)))  # type: ignore[misc]
    return list(dict.fromkeys(n for turn in zip(*orders, strict=True) for n in turn))


def others(ranked: Sequence[CheckSource], cited: Sequence[CheckSource]) -> list[CheckSource]:
    """Return the best passages that no sentence cites: three, or up to five if they are short."""
    known = [" ".join(s.text.split()) for s in cited]
    chosen: list[CheckSource] = []
    length = 0
    for source in ranked:
        flat = " ".join(source.text.split())
        if any(flat in text for text in known) or any(source.id == s.id for s in cited):
            continue
        length += min(len(source.text), PART)
        if len(chosen) >= OTHERS[0] and length > _OTHERS_LENGTH:
            break
        chosen.append(source)
        known.append(flat)
        if len(chosen) == OTHERS[1]:
            break
    return chosen
