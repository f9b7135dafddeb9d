"""Write an answer without a model: sentences of the evidence, a given choice, the timeline, or why there is none."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from string import ascii_uppercase

from ragweave.corpora.meta import guess_language
from ragweave.minds.chain import chain
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk, idf_of
from ragweave.minds.evidence import Strip
from ragweave.minds.looks import shown_by_look
from ragweave.minds.page import Page
from ragweave.minds.passages import as_seen, as_strip, reread
from ragweave.minds.phrases import as_heard, phrase
from ragweave.minds.recency import timeless
from ragweave.minds.small.answer.compare import weigh
from ragweave.minds.small.answer.conflict import Told, conflict
from ragweave.minds.small.answer.gather import at_edge, choose, edge_of
from ragweave.minds.small.answer.media import attributed, beside, named, plain
from ragweave.minds.small.answer.overview import overview
from ragweave.minds.small.answer.pictured import pictured
from ragweave.minds.small.answer.record import record
from ragweave.minds.small.answer.sentences import Extract, rank
from ragweave.minds.small.answer.spoken import answers, by_passage, is_recorded, passage
from ragweave.minds.small.answer.tell import tell
from ragweave.minds.small.answer.voices import voices
from ragweave.minds.small.choose import nearest, rests_on
from ragweave.minds.small.clauses import standing
from ragweave.minds.small.doubt import doubted, to_come
from ragweave.minds.small.question.asked import has_clause
from ragweave.minds.small.question.greeting import is_thanks
from ragweave.minds.small.question.several import several
from ragweave.minds.small.question.sides import sides
from ragweave.minds.small.question.tongue import foreign, native
from ragweave.minds.small.sibling import of_it
from ragweave.minds.small.tables.ask import Asked
from ragweave.minds.small.tables.tabled import Blank, tabled
from ragweave.minds.small.timeline import placeless, wants_whole
from ragweave.models.numerals import as_said
from ragweave.models.text import clip

ANSWERABLE = 0.4
"""How sure the small mind must be of its best sentence to answer with it; chosen on all that
docs/small-mind.md lists, so it is not held out."""
_QUOTE = 300
"""Characters of the closest sentence that are shown."""
RELEVANT, LIKELY = 0.0, 0.15
"""Relevance, and how sure of its sentence, at which a question with a relative clause is answered all the same: no one
sentence covers it."""
READ = 10
"""Items, best first over all rounds, whose sentences are read."""


async def write(desk: Desk, brief: Brief, page: Page) -> str:
    """Write what the small mind can answer; a page that a model began stays in its voice."""
    if page.sentences:
        return ""
    why = await _write(desk, brief, page)
    await _show_leads(desk, brief, page)
    await beside(desk, brief, page)
    return why


async def _show_leads(desk: Desk, brief: Brief, page: Page) -> None:
    """Show where it was found what a question only describes, where the answer is of that and cites something else.

    The answer has the first place: nothing is shown beyond as many sentences as it may have.
    """
    most = 1 if desk.context.answer_form == "short" else desk.context.sentences
    said = " ".join(
        [*(s.text for s in page.sentences), *(brief.rows[c.id]["text"] for c in page.citations if c.id in brief.rows)]
    )
    files = {c.locator.get("file") for c in page.citations}
    for hop in brief.hops if page.sentences else ():
        if most and len(page.sentences) >= most:
            return
        row = brief.rows.get(hop["lead"])
        value = hop["missing"].rpartition("? ")[2] if "? " in hop["missing"] else ""
        if row is None or not value or value not in said or row["locator"].get("file") in files:
            continue
        idf = await idf_of(desk, hop["missing"])
        for e in (await asyncio.to_thread(rank, hop["missing"], [as_strip(row)], idf))[:1]:
            page.show(e.told, "verified", [e.narrowed], 1.0)


async def _write(desk: Desk, brief: Brief, page: Page) -> str:
    if brief.choices and brief.strips:
        idf = await idf_of(desk, brief.question)
        return await state_choice(brief, page, await asyncio.to_thread(nearest, brief, idf))
    if await voices(desk, brief, page):
        return ""
    if brief.timeline is not None:
        return tell_timeline(desk, brief, page)
    if not brief.strips and not brief.searched:
        page.show(phrase("thanks" if is_thanks(brief.question) else "greeting", brief.question), "model", [], 1.0)
        return ""
    if (why := await record(desk, brief, page)) is not None:
        return why
    if await pictured(desk, brief, page):
        return ""
    if await _each(desk, brief, page):
        return ""
    # A table knows which column is asked of both, and which rows are added up.
    operation = Asked(brief.question).operation
    first = operation in ("difference", "sum", "mean")
    gave = await tabled(desk, brief, page) if first else False
    if gave is True:
        return ""
    barred = ""
    asked = standing(brief.question, brief.hops)
    # What tells of one that was found tells no sum of all that are described.
    if asked != brief.question and (not first or Asked(asked).operation == operation):
        rows = await reread(await desk.library(), asked, [*brief.rows.values()])
        best = max(e["relevance"] for e in rows)
        found = replace(brief, question=asked, rows={e["id"]: e for e in rows}, best=best)
        filled = await tabled(desk, found, page)
        if filled is True or not (barred := await _extract(desk, found, page, False, True, blank=filled or None)):
            return ""
    if await weigh(desk, brief, page):
        return ""
    gave = gave if first else await tabled(desk, brief, page)
    if gave is True or await overview(desk, brief, page):
        return ""
    why = await _extract(desk, brief, page, barred=barred, blank=gave or None)
    show_pictures(brief, page)
    told = await foreign(desk, brief, page)
    return f"{why}; {told}" if told else why


async def _each(desk: Desk, brief: Brief, page: Page) -> bool:
    """Answer what is asked at once one by one, and name what stays open; tell whether anything was answered."""
    parts = several(brief.question)
    if len(parts) == 1 or not all(map(plain, parts)):
        return False
    left = []
    for part in parts:
        alone = replace(brief, question=part)
        gave = await tabled(desk, alone, page)
        if gave is not True and await _extract(desk, alone, page, closest=False, blank=gave or None):
            left.append(part)
    for part in left if page.sentences else []:
        desk.note(phrase("open", brief.question, part=part))
    return bool(page.sentences)


async def state_choice(brief: Brief, page: Page, at: int) -> str:
    """Show the given answer number `at` under its letter, with what it rests on."""
    choice = brief.choices[at]
    rests, confidence = await asyncio.to_thread(rests_on, brief, choice)
    page.show(f"{ascii_uppercase[at]}. {choice}", "verified", rests, confidence, f"{brief.question} {choice}")
    return ""


def tell_timeline(desk: Desk, brief: Brief, page: Page) -> str:
    """Say what the timeline says: what was counted, or a quotation of what was said, so it needs no check."""
    assert brief.timeline is not None
    for row in tell(brief.timeline, brief.question, desk.context.few):
        page.show(row.text, "verified", row.rests, 1.0)
    return phrase("unmentioned", brief.question, thing=brief.timeline["thing"])


async def say_nothing(desk: Desk, brief: Brief) -> str:
    """Say why nothing can be answered where no evidence was kept."""
    if not await desk.held():
        return phrase("empty", brief.question)
    best = next(iter(readable(brief)), None)
    return phrase("weak", brief.question, title=best["title"]) if best else phrase("nothing", brief.question)


def show_pictures(brief: Brief, page: Page) -> None:
    """Show the pictures that match by their look, where no text carries an answer; nothing is claimed of them."""
    found = [] if page.sentences else shown_by_look([*brief.rows.values()])
    if found:
        titles = ", ".join(f"“{title}”" for title in dict.fromkeys(e["title"] for e in found))
        rests = [Strip(**{**as_strip(e), "text": ""}) for e in found]
        confidence = (1 + found[0].get("looks", 0.0)) / 2
        page.show(phrase("by_look", brief.question, titles=titles), "verified", rests, confidence)


def readable(brief: Brief) -> list[Strip]:
    """Return what all rounds kept, whole, and of the web as it was cut; where nothing was kept, all that was found."""
    # The whole of a recording is a summary: its clips hold the facts, and without them nothing does.
    summaries = {e["id"] for e in brief.rows.values() if e["corpus"] == "video"}
    if summaries >= brief.rows.keys() and wants_whole(brief.question):
        summaries = set()
    own = [s for s in brief.own if s["evidence"] not in summaries]
    kept = {s["evidence"] for s in own}
    rows = [e for e in brief.rows.values() if e["origin"] == "library" and (e["id"] in kept or not own)]
    rows = [e for e in rows if e["id"] not in summaries]
    best = sorted(rows, key=lambda e: (-e.get("global_score", 0.0), -e["relevance"], e["id"]))[:READ]
    texts = {e["id"]: e["text"] for e in best}
    # A later round scores what it finds again against its own query: what answered the first one stays relevant.
    score = {e["id"]: max([e["relevance"], *(s["score"] for s in own if s["evidence"] == e["id"])]) for e in best}
    return [
        *(Strip(**{**s, "score": score[e["id"]]}) for e in best for s in (as_strip(e), *as_seen(e))),
        *(s for s in own if s["text"] not in texts.get(s["evidence"], "")),
    ]


async def _extract(
    desk: Desk,
    brief: Brief,
    page: Page,
    closest: bool = True,
    filled: bool = False,
    barred: str = "",
    blank: Blank | None = None,
) -> str:
    """Show the sentence that answers, and what adds to it; where that is not sure, cite it as the closest.

    What did not answer the question with its description `filled` in (`barred`) does not answer it as it was asked.
    Where a table leaves `blank` what is asked, only what names its row can tell it.
    """
    told = await attributed(desk, brief.question)
    strips = told or readable(brief)
    question = timeless(brief.question, datetime.now(UTC))
    if strips and all(map(is_recorded, strips)):
        question = as_said(placeless(question), (s["text"] for s in strips))
    idf = await idf_of(desk, question)
    linked = chain(question, [e for e in brief.rows.values() if e["origin"] != "model"], brief.hops)
    ranked = await asyncio.to_thread(rank, question, strips, idf, linked, brief.best)
    if (english := native(question)) != question:
        able = [s for s in strips if guess_language(s["text"]) in ("en", "")]
        theirs = await asyncio.to_thread(rank, english, able, await idf_of(desk, english), linked, brief.best)
        if theirs and theirs[0].sure > ranked[0].sure:
            ranked, question = theirs, english
    if (edge := edge_of(brief.question)) is not None:
        timed = await asyncio.to_thread(rank, edge[0], strips, idf, linked, brief.best)
        if timed and (lead := at_edge(timed, edge[1])):
            ranked, question = lead, edge[0]
    ranked = [e for e in ranked if _fills(blank, e)]
    if not ranked:
        return _leave(brief, page, blank, closest) if blank else await say_nothing(desk, brief)
    if is_recorded(ranked[0].strip):
        ranked = by_passage(ranked, question, idf)
    recorded = is_recorded(ranked[0].strip)  # by what is said around it, a text may lead after all
    least = desk.context.method.answerable
    best = ranked[0]
    whole = await passage(desk, best, question, idf) if recorded else None
    # Of two media that are named the other one is shown beside it, and nothing that neither says.
    limit = 1 if desk.context.answer_form == "short" or len(named(question)) > 1 else desk.context.few
    chosen = choose(ranked, question, idf, limit)
    own = of_it(question, chosen)
    if own[:1] != chosen[:1]:
        # What is told of another thing does not lead where this one is told of as well.
        best, ranked = own[0], [own[0], *(e for e in ranked if e not in chosen)]
    chosen = own
    around = whole["text"] if whole is not None else ""
    doubt = doubted(question, best, chosen, filled, around) or clip(best.quoted, _QUOTE) in barred
    enough = (
        answers(best, whole, question, idf)
        if whole is not None and least is None
        else best.sure >= (ANSWERABLE if least is None else least)
    )
    # What every round found irrelevant may be the closest, and answers nothing.
    enough = enough or (has_clause(question) and brief.best >= RELEVANT and best.sure >= LIKELY)
    if not ((brief.own or told) and enough and not doubt) or sides(question):
        if blank is not None:
            return _leave(brief, page, blank, closest)
        place = page.note(best.narrowed).locator if closest else best.strip["locator"]
        said = as_heard(clip(best.quoted, _QUOTE), place)
        return phrase("closest", brief.question, title=best.strip["title"], text=said)
    kept = {s["evidence"] for s in strips}
    rest = [as_strip(e) for e in brief.rows.values() if e["id"] not in kept and e["origin"] == "library"]
    others = [e for e in await asyncio.to_thread(rank, question, rest, idf) if _fills(blank, e)]
    # What one source says is asked of it alone.
    rivals = [e for e in (*ranked, *others) if not to_come(question, e.told)]
    differ = None if told else conflict(question, rivals, brief.rows)
    if differ is not None:
        _tell_both(desk, brief, page, differ)
        return ""
    if whole is not None and desk.context.answer_form != "short":
        page.show(whole["text"], "verified", [whole], best.sure)
        return ""
    for e in chosen:
        if any(e.text in s.text for s in page.sentences):
            continue  # an earlier part of the question was told by it
        shown = any(s.text and e.told.startswith(s.text) for s in page.sentences)
        page.show(e.text if shown else e.told, "verified", [e.narrowed], e.sure)
    return ""


def _fills(blank: Blank | None, e: Extract) -> bool:
    return blank is None or blank.fills(e.strip, e.strip["text"][e.start : e.end], e.told)


def _leave(brief: Brief, page: Page, blank: Blank, cite: bool) -> str:
    """Say that a table has a place for what is asked and leaves it blank, and cite the row."""
    if cite:
        page.note(blank.row)
    return phrase("blank", brief.question, title=blank.row["title"], text=blank.text)


def _tell_both(desk: Desk, brief: Brief, page: Page, told: Told) -> None:
    """Show two sentences that differ: the newer one and where the other stands, or each by its origin."""
    sides = sorted((told.first, told.other), key=lambda e: e.strip["origin"])
    if sides[0].strip["origin"] != sides[1].strip["origin"]:
        for e in sides:
            page.show(phrase(e.strip["origin"], brief.question, text=e.text), "verified", [e.narrowed], e.sure)
        desk.note(phrase("both", brief.question))
        return
    page.show(told.first.told, "verified", [told.first.narrowed], told.first.sure)
    slots = {"text": told.other.quoted, "title": told.other.strip["title"]}
    page.show(phrase(told.how, brief.question, **slots), "verified", [told.other.narrowed], told.other.sure)
