"""Condense the turn: the last message becomes a standalone question, and per-turn keys are reset."""

from __future__ import annotations

import uuid
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.types import Overwrite

from ragweave.components.ask import Outcome
from ragweave.components.attachments import attached, said
from ragweave.components.condense import Talk, stand_alone
from ragweave.components.see import read_pictures
from ragweave.models.errors import InputError
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Turn, Update, new_turn

QUESTION_LIMIT = 8_000
"""Characters a question may have."""


async def condense(state: State, runtime: NodeRuntime) -> Update:
    """Return the standalone question and a clean slate for this turn.

    Raises:
        InputError: if the last turn holds no text, or more than QUESTION_LIMIT characters.
    """
    turn = uuid.uuid4().hex
    run = NodeRun("condense", state, runtime, turn)
    messages, edited = _with_edit(state)
    last = max((i for i, m in enumerate(messages) if isinstance(m, HumanMessage)), default=None)
    if last is None:
        raise InputError("there is no question", "send a human message that asks something").named(
            "question_missing"
        )
    asked, history = messages[last].text.strip(), messages[:last]
    check_question(asked)
    humans = [said(m) for m in history if isinstance(m, HumanMessage)]
    made = Outcome(asked, "local")
    if humans:
        talk = Talk([(m.type, said(m)) for m in history], humans[-1])
        made = await stand_alone(run, asked, talk)
    if pictures := attached(messages[last]):
        made = await read_pictures(run, made.value, pictures)
    question = made.value
    reworded: Update = {"messages": [messages[last]]} if edited else {}
    if any(map(_no_text, messages[last].content)):
        # Pixels do not stay in the state.
        reworded = {"messages": [HumanMessage(messages[last].text, id=messages[last].id)]}
        run.note(
            "What was sent beside the text was not looked at; `ragweave serve` takes pictures with a"
            " question."
        )
    told = question if question == asked else f"“{asked}” read as “{question}”"
    update = run.done(told, made, data={"question": question})
    return {
        **new_turn(),
        **reworded,
        "turn": Turn(id=turn, posed=question, knobs=run.context.set_knobs(), consent=None, plan=[]),
        "question": question,
        "query": question,
        "usage": Overwrite(update["usage"]),
        "notes": Overwrite(update.get("notes", [])),
    }


def _with_edit(state: State) -> tuple[list[AnyMessage], bool]:
    """Return the messages, and whether the question of a state that was edited has taken the place of the last."""
    messages, edited = state.get("messages", []), state.get("question")
    before: Any = state.get("turn")
    # A thread of an older Ragweave has the id of its last turn there, and the question that it answered.
    left = before["posed"] if isinstance(before, dict) else edited if before else ""
    if not edited or edited == left:
        return messages, False
    if not messages or not isinstance(messages[-1], HumanMessage):
        return [*messages, HumanMessage(edited)], True
    pictures = [p for p in messages[-1].content if _no_text(p)]
    content: Any = [{"type": "text", "text": edited}, *pictures] if pictures else edited
    return [*messages[:-1], messages[-1].model_copy(update={"content": content})], True


def _no_text(part: Any) -> bool:
    """Tell whether a part of a message's content is no text; the parts of a content that is one are its letters."""
    return isinstance(part, dict) and part.get("type") != "text"


def check_question(text: str) -> None:
    """Refuse what no graph could answer; InputError if it is empty, or too long."""
    if not any(c.isalnum() for c in text):
        raise InputError("the question is empty", "write what you want to know").named("question_empty")
    if len(text) > QUESTION_LIMIT:
        remedy = "shorten it, or index the long text as a file and ask about it"
        raise InputError(
            f"the question has {len(text):,} characters, and {QUESTION_LIMIT:,} are allowed", remedy
        ).named("question_too_long", text=f"{len(text):,}", question_limit=f"{QUESTION_LIMIT:,}")
