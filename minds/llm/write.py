"""Write an answer with a language model: prose sentence by sentence as it streams, or the letter of a given choice."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from string import ascii_uppercase
from typing import cast

from ragweave.corpora.web.plain import one_line
from ragweave.minds.closing import nothing_found, show_pictures
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk
from ragweave.minds.evidence import Evidence, Origin, Reply, Strip
from ragweave.minds.llm.look import look_at, sees, showing, viewer
from ragweave.minds.llm.prose import LEFT, Room, as_shown, complete_sentences, long, plain, sign, split, tell
from ragweave.minds.llm.reason import today
from ragweave.minds.llm.turn import unknown
from ragweave.minds.looks import worth_a_look
from ragweave.minds.page import Page
from ragweave.minds.passages import as_read, as_strip, best_window, evidence_of, headed, untitled
from ragweave.minds.phrases import weak
from ragweave.minds.small.check import support
from ragweave.models.errors import RagweaveError
from ragweave.models.text import content_terms, terms
from ragweave.prompts import load, quote

_CLOSEST = 3
"""Items that an answer of "not known" names."""
_UNSURE = 0.3
"""Confidence in a choice that the check does not find in the evidence."""
_WHY = 400
"""Characters of a model's reason why it is not known."""
_LETTER = re.compile(r"\W*([A-Z])(?![\w'’])(?!\s+[^\W\d_A-Z])")
"""A letter that begins an answer, and is not the word `A` or `I` of a sentence."""
CHARS_A_TOKEN = 3
"""Characters that a token is counted as, on the safe side."""
_FEW_WORDS = "a few words: the name, number or phrase alone, no sentence around it"
HEADINGS: dict[Origin, str] = {
    "library": "Knowledge from your library:",
    "web": "Knowledge from the web, written by strangers:",
    "model": "Written down from a model's memory, without a source:",
}
"""Headings under which a writer sees evidence, in this order (CRAG, section 4.5)."""


async def write(desk: Desk, brief: Brief, page: Page) -> str | None:
    """Write what the model can answer; None where it wrote nothing that can be used."""
    if brief.choices and brief.strips:
        return await _choose(desk, brief, page)
    reply = brief.reply
    if reply is not None and not (unknown(reply["text"]) is not None and pictured(desk, brief)):
        why = await _carry(desk, brief, page, reply)
    elif not brief.strips and not brief.searched:
        why = await _converse(desk, brief, page)
    else:
        why = await (_prose(desk, brief, page) if brief.strips else nothing_found(desk))
        if reply is not None and not page.sentences:  # pictures were looked at, and what it had said still holds
            why = await _carry(desk, brief, page, reply)
    if why is None:
        desk.note("The chat model gave no answer that can be used; what is shown is quoted from the library.")
    else:
        show_pictures(brief, page)
    return why


async def _carry(desk: Desk, brief: Brief, page: Page, reply: Reply) -> str | None:
    """Show what the reasoning turn answered; say why, where it said that the answer is not known."""
    if (why := unknown(reply["text"])) is not None:
        rows = (brief.rows[i] for i in reply["shown"] if i in brief.rows)
        titles = [*dict.fromkeys(f"“{e['title']}”" for e in rows)][:_CLOSEST]
        if not titles:
            return why or await nothing_found(desk)
        if not why:
            return weak(titles[0].strip("“”"))
        return f"{one_line(plain(why), _WHY)} The closest items found: {', '.join(titles)}."
    cited = [[s for s in brief.strips if s["evidence"] == i] for i in reply["shown"]]
    room = Room(desk.context.longest)
    for raw in split(reply["text"]):
        if not room.takes(raw):
            desk.note(LEFT)
            break
        await tell(raw, cited, page)
    await page.close()
    return "" if page.sentences else None


async def _choose(desk: Desk, brief: Brief, page: Page) -> str | None:
    if brief.reply is not None and (at := _lettered(plain(brief.reply["text"]), brief.choices)) is not None:
        return await _state_choice(brief, page, at)
    letters = list(ascii_uppercase[: len(brief.choices)])
    lines = [f"{letter}. {' '.join(c.split())}" for letter, c in zip(letters, brief.choices, strict=True)]
    shown = labelled(by_origin(grouped(desk, brief)), brief.rows)
    messages = load("choose", question=brief.question, choices="\n".join(lines), evidence=shown)
    label = await desk.label(messages, letters, "writer")
    return None if label is None else await _state_choice(brief, page, letters.index(label))


async def _state_choice(brief: Brief, page: Page, at: int) -> str:
    """Show the given answer number `at` under its letter, with what it rests on: what supports it, or is nearest."""
    choice, strips = brief.choices[at], brief.own or brief.strips
    verdict = await asyncio.to_thread(support, choice, [as_read(s) for s in strips], brief.question)
    own = set(content_terms(f"{brief.question} {choice}"))
    nearest = max(strips, key=lambda s: (len(own & set(terms(s["text"]))), s["score"]))
    rests = [strips[i] for i in verdict.by[:2]] or [nearest]
    confidence = verdict.score if verdict.supported else _UNSURE
    page.show(f"{ascii_uppercase[at]}. {choice}", "verified", rests, confidence, f"{brief.question} {choice}")
    return ""


def _lettered(text: str, choices: Sequence[str]) -> int | None:
    """Return the number of the choice that an answer names by its letter, or by its words alone."""
    found = _LETTER.match(text)
    if found and (at := ascii_uppercase.index(found[1])) < len(choices):
        return at
    said = [n for n, c in enumerate(choices) if c.casefold() in text.casefold()]
    return said[0] if len(said) == 1 else None


