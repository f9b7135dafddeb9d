"""Let a language model decide after each round: answer, or search again (Auto-RAG, section 3)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ragweave.components.ask import Outcome, first_of, model_of
from ragweave.components.ask_on import next_queries
from ragweave.components.conversation import conversation
from ragweave.components.evidence import Evidence
from ragweave.components.knowledge import Decision, Knowledge
from ragweave.components.look import unlooked
from ragweave.components.picture_relevance import worth_a_look
from ragweave.components.pictures import Pictures, sees, showing, watched
from ragweave.components.prose import LEFT
from ragweave.components.rounds import Round, rounds
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
_WHOLE_SENTENCES = re.compile(r".*[.!?。！？](?:\s*[\[【][\d, ]+[\]】][.。]?)*", re.S)
_ATTEMPTS = 2
"""Replies requested for one turn: the first, and one more if that cannot be used."""


@dataclass(frozen=True, slots=True)
class _Prompt:
    """The prompt of one reasoning turn.

    Attributes:
        messages: the conversation so far.
        pictures: frames that the last message shows.
        last: whether the model has to answer now.
        may_query_tables: whether the turn may be a statement over a table.
    """

    messages: Messages
    pictures: Pictures
    last: bool
    may_query_tables: bool

    @property
    def ending(self) -> str:
        """The sentence that requests the answer."""
        return LAST_BUT_TABLES if self.may_query_tables else LAST


async def decide(run: RunContext, known: Knowledge) -> Outcome[Decision]:
    """Decide after a round whether to search again, and with which query, or to write the answer."""
    return await first_of(run, model_of(run.context, "reasoner"), by_model, locally, known)


async def locally(run: RunContext, known: Knowledge) -> Decision:
    """Choose the next query without a model.

    Before the first round this is the question. If no passage is relevant, the same query goes to corpora
    that were not searched yet: without a model that reads, only the route can be corrected (CRAG, section
    4.2). Otherwise `next_queries` finds what the best passages leave open.
    """
    if not known.hops:
        return Decision(query=known.question)
    if not _any_relevant(known):
        if not known.unsearched:
            return Decision()
        missing = "nothing relevant was found in the corpora that were searched"
        return Decision(missing=missing, query=known.hops[-1]["query"], again=True)
    queries = await asyncio.to_thread(next_queries, await run.library(), known)
    if not queries:
        return Decision()
    missing = "the best passages name what they do not tell of"
    return Decision(missing=missing, query=queries[0], more=tuple(queries[1:]))


def _any_relevant(known: Knowledge) -> bool:
    """Return whether a row reaches the lower threshold."""
    for row in known.rows:
        if row["relevance"] >= known.lower:
            return True
    return False


async def by_model(run: RunContext, known: Knowledge) -> Decision | None:
    """Return the model's decision, or None if none of its replies can be read.

    The model is asked once more if its reply cannot be read or only repeats earlier queries.
    """
    past = rounds(known, run.context.method.turn_passages)
    prompt = await _prompt(run, known, past)
    shown = _shown_ids(past)
    turn = await _request_turn(run, known, prompt, shown)
    if turn is None:
        return None
    if _queries_table(turn, known, prompt):
        return Decision(turn.learnt, turn.missing, shown=shown, table=turn.table, statement=turn.statement)
    return _decision(turn, shown)


def _shown_ids(past: Sequence[Round]) -> tuple[str, ...]:
    """Return the ids of all evidence shown so far, in the order of their numbers."""
    ids: list[str] = []
    for round_ in past:
        ids.extend(round_.shown)
    return tuple(ids)


async def _prompt(run: RunContext, known: Knowledge, past: Sequence[Round]) -> _Prompt:
    """Build the conversation of the rounds so far, with frames of clips if the model can see."""
    method = run.context.method
    published = method.form == "auto-rag"
    languages = [] if published else await (await run.library()).languages()
    opening = _opening(run, languages)
    messages = conversation(
        known.question, past, method.turn_tokens, opening, run.context.sentences, published
    )
    pictures = await _frames(run, known, past)
    messages = _with_ending(messages, pictures.prompt_note)
    has_room = run.meter.room(2, 2 * sum(tokens_of(text) for _, text in messages))
    may_query_tables = bool(has_room and not published and known.statements)
    prompt = _Prompt(messages, pictures, known.last or not has_room, may_query_tables)
    if prompt.last:
        return replace(prompt, messages=_with_ending(messages, f"\n\n{prompt.ending}"))
    return prompt


def _with_ending(messages: Messages, ending: str) -> Messages:
    """Return messages with a text appended to the last one."""
    role, text = messages[-1]
    return [*messages[:-1], (role, text + ending)]


async def _request_turn(
    run: RunContext, known: Knowledge, prompt: _Prompt, shown: Sequence[str]
) -> ModelTurn | None:
    """Request replies until one can be used; return the last turn that was read."""
    needs = run.context.method.form == "auto-rag" and not prompt.last
    answering = Answering(known.tell, shown, run.context.longest)
    messages = prompt.messages
    turn: ModelTurn | None = None
    for _ in range(_ATTEMPTS):
        reply = await _reply(run, messages, prompt.pictures, answering)
        turn = read_turn(reply, needs=needs)
        if turn is None:
            problem = REMINDER
        else:
            new = [query for query in turn.queries if not known.asked(query)]
            usable = turn.enough or (bool(new) and not prompt.last)
            if usable or _queries_table(turn, known, prompt):
                return turn.model_copy(update={"queries": new})
            problem = prompt.ending if prompt.last else REPEATED
        messages = [*messages, ("assistant", clip(reply, 1_000) or "(nothing)"), ("user", problem)]
    return turn


def _queries_table(turn: ModelTurn, known: Knowledge, prompt: _Prompt) -> bool:
    """Return whether a turn is a new statement over a table that may still be run."""
    if not turn.statement or not prompt.may_query_tables:
        return False
    return known.is_new(turn.table, turn.statement)


def _decision(turn: ModelTurn, shown: tuple[str, ...]) -> Decision:
    """Return the decision that a turn states: the answer, or its queries."""
    learnt = turn.learnt
    if not learnt and turn.answer:
        learnt = f"concluded: {clip(turn.answer, SAID)}"
    if turn.enough:
        return Decision(learnt, "", answer=turn.answer, shown=shown)
    decision = Decision(learnt, turn.missing, answer=turn.answer)
    if not turn.queries:
        return decision
    return replace(decision, query=turn.queries[0], more=tuple(turn.queries[1:]))


async def _frames(run: RunContext, known: Knowledge, past: Sequence[Round]) -> Pictures:
    """Return unseen frames of the relevant clips of the last round, if the reasoner can see."""
    if not past or not sees(run, "reasoner"):
        return Pictures()
    rows = {row["id"]: row for row in known.rows}
    first_number = len(_shown_ids(past[:-1])) + 1
    numbered: list[tuple[int, Evidence]] = []
    last: list[Evidence] = []
    for number, evidence_id in enumerate(past[-1].shown, first_number):
        if evidence_id in rows:
            numbered.append((number, rows[evidence_id]))
            last.append(rows[evidence_id])
    worth = worth_a_look(last, known.lower)
    return await watched(run, await unlooked(run, numbered, worth))


async def _reply(run: RunContext, messages: Messages, pictures: Pictures, answering: Answering) -> str:
    """Read a reply as it arrives, until the answer is long enough; keep whole sentences of a broken one.

    Raises:
        ModelTransient: no sentence could be shown in time.
        RagweaveError: the model failed before its reply was a turn.
    """
    text = ""
    clock = asyncio.get_running_loop().time
    patience = model_settings().chat_patience
    late = clock() + patience
    try:
        shown = showing(run, messages, pictures, "reasoner", begins_turn, lambda text: bool(read_turn(text)))
        async with aclosing(shown) as stream:
            async for part in stream:
                text += part
                if not await answering.read(text) or len(text) > 2 * ANSWER:
                    break
                if not answering.shown_count and clock() > late:
                    raise endless(f"the model came to no answer within {patience:.0f} s")
    except RagweaveError as error:
        whole = _WHOLE_SENTENCES.match(text)
        if not answering.shown_count and (whole is None or read_turn(whole.group()) is None):
            raise
        run.cut_short(error, "reasoner", shown=answering.shown_count > 0)
        text = whole.group() if whole else text
    await answering.read(text, ended=True)
    if answering.cut:
        run.note(LEFT)
    return text.strip()


def today() -> str:
    """Return today's date in UTC, in ISO form."""
    return datetime.now(UTC).date().isoformat()


def _opening(run: RunContext, languages: Sequence[str]) -> str:
    """Return the lines before the question: date, languages of the library, form of the answer."""
    lines = []
    if run.context.method.form != "auto-rag":
        lines += [f"Today is {today()}.", ABOUT_FILES]
    if len(languages) > 1:
        named = [NAMES.get(code, code) for code in languages]
        lines.append(f"The library is in {', '.join(named)}.")
    if run.context.method.scored:
        lines.append(f"The answer is {run.context.method.scored}.")
    return "\n".join([*lines, ""])
