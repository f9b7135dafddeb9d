"""Start a turn: make the last message a standalone question, and reset the keys of the turn."""

from __future__ import annotations

import uuid
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.types import Overwrite

from ragweave.components.ask import Outcome
from ragweave.components.attachments import attached, said
from ragweave.components.chat_messages import is_unreadable
from ragweave.components.condense import Talk, stand_alone
from ragweave.components.see import read_pictures
from ragweave.models.errors import InputError
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Turn, Update, new_turn

QUESTION_LIMIT = 8_000
"""Largest number of characters of a question."""


async def condense(state: State, runtime: NodeRuntime) -> Update:
    """Return the standalone question and the initial state of this turn.

    Raises:
        InputError: the last turn has no text, or more than QUESTION_LIMIT characters.
    """
    turn = uuid.uuid4().hex
    run = NodeRun("condense", state, runtime, turn)
    messages, edited = _with_edit(state)
    last = _last_question(messages)
    message = messages[last]
    text = message.text.strip()
    check_question(text)
    earlier = _readable(run, messages[:last])
    made = await _standalone(run, text, earlier)
    pictures = attached(message)
    if pictures:
        made = await read_pictures(run, made.value, pictures)
    question = made.value
    reworded: Update = {"messages": [message]} if edited else {}
    if any(map(_no_text, message.content)):
        # Pixels do not stay in the state.
        reworded = {"messages": [HumanMessage(message.text, id=message.id)]}
        run.note(
            "What was sent beside the text was not looked at; `ragweave serve` takes pictures with a"
            " question."
        )
    summary = question if question == text else f"“{text}” read as “{question}”"
    update = run.done(summary, made, data={"question": question})
    return {
        **new_turn(),
        **reworded,
        "turn": Turn(id=turn, posed=question, knobs=run.context.set_knobs(), consent=None, plan=[]),
        "question": question,
        "query": question,
        "usage": Overwrite(update["usage"]),
        "notes": Overwrite(update.get("notes", [])),
    }


def _readable(run: NodeRun, messages: list[AnyMessage]) -> list[AnyMessage]:
    """Return the messages without stand-ins of those that could not be read, with a note on these."""
    kept = [message for message in messages if not is_unreadable(message)]
    count = len(messages) - len(kept)
    if count:
        times = f" ({count} times)" if count > 1 else ""
        run.note(f"Not used of what was sent: a message that cannot be read{times}.")
    return kept


def _last_question(messages: list[AnyMessage]) -> int:
    """Return the index of the last message of the user; InputError if there is none."""
    for n in reversed(range(len(messages))):
        if isinstance(messages[n], HumanMessage):
            return n
    error = InputError("there is no question", "send a human message that asks something")
    raise error.named("question_missing")


async def _standalone(run: NodeRun, text: str, history: list[AnyMessage]) -> Outcome[str]:
    """Return a question that is complete without the conversation before it."""
    questions = []
    for message in history:
        if isinstance(message, HumanMessage):
            questions.append(said(message))
    if not questions:
        return Outcome(text, "local")
    lines: list[tuple[str, str]] = [(message.type, said(message)) for message in history]
    return await stand_alone(run, text, Talk(lines, questions[-1]))


def _with_edit(state: State) -> tuple[list[AnyMessage], bool]:
    """Return the messages, with an edited question of the state as the last, and whether it was edited."""
    messages, edited = state.get("messages", []), state.get("question")
    before: Any = state.get("turn")
    posed = before["posed"] if isinstance(before, dict) else ""
    if before and not isinstance(before, dict):
        # A thread of an older Ragweave has the id of its last turn, and the question that was answered.
        posed = edited
    if not edited or edited == posed:
        return messages, False
    if not messages or not isinstance(messages[-1], HumanMessage):
        return [*messages, HumanMessage(edited)], True
    pictures = list(filter(_no_text, messages[-1].content))
    content: Any = [{"type": "text", "text": edited}, *pictures] if pictures else edited
    return [*messages[:-1], messages[-1].model_copy(update={"content": content})], True


def _no_text(part: Any) -> bool:
    """Return whether a part of a message's content is no text; the parts of a string are its characters."""
    return isinstance(part, dict) and part.get("type") != "text"


def check_question(text: str) -> None:
    """Raise InputError if a question is empty or too long."""
    if not any(map(str.isalnum, text)):
        raise InputError("the question is empty", "write what you want to know").named("question_empty")
    if len(text) <= QUESTION_LIMIT:
        return
    length, limit = f"{len(text):,}", f"{QUESTION_LIMIT:,}"
    message = f"the question has {length} characters, and {limit} are allowed"
    error = InputError(message, "shorten it, or index the long text as a file and ask about it")
    raise error.named("question_too_long", text=length, question_limit=limit)
