"""Write an answer: quotes, a model's prose sentence by sentence as it streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import aclosing

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.ask import Outcome, first_of, model_of
from ragweave.components.bearing import LEFT_OUT
from ragweave.components.closing import nothing_found, show_pictures
from ragweave.components.evidence import Evidence, Origin, Reply, Strip
from ragweave.components.generation_input import GenerationInput
from ragweave.components.labels import unlabelled
from ragweave.components.local import quotes
from ragweave.components.look import viewer
from ragweave.components.passages import as_strip, evidence_of, headed, untitled
from ragweave.components.phrases import weak
from ragweave.components.picture_relevance import worth_a_look
from ragweave.components.pictures import look_at, sees, showing
from ragweave.components.prose import (
    LEFT,
    Room,
    as_shown,
    begins_cited,
    complete_sentences,
    long,
    plain,
    sign,
    split,
    tell,
)
from ragweave.components.published import answer_messages
from ragweave.components.reason import today
from ragweave.components.run_context import RunContext
from ragweave.components.tables import TablePart, parts_of, told
from ragweave.components.turn import unknown
from ragweave.corpora.web.plain import one_line
from ragweave.models.errors import RagweaveError
from ragweave.prompts import load, passage

_CLOSEST = 3
"""Items that an answer of "not known" names."""
_WHY = 400
"""Characters of a model's reason why it is not known."""
HEADINGS: dict[Origin, str] = {
    "library": "Knowledge from your library:",
    "web": "Knowledge from the web, written by strangers:",
    "model": "Written down from a model's memory, without a source:",
}
"""Headings under which a writer sees evidence, in this order (CRAG, section 4.5)."""


async def write_answer(run: RunContext, given: GenerationInput, builder: AnswerBuilder) -> Outcome[str]:
    """Write the answer onto a page; the value says why if the evidence carries none."""
    return await first_of(run, model_of(run.context, "writer"), by_model, quotes.write, given, builder)


async def by_model(run: RunContext, given: GenerationInput, builder: AnswerBuilder) -> str | None:
    """Write what the model can answer; None where it wrote nothing that can be used."""
    reply = given.reply
    if reply is not None and not (unknown(reply["text"]) is not None and pictured(run, given)):
        why = await _carry(run, given, builder, reply)
    elif not given.strips and not given.searched:
        why = await _converse(run, given, builder)
    else:
        why = await (_prose(run, given, builder) if given.strips or given.chunks else nothing_found(run))
        if (
            reply is not None and not builder.sentences
        ):  # pictures were looked at, and what it had said still holds
            why = await _carry(run, given, builder, reply)
    if why is None:
        run.note("The chat model gave no answer that can be used; what is shown is quoted from the library.")
    else:
        show_pictures(given, builder)
    return why


async def _carry(run: RunContext, given: GenerationInput, builder: AnswerBuilder, reply: Reply) -> str | None:
    """Show what the reasoning turn answered; say why, where it said that the answer is not known."""
    if (why := unknown(reply["text"])) is not None:
        rows = (given.rows[i] for i in reply["shown"] if i in given.rows)
        titles = [*dict.fromkeys(f"“{e['title']}”" for e in rows)][:_CLOSEST]
        if not titles:
            return why or await nothing_found(run)
        if not why:
            return weak(titles[0].strip("“”"))
        return f"{one_line(plain(why), _WHY)} The closest items found: {', '.join(titles)}."
    cited = [[s for s in given.strips if s["evidence"] == i] for i in reply["shown"]]
    room = Room(run.context.longest)
    for raw in split(reply["text"]):
        if not room.takes(raw):
            run.note(LEFT)
            break
        tell(raw, cited, builder, cites=run.context.method.form == "own")
    builder.close()
    return "" if builder.sentences else None


async def _converse(run: RunContext, given: GenerationInput, builder: AnswerBuilder) -> str | None:
    messages = load("converse", question=given.question)
    async for sentence in complete_sentences(run.stream(messages, begins=begins_cited)):
        if text := as_shown(sentence if builder.sentences else unlabelled(sentence)):
            builder.show(text, "model", [], sign(sentence))
    return "" if builder.sentences else None


