"""Write an answer: quotes, or a model's prose, sentence by sentence as it streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import aclosing

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.answer_object import without_object
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
from ragweave.components.pictures import Pictures, look_at, sees, showing
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
from ragweave.components.tables import TablePart, parts_of, rows_shown
from ragweave.components.turn import unknown
from ragweave.corpora.web.plain import one_line
from ragweave.models.errors import RagweaveError
from ragweave.prompts import Messages, load, passage

_CLOSEST = 3
"""Items that an answer of "not known" names."""
_WHY = 400
"""Characters of a model's reason for "not known"."""
HEADINGS: dict[Origin, str] = {
    "library": "Knowledge from your library:",
    "web": "Knowledge from the web, written by strangers:",
    "model": "Written down from a model's memory, without a source:",
}
"""Headings above the evidence that a writer sees, in this order (CRAG, section 4.5)."""


async def write_answer(run: RunContext, given: GenerationInput, builder: AnswerBuilder) -> Outcome[str]:
    """Write the answer into its builder; the value is the reason if the evidence supports no answer."""
    return await first_of(run, model_of(run.context, "writer"), by_model, quotes.write, given, builder)


async def by_model(run: RunContext, given: GenerationInput, builder: AnswerBuilder) -> str | None:
    """Write the model's answer and return "", or the reason for no answer; None if nothing is usable."""
    reason = await _by_model(run, given, builder)
    if reason is None:
        run.note("The chat model gave no answer that can be used; what is shown is quoted from the library.")
    else:
        show_pictures(given, builder)
    return reason


async def _by_model(run: RunContext, given: GenerationInput, builder: AnswerBuilder) -> str | None:
    """Write from the reply of the reasoning turn if that is enough, else from the evidence."""
    reply = given.reply
    if reply is not None:
        gave_up = unknown(reply["text"]) is not None
        if not gave_up or not pictured(run, given):
            return await _from_reply(run, given, builder, reply)
    if not given.strips and not given.searched:
        return await _converse(run, given, builder)
    if given.strips or given.chunks:
        reason = await _prose(run, given, builder)
    else:
        reason = await nothing_found(run)
    if reply is not None and not builder.sentences:
        # The writer looked at the pictures and found nothing, so the reply is still right.
        reason = await _from_reply(run, given, builder, reply)
    return reason


async def _from_reply(
    run: RunContext, given: GenerationInput, builder: AnswerBuilder, reply: Reply
) -> str | None:
    """Show the answer of the reasoning turn, or return its reason why the answer is not known."""
    reason = unknown(reply["text"])
    if reason is not None:
        return await _not_known(run, given, reply, reason)
    strips: dict[str, list[Strip]] = {}
    for strip in given.strips:
        strips.setdefault(strip["evidence"], []).append(strip)
    cited = [strips.get(id, []) for id in reply["shown"]]
    room = Room(run.context.longest)
    for raw in split(reply["text"]):
        if not room.takes(raw):
            run.note(LEFT)
            break
        tell(raw, cited, builder, cites=run.context.method.form == "own")
    builder.close()
    return "" if builder.sentences else None


async def _not_known(run: RunContext, given: GenerationInput, reply: Reply, reason: str) -> str:
    """Return why the answer is not known, with the closest items that were shown."""
    titles: list[str] = []
    for id in reply["shown"]:
        title = f"“{given.rows[id]['title']}”" if id in given.rows else ""
        if title and title not in titles:
            titles.append(title)
    if not titles:
        return reason or await nothing_found(run)
    if not reason:
        return weak(titles[0].strip("“”"))
    closest = ", ".join(titles[:_CLOSEST])
    return f"{one_line(plain(reason), _WHY)} The closest items found: {closest}."


async def _converse(run: RunContext, given: GenerationInput, builder: AnswerBuilder) -> str | None:
    """Answer without a search, from the model alone."""
    messages = load("converse", question=given.question)
    async for sentence in complete_sentences(without_object(run.stream(messages, begins=begins_cited))):
        text = as_shown(sentence if builder.sentences else unlabelled(sentence))
        if text:
            builder.show(text, "model", [], sign(sentence))
    return "" if builder.sentences else None


