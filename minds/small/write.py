"""Write an answer without a model: sentences of the evidence, a given choice, the timeline, or why there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from string import ascii_uppercase

from ragweave.minds.chain import chain
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk
from ragweave.minds.evidence import Strip
from ragweave.minds.looks import shown_by_look
from ragweave.minds.page import Page
from ragweave.minds.passages import as_strip
from ragweave.minds.phrases import phrase
from ragweave.minds.recency import timeless
from ragweave.minds.small.choose import nearest, rests_on
from ragweave.minds.small.conflict import conflict
from ragweave.minds.small.greeting import is_thanks
from ragweave.minds.small.overview import overview
from ragweave.minds.small.sentences import choose, rank, with_context, with_premise
from ragweave.minds.small.tables import work
from ragweave.minds.small.tell import tell
from ragweave.minds.small.timeline import placeless
from ragweave.minds.small.tongue import foreign
from ragweave.models.text import content_terms

ANSWERABLE = -0.3
"""Relevance to the question itself that something found must reach before it is answered from; read off the answerable
and the absent questions of docs/evaluation.md."""
ANSWERABLE_RECORDED = -0.9
"""The same for recordings: what was said or shown is seldom put into sentences (docs/video.md)."""


async def write(desk: Desk, brief: Brief, page: Page) -> str:
    """Write what the small mind can answer; a page that a model began stays in its voice."""
    if page.sentences:
        return ""
    if brief.choices and brief.strips:
        idf = await idf_of(desk, brief.question)
        return await state_choice(brief, page, await asyncio.to_thread(nearest, brief, idf))
    if brief.timeline is not None:
        return tell_timeline(desk, brief, page)
    if not brief.strips and not brief.searched:
        page.show(phrase("thanks" if is_thanks(brief.question) else "greeting", brief.question), "model", [], 1.0)
        return ""
    if await work(desk, brief, page) or await overview(desk, brief, page):
        return ""
    why = await (_extract(desk, brief, page) if brief.strips else say_nothing(desk, brief))
    show_pictures(brief, page)
    told = await foreign(desk, brief, page)
    return f"{why}; {told}" if told else why


async def idf_of(desk: Desk, question: str) -> Callable[[str], float]:
    """Return how rare the question's terms are in the library."""
    table = await (await desk.library()).idf(content_terms(question))
    return lambda term: table.get(term, 1.0)


async def state_choice(brief: Brief, page: Page, at: int) -> str:
    """Show the given answer number `at` under its letter, with what it rests on."""
    choice = brief.choices[at]
    rests, confidence = await asyncio.to_thread(rests_on, brief, choice)
    page.show(f"{ascii_uppercase[at]}. {choice}", "verified", rests, confidence, f"{brief.question} {choice}")
    return ""


def tell_timeline(desk: Desk, brief: Brief, page: Page) -> str:
    """Say what the timeline says: what was counted, or a quotation of what was said, so it needs no check."""
    assert brief.timeline is not None
    for row in tell(brief.timeline, brief.question, desk.context.sentences):
        page.show(row.text, "verified", row.rests, 1.0)
    return phrase("unmentioned", brief.question, thing=brief.timeline["thing"])


async def say_nothing(desk: Desk, brief: Brief) -> str:
    """Say why nothing can be answered where no evidence was kept."""
    if not await desk.held():
        return phrase("empty", brief.question)
    rows = [e for e in brief.rows.values() if e["origin"] == "library"]
    best = max(rows, key=lambda e: (e["relevance"], e["id"]), default=None)
    return phrase("weak", brief.question, title=best["title"]) if best else phrase("nothing", brief.question)


def show_pictures(brief: Brief, page: Page) -> None:
    """Show the pictures that match by their look, where no text carries an answer; nothing is claimed of them."""
    found = [] if page.sentences else shown_by_look([*brief.rows.values()])
    if found:
        titles = ", ".join(f"“{title}”" for title in dict.fromkeys(e["title"] for e in found))
        rests = [Strip(**{**as_strip(e), "text": ""}) for e in found]
        confidence = (1 + found[0].get("looks", 0.0)) / 2
        page.show(phrase("by_look", brief.question, titles=titles), "verified", rests, confidence)


def _answerable(desk: Desk, strips: Sequence[Strip]) -> float:
    if desk.context.method.answerable is not None:
        return desk.context.method.answerable
    best = max(strips, key=lambda s: (s["score"], s["id"]))
    return ANSWERABLE_RECORDED if best["locator"].get("kind") == "time" else ANSWERABLE


def closest(strips: Sequence[Strip]) -> str:
    """Return the title of the strip that is most relevant."""
    return max(strips, key=lambda s: (s["score"], s["id"]))["title"]


async def _extract(desk: Desk, brief: Brief, page: Page) -> str:
    """Show the best supported sentences, or say why where the best strip does not carry an answer."""
    own = brief.own
    if not own:
        return phrase("nothing", brief.question)
    if brief.best < _answerable(desk, own):
        return phrase("weak", brief.question, title=closest(own))
    question = timeless(brief.question, datetime.now(UTC))
    if all(s["locator"].get("kind") == "time" for s in own):
        question = placeless(question)
    idf = await idf_of(desk, question)
    linked = chain(question, [e for e in brief.rows.values() if e["origin"] != "model"], brief.hops)
    ranked = await asyncio.to_thread(rank, question, own, idf, linked)
    if sides := conflict(brief.question, ranked):
        # Both are sentences of their evidence word for word, each under its name: nothing else is said.
        for e in sides:
            text = phrase(e.strip["origin"], brief.question, text=e.text)
            page.show(text, "verified", [e.narrowed], (1 + e.strip["score"]) / 2)
        desk.note("Your library and the web answer this differently; both are shown.")
        return ""
    limit = 1 if desk.context.answer_form == "short" else desk.context.sentences
    chosen = with_premise(choose(ranked, question, idf, limit), ranked, linked.led, question, limit)
    for e in with_context(chosen, limit):
        await page.offer(e.text, [e.strip], rests=[e.narrowed], confidence=(1 + e.strip["score"]) / 2)
    return phrase("unsupported", brief.question)