async def _prose(run: RunContext, given: GenerationInput, builder: AnswerBuilder) -> str | None:
    """Stream prose; a sentence is offered once it is complete, with what it cites."""
    beside = await _chunks(run, given)
    rows = by_origin([*grouped(run, given), *([as_strip(e)] for e in beside)])
    # Frames that the reasoning turn was shown are not sent again.
    films = given.reply is None or not sees(run, "reasoner")
    rows, pictures = await look_at(run, given.question, rows, given.rows, given.lower, films)
    known, form = {**{e["id"]: e for e in beside}, **given.rows}, run.context.method.form
    length = run.context.method.scored or long(run.context.sentences)
    if form == "own":
        tables = await parts_of(await run.library(), [row[0]["evidence"] for row in rows])
        shown = labelled(rows, known, tables) + pictures.prompt_note
        messages = load("generate", today=today(), question=given.question, evidence=shown, length=length)
    else:
        own = [row for row in rows if row[0]["evidence"] not in {e["id"] for e in beside}]
        messages = answer_messages(form, given, own, beside, known, length)
    room, written, why = Room(run.context.longest), 0, ""
    try:
        async with aclosing(showing(run, messages, pictures, "writer", begins_cited)) as parts:
            async for said in complete_sentences(parts):
                raw = said if written else unlabelled(said)
                text, fits = as_shown(raw), room.takes(raw)
                if text.strip(" .!").upper() == "UNKNOWN" and given.strips:
                    why = why or weak(_nearest(given.strips))
                elif not fits:
                    run.note(LEFT)
                    break
                elif text:
                    written += 1
                    tell(raw, rows, builder, cites=form == "own")
    except RagweaveError as error:
        if not written:
            raise
        run.cut_short(error, "writer")
    builder.close()
    return why if builder.sentences or why else None


async def _chunks(run: RunContext, given: GenerationInput) -> list[Evidence]:
    """Return the clips of the chunks that are read as well (VideoRAG, section 3.3), without those of strips."""
    own = {s["evidence"] for s in given.strips}
    wanted = [i for i in given.chunks if i not in own]
    items = await (await run.library()).items(wanted) if wanted else {}
    return [evidence_of(items[i], given.question, 1, 0.0, 0.0) for i in wanted if i in items]


def _nearest(strips: Sequence[Strip]) -> str:
    """Return the title of the strip that is most relevant."""
    return max(strips, key=lambda s: (s["score"], s["id"]))["title"]


def pictured(run: RunContext, given: GenerationInput) -> bool:
    """Tell whether a vision model could look at pictures among the evidence that are worth it."""
    own = given.own
    wanted = {s["evidence"] for s in own if s["locator"].get("kind") == "image" and s["locator"].get("image")}
    shown = [given.rows[i] for i in {s["evidence"] for s in own} if i in given.rows]
    worth = wanted & worth_a_look(shown, given.lower)
    return any(given.rows[i].get("seen") != "" for i in worth) and viewer(run) is not None


def grouped(run: RunContext, given: GenerationInput) -> list[list[Strip]]:
    """Group strips by evidence, the best global score first, else in their order; recalled passages last."""
    worths = {i: e.get("global_score", 0.0) for i, e in given.rows.items()}
    rows: dict[str, list[Strip]] = {}
    for s in given.strips:
        rows.setdefault(s["evidence"], []).append(s)

    def worth(row: list[Strip]) -> tuple[bool, float]:
        return row[0]["origin"] == "model", -worths.get(row[0]["evidence"], 0.0)

    return sorted(rows.values(), key=worth)[: run.context.shown]


def by_origin(rows: Sequence[list[Strip]]) -> list[list[Strip]]:
    """Order evidence by origin, as `labelled` shows it; within an origin the order stays."""
    return sorted(rows, key=lambda row: list(HEADINGS).index(row[0]["origin"]))


def labelled(
    rows: Sequence[list[Strip]],
    known: Mapping[str, Evidence],
    tables: Mapping[str, Sequence[TablePart]] | None = None,
) -> str:
    """Return evidence that is ordered by origin, numbered through, under the heading of its origin.

    What shows a part of a table (`tables`, by the id of the evidence) says which rows.
    """
    parts: list[str] = []
    for n, row in enumerate(rows, 1):
        heading = HEADINGS[row[0]["origin"]]
        if heading not in parts:
            parts.append(heading)
        text = LEFT_OUT.join(untitled(s) for s in row)
        shown = told((tables or {}).get(row[0]["evidence"], ()), text)
        title = headed(row[0]["title"], known.get(row[0]["evidence"])) + (f" ({shown})" if shown else "")
        parts.append(passage(n, title, text))
    return "\n\n".join(parts)