async def _prose(run: RunContext, given: GenerationInput, builder: AnswerBuilder) -> str | None:
    """Stream prose into the builder, each complete sentence with its citations."""
    chunks = await _chunks(run, given)
    rows = grouped(run, given)
    for chunk in chunks:
        rows.append([as_strip(chunk)])
    rows = by_origin(rows)
    # The reasoning turn has shown the frames to the model already.
    films = given.reply is None or not sees(run, "reasoner")
    rows, pictures = await look_at(run, given.question, rows, given.rows, given.lower, films)
    messages = await _messages(run, given, rows, chunks, pictures)
    room = Room(run.context.longest)
    written = 0
    reason = ""
    try:
        async with aclosing(showing(run, messages, pictures, "writer", begins_cited)) as parts:
            async for sentence in complete_sentences(without_object(parts)):
                raw = sentence if written else unlabelled(sentence)
                text = as_shown(raw)
                fits = room.takes(raw)
                if text.strip(" .!").upper() == "UNKNOWN" and given.strips:
                    reason = reason or weak(_nearest(given.strips))
                elif not fits:
                    run.note(LEFT)
                    break
                else:
                    written += bool(text)
                    tell(raw, rows, builder, cites=run.context.method.form == "own")
    except RagweaveError as error:
        if not written:
            raise
        run.cut_short(error, "writer")
    builder.close()
    return reason if builder.sentences or reason else None


async def _messages(
    run: RunContext,
    given: GenerationInput,
    rows: list[list[Strip]],
    chunks: Sequence[Evidence],
    pictures: Pictures,
) -> Messages:
    """Return the prompt of the writer, in our form or as the method of the run was published."""
    form = run.context.method.form
    length = run.context.method.scored or long(run.context.sentences)
    chunks_by_id = {e["id"]: e for e in chunks}
    known = {**chunks_by_id, **given.rows}
    if form == "own":
        tables = await parts_of(await run.library(), [row[0]["evidence"] for row in rows])
        evidence = labelled(rows, known, tables) + pictures.prompt_note
        return load("generate", today=today(), question=given.question, evidence=evidence, length=length)
    own: list[list[Strip]] = []
    for row in rows:
        if row[0]["evidence"] not in chunks_by_id:
            own.append(row)
    return answer_messages(form, given, own, chunks, known, length)


async def _chunks(run: RunContext, given: GenerationInput) -> list[Evidence]:
    """Return the clips of the chunks to read as well (VideoRAG, section 3.3), without those of strips."""
    have = {s["evidence"] for s in given.strips}
    wanted: list[str] = []
    for id in given.chunks:
        if id not in have:
            wanted.append(id)
    if not wanted:
        return []
    library = await run.library()
    items = await library.items(wanted)
    chunks: list[Evidence] = []
    for id in wanted:
        if id in items:
            chunks.append(evidence_of(items[id], given.question, 1, 0.0, 0.0))
    return chunks


def _nearest(strips: Sequence[Strip]) -> str:
    """Return the title of the most relevant strip."""
    return max(strips, key=lambda s: (s["score"], s["id"]))["title"]


def pictured(run: RunContext, given: GenerationInput) -> bool:
    """Return whether the evidence has pictures that a vision model of the run could still look at."""
    shown: dict[str, Evidence] = {}
    pictures: set[str] = set()
    for strip in given.own:
        id = strip["evidence"]
        if id in given.rows:
            shown[id] = given.rows[id]
        if strip["locator"].get("kind") == "image" and strip["locator"].get("image"):
            pictures.add(id)
    for id in pictures & worth_a_look(list(shown.values()), given.lower):
        if given.rows[id].get("seen") != "":
            return viewer(run) is not None
    return False


def grouped(run: RunContext, given: GenerationInput) -> list[list[Strip]]:
    """Group strips by evidence, best global score first, recalled passages last."""
    groups: dict[str, list[Strip]] = {}
    for s in given.strips:
        groups.setdefault(s["evidence"], []).append(s)

    def rank(group: list[Strip]) -> tuple[bool, float]:
        row = given.rows.get(group[0]["evidence"])
        score = row.get("global_score", 0.0) if row else 0.0
        return group[0]["origin"] == "model", -score

    return sorted(groups.values(), key=rank)[: run.context.shown]


def by_origin(rows: Sequence[list[Strip]]) -> list[list[Strip]]:
    """Order evidence by origin, as `labelled` shows it; within an origin the order stays."""
    origins = list(HEADINGS)
    return sorted(rows, key=lambda row: origins.index(row[0]["origin"]))


def labelled(
    rows: Sequence[list[Strip]],
    known: Mapping[str, Evidence],
    tables: Mapping[str, Sequence[TablePart]] | None = None,
) -> str:
    """Return evidence numbered in one sequence, under a heading for each origin.

    Args:
        rows: the evidence, ordered by origin.
        known: rows by id, with dates and files.
        tables: tables of which evidence shows a part, by its id; its title names the rows.
    """
    parts: list[str] = []
    for n, row in enumerate(rows, 1):
        heading = HEADINGS[row[0]["origin"]]
        if heading not in parts:
            parts.append(heading)
        id = row[0]["evidence"]
        text = LEFT_OUT.join(map(untitled, row))
        title = headed(row[0]["title"], known.get(id))
        shown = rows_shown((tables or {}).get(id, ()), text)
        if shown:
            title += f" ({shown})"
        parts.append(passage(n, title, text))
    return "\n\n".join(parts)
