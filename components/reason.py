"""A language model in conversation with the retriever: it answers, or asks for more (Auto-RAG, section 3)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime

from ragweave.components.ask import Outcome, first_of, model_of
from ragweave.components.ask_on import next_queries
from ragweave.components.conversation import Round, conversation, rounds
from ragweave.components.knowledge import Decision, Knowledge
from ragweave.components.look import unlooked
from ragweave.components.picture_relevance import worth_a_look
from ragweave.components.pictures import Pictures, sees, showing, watched
from ragweave.components.prose import LEFT
from ragweave.components.run_context import RunContext
from ragweave.components.turn import ANSWER, SAID, Answering, ModelTurn, begins_turn, read_turn
from ragweave.corpora.meta import NAMES
from ragweave.models.chat_reply import tokens_of
from ragweave.models.errors import RagweaveError
from ragweave.models.failures import endless
from ragweave.models.settings import model_settings
from ragweave.models.text import clip
from ragweave.prompts import Messages

REMINDER = (
    "That could not be read. Reply with “Final Answer:” and the answer, or with a line that begins with"
    " “Query:”."
)
REPEATED = "That was asked before. Ask for something else or in other words, or end with “Final Answer:”."
LAST = "Nothing more can be searched: reply with “Final Answer:”."
LAST_BUT_TABLES = "Nothing more can be searched: reply with “Final Answer:”, or with one “Table” line."
ABOUT_FILES = (
    "Which files the library has, how many, when added: reply “Table library: SELECT ... FROM library ...”; "
    "its columns are file, folder, title, kind, date, added, pages."
)
_WHOLE = re.compile(r".*[.!?。！？](?:\s*[\[【][\d, ]+[\]】][.。]?)*", re.S)


async def decide(run: RunContext, known: Knowledge) -> Outcome[Decision]:
    """Decide between two rounds: the next query, or that it is enough, with the answer of a model."""
    return await first_of(run, model_of(run.context, "reasoner"), by_model, locally, known)


async def locally(run: RunContext, known: Knowledge) -> Decision:
    """Return the first query, the same query for other corpora, or what the best passages leave open.

    CRAG corrects an incorrect retrieval (section 4.2). Without a model that reads, what can be corrected is
    where the query was sent; further hops ask for what `next_queries` finds open.
    """
    if not known.hops:
        return Decision(query=known.question)
    if not any(e["relevance"] >= known.lower for e in known.rows):
        if not known.unsearched:
            return Decision()
        missing = "nothing relevant was found in the corpora that were searched"
        return Decision(missing=missing, query=known.hops[-1]["query"], again=True)
    queries = await asyncio.to_thread(next_queries, await run.library(), known)
    if not queries:
        return Decision()
    missing = "the best passages name what they do not tell of"
    return Decision(missing=missing, query=queries[0], more=tuple(queries[1:]))


async def by_model(run: RunContext, known: Knowledge) -> Decision | None:
    """Take the model's next turn: its answer, or its next queries; None where no turn of it can be read.

    A turn that cannot be read, or asks only what was asked before, is asked for again once.
    """
    past = rounds(known, run.context.method.turn_passages)
    published, budget = run.context.method.form == "auto-rag", run.context.method.turn_tokens
    opening = told(run, [] if published else await (await run.library()).languages())
    messages = conversation(known.question, past, budget, opening, run.context.sentences, published)
    pictures = await _frames(run, known, past)
    messages = [*messages[:-1], (messages[-1][0], messages[-1][1] + pictures.told)]
    tables = 0 if published else known.statements
    room = run.meter.room(2, 2 * sum(tokens_of(text) for _, text in messages))
    last, tables = known.last or not room, tables if room else 0
    ends = LAST_BUT_TABLES if tables else LAST
    if last:
        messages = [*messages[:-1], (messages[-1][0], f"{messages[-1][1]}\n\n{ends}")]
    turn: ModelTurn | None = None
    answering = Answering(known.tell, [i for r in past for i in r.shown], run.context.longest)
    for _ in range(2):
        reply = await _reply(run, messages, pictures, answering)
        turn = read_turn(reply, needs=published and not last)
        new = [q for q in turn.queries if not known.asked(q)] if turn else []
        if turn is not None and turn.statement and tables and known.is_new(turn.table, turn.statement):
            shown = tuple(i for r in past for i in r.shown)
            return Decision(
                turn.learnt, turn.missing, shown=shown, table=turn.table, statement=turn.statement
            )
        if turn is not None and (turn.enough or (new and not last)):
            turn = turn.model_copy(update={"queries": new})
            break
        problem = REMINDER if turn is None else ends if last else REPEATED
        messages = [*messages, ("assistant", clip(reply, 1_000) or "(nothing)"), ("user", problem)]
    if turn is None:
        return None
    learnt = turn.learnt or (f"concluded: {clip(turn.answer, SAID)}" if turn.answer else "")
    decision = Decision(learnt, "" if turn.enough else turn.missing, answer=turn.answer)
    if turn.enough:
        return replace(decision, shown=tuple(i for r in past for i in r.shown))
    return (
        replace(decision, query=turn.queries[0], more=tuple(turn.queries[1:])) if turn.queries else decision
    )


async def _frames(run: RunContext, known: Knowledge, past: Sequence[Round]) -> Pictures:
    """Return unseen frames of the clips of the last round that are worth it, for a model that can see."""
    if not past or not sees(run, "reasoner"):
        return Pictures()
    rows, before = {e["id"]: e for e in known.rows}, sum(len(r.shown) for r in past[:-1])
    numbered = [(n, rows[i]) for n, i in enumerate(past[-1].shown, before + 1) if i in rows]
    worth = worth_a_look([e for _, e in numbered], known.lower)
    return await watched(run, await unlooked(run, numbered, worth))


async def _reply(run: RunContext, messages: Messages, pictures: Pictures, answering: Answering) -> str:
    """Read a reply as it is written, and no further than an answer is long; of a broken one, whole sentences.

    Raises:
        ModelTransient: nothing of it could be shown in time; and as the model does, if what came is no turn.
    """
    text, clock, patience = "", asyncio.get_running_loop().time, model_settings().chat_patience
    late = clock() + patience
    try:
        shown = showing(run, messages, pictures, "reasoner", begins_turn, lambda text: bool(read_turn(text)))
        async with aclosing(shown) as stream:
            async for part in stream:
                text += part
                if not await answering.read(text) or len(text) > 2 * ANSWER:
                    break
                if not answering.told and clock() > late:
                    raise endless(f"the model came to no answer within {patience:.0f} s")
    except RagweaveError as error:
        whole = _WHOLE.match(text)
        if not answering.told and (whole is None or read_turn(whole.group()) is None):
            raise
        run.cut_short(error, "reasoner", shown=answering.told > 0)
        text = whole.group() if whole else text
    await answering.read(text, ended=True)
    if answering.cut:
        run.note(LEFT)
    return text.strip()


def today() -> str:
    """Return the date of the day."""
    return datetime.now(UTC).date().isoformat()


def told(run: RunContext, languages: Sequence[str]) -> str:
    """Return what stands before the question: the day, the languages held, the form of the answer."""
    lines = [f"Today is {today()}.", ABOUT_FILES] if run.context.method.form != "auto-rag" else []
    if len(languages) > 1:
        lines.append(f"The library is in {', '.join(NAMES.get(code, code) for code in languages)}.")
    if run.context.method.scored:
        lines.append(f"The answer is {run.context.method.scored}.")
    return "".join(f"{line}\n" for line in lines)