async def _converse(desk: Desk, brief: Brief, page: Page) -> str | None:
    async for sentence in complete_sentences(desk.stream(load("converse", question=brief.question))):
        if text := as_shown(sentence):
            page.show(text, "model", [], 0.5, sign=sign(sentence))
    return "" if page.sentences else None


async def _prose(desk: Desk, brief: Brief, page: Page) -> str | None:
    """Stream prose; a sentence is offered once it is complete, with what it cites."""
    beside = await _chunks(desk, brief)
    rows = await whole(desk, by_origin([*grouped(desk, brief), *([as_strip(e)] for e in beside)]), brief)
    # Frames that the reasoning turn was shown are not sent again.
    films = brief.reply is None or not sees(desk, "reasoner")
    rows, pictures = await look_at(desk, brief.question, rows, brief.rows, brief.lower, films)
    shown = labelled(rows, {**{e["id"]: e for e in beside}, **brief.rows}) + pictures.told
    length = _FEW_WORDS if desk.context.answer_form == "short" else long(desk.context.sentences)
    messages = load("generate", today=today(), question=brief.question, evidence=shown, length=length)
    room, written, why = Room(desk.context.longest), 0, ""
    try:
        async with aclosing(showing(desk, messages, pictures, "writer")) as parts:
            async for raw in complete_sentences(parts):
                text = as_shown(raw)
                fits = room.takes(raw)
                if text.strip(" .!").upper() == "UNKNOWN":
                    why = why or weak(_nearest(brief.strips))
                elif not fits:
                    desk.note(LEFT)
                    break
                elif text:
                    written += 1
                    await tell(raw, rows, page)
    except RagweaveError as error:
        if not written:
            raise
        desk.cut_short(error, "writer")
    await page.close()
    return why if page.sentences or why else None


async def whole(desk: Desk, rows: Sequence[list[Strip]], brief: Brief) -> list[list[Strip]]:
    """Read documents whole, up to the token budget: each its share of it, and of a longer one the best stretch."""
    held = {i: e for i, e in brief.rows.items() if e["corpus"] == "document" and e["origin"] == "library"}
    wanted = [row[0]["evidence"] for row in rows if row[0]["evidence"] in held]
    if not wanted:
        return [*rows]
    items = await (await desk.library()).items(wanted)
    share = desk.context.method.turn_tokens * CHARS_A_TOKEN // len(wanted)
    out = []
    for row in rows:
        if (item := items.get(row[0]["evidence"])) is not None:
            start, end = best_window(item.text, brief.question, share)
            start = max(0, min(start - (share - (end - start)) // 2, len(item.text) - share))
            text = item.text[start : start + share]
            strip = {**row[0], "id": f"{item.id}#{start}-{start + len(text)}", "text": text, "locator": item.locator}
            row = [cast(Strip, strip), *(s for s in row if "~seen#" in s["id"])]
        out.append(row)
    return out


async def _chunks(desk: Desk, brief: Brief) -> list[Evidence]:
    """Return the clips of the chunks that are read beside the strips (VideoRAG, section 3.3), without their own."""
    own = {s["evidence"] for s in brief.strips}
    wanted = [i for i in brief.chunks if i not in own]
    items = await (await desk.library()).items(wanted) if wanted else {}
    return [evidence_of(items[i], brief.question, 1, 0.0, 0.0) for i in wanted if i in items]


def _nearest(strips: Sequence[Strip]) -> str:
    """Return the title of the strip that is most relevant."""
    return max(strips, key=lambda s: (s["score"], s["id"]))["title"]


def pictured(desk: Desk, brief: Brief) -> bool:
    """Tell whether a vision model could look at pictures among the evidence that are worth it."""
    own = brief.own
    wanted = {s["evidence"] for s in own if s["locator"].get("kind") == "image" and s["locator"].get("image")}
    shown = [brief.rows[i] for i in {s["evidence"] for s in own} if i in brief.rows]
    worth = wanted & worth_a_look(shown, brief.lower)
    return any(brief.rows[i].get("seen") != "" for i in worth) and viewer(desk) is not None


def grouped(desk: Desk, brief: Brief) -> list[list[Strip]]:
    """Group strips by evidence, the best global score first, else in their order; recalled passages stay last."""
    worths = {i: e.get("global_score", 0.0) for i, e in brief.rows.items()}
    rows: dict[str, list[Strip]] = {}
    for s in brief.strips:
        rows.setdefault(s["evidence"], []).append(s)

    def worth(row: list[Strip]) -> tuple[bool, float]:
        return row[0]["origin"] == "model", -worths.get(row[0]["evidence"], 0.0)

    return sorted(rows.values(), key=worth)[: desk.context.shown]


def by_origin(rows: Sequence[list[Strip]]) -> list[list[Strip]]:
    """Order evidence by origin, as `labelled` shows it; within an origin the order stays."""
    return sorted(rows, key=lambda row: list(HEADINGS).index(row[0]["origin"]))


def labelled(rows: Sequence[list[Strip]], known: Mapping[str, Evidence]) -> str:
    """Return evidence that is ordered by origin, numbered through, under the heading of its origin."""
    parts: list[str] = []
    for n, row in enumerate(rows, 1):
        heading = HEADINGS[row[0]["origin"]]
        if heading not in parts:
            parts.append(heading)
        text = " […] ".join(untitled(s) for s in row)
        parts.append(f"[{n}]\n" + quote(f"{headed(row[0]['title'], known.get(row[0]['evidence']))}\n{text}"))
    return "\n\n".join(parts)
