"""Condense the turn: the last message becomes a standalone question, and per-turn keys are reset."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from ragweave.minds.attached import attached, said, with_words, words_in
from ragweave.minds.context import Context
from ragweave.minds.contracts import Said, Talk
from ragweave.minds.desk import reads
from ragweave.minds.mind import Made
from ragweave.minds.small.core import core
from ragweave.minds.small.question.greeting import is_greeting
from ragweave.minds.small.question.refer import follow
from ragweave.minds.small.question.sides import sides
from ragweave.minds.small.question.spelling import spelt
from ragweave.minds.small.question.tongue import elsewhere
from ragweave.models.errors import InputError
from ragweave.nodes.answer import Answer
from ragweave.nodes.run import Run
from ragweave.nodes.state import State, Update

QUESTION_LIMIT = 8_000
"""Characters a question may have."""


async def condense(state: State, runtime: Runtime[Context]) -> Update:
    """Return the standalone question and a clean slate for this turn.

    Raises:
        InputError: if the last turn holds no text, or more than QUESTION_LIMIT characters.
    """
    turn = uuid.uuid4().hex
    run = Run.of("condense", state, runtime, turn)
    messages = state.get("messages", [])
    last = max((i for i, m in enumerate(messages) if isinstance(m, HumanMessage)), default=None)
    if last is None:
        raise InputError("there is no question", "send a human message that asks something")
    asked, history = messages[last].text.strip(), messages[:last]
    check_question(asked)
    heart, before = core(asked), _before(state, history)
    # A chat model reads what was said around the question; what is searched for is the question alone.
    made = Made(asked if reads(run.context) or is_greeting(asked) else heart.question, "small")
    if before.question and not is_greeting(asked):
        made = await run.minds.condenser(run, heart, Talk([(m.type, said(m)) for m in history], before))
    query = heart.question if made.value == asked else made.value
    if pictures := attached(messages[last]):
        made = await run.minds.seer(run, made.value, pictures)
        query = made.value
    question = made.value
    if not reads(run.context):
        question = query = await spelt(run, question)
    weighed = sides(question)
    text_alone: Update = {}
    content = messages[last].content
    if isinstance(content, list) and any(p.get("type") != "text" for p in content if isinstance(p, dict)):
        # Pixels do not stay in the state.
        text_alone = {"messages": [HumanMessage(messages[last].text, id=messages[last].id)]}
        run.note("What was sent beside the text was not looked at; `ragweave serve` takes pictures with a question.")
    told = question if question == asked else f"“{asked}” read as “{question}”"
    update = run.done(told, made, data={"question": question})
    return {
        **text_alone,
        "turn": turn,
        "question": question,
        "query": query,
        "said": before._asdict(),
        "hop": 1,
        "recalls": 0,
        "enough": False,
        "candidates": [],
        "tasks": [],
        "looked": {},
        "chunks": [],
        "timeline": None,
        "grade": None,
        "also": [*weighed.asks] if weighed else await elsewhere(run, question),
        "reply": None,
        "plan": "",
        "consent": None,
        "draft": [],
        "citations": [],
        "mind": "small",
        "dropped": 0,
        "abstain": "",
        "answer": None,
        **{key: Overwrite([]) for key in ("routes", "queries", "found", "evidence", "knowledge", "hops")},
        "best": Overwrite(-1.0),
        "usage": Overwrite(update["usage"]),
        "notes": Overwrite(update.get("notes", [])),
    }


def _before(state: State, history: Sequence[AnyMessage]) -> Said:
    """Return the last question that was one, and its answer; thanks in between change nothing.

    A server that keeps threads in its own way hands the last answer back as a dict; a door that keeps none has the
    messages alone, whose questions are made to stand by themselves one after the other.
    """
    if (last := state.get("answer")) is not None:
        answer = Answer.model_validate(last)
        if not is_greeting(answer.question):
            if answer.abstained:
                # What was only the closest names nothing that a pronoun could stand for.
                return Said(answer.question)
            told = answer.sentences[0].text if answer.sentences else ""
            return Said(answer.question, told, answer.citations[0].title if answer.citations else "")
    if kept := state.get("said"):
        return Said(**kept)
    before = Said("")
    for m in history:
        if isinstance(m, HumanMessage) and not is_greeting(m.text):
            asked = core(m.text)
            alone = asked.question if asked.fresh else follow(asked.question, before, asked.onward)
            before = Said(with_words(alone, words_in(attached(m))))
        elif isinstance(m, AIMessage) and before.question and not before.answer:
            before = before._replace(answer=re.sub(r"\s*\[\d+\]", "", m.text))
    return before


def check_question(text: str) -> None:
    """Refuse what no graph could answer; InputError if it is empty, or too long."""
    if not any(c.isalnum() for c in text):
        raise InputError("the question is empty", "write what you want to know")
    if len(text) > QUESTION_LIMIT:
        raise InputError(
            f"the question has {len(text):,} characters, and {QUESTION_LIMIT:,} are allowed",
            "shorten it, or index the long text as a file and ask about it",
        )
