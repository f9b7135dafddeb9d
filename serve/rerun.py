"""A turn answered once more beside its conversation, which stays as it is: with another question, knob or step off.

Underneath is LangGraph's time travel: where a step is named, the checkpoint before it is copied into a thread that is
kept no longer than its run, and the graph goes on from there.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from ragweave.components.attachments import attached
from ragweave.components.context import Context
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.graphs.run import before_step
from ragweave.models.errors import InputError
from ragweave.serve.access import Caller
from ragweave.serve.app_state import AppState
from ragweave.serve.run import ASIDE, ServedRun
from ragweave.serve.store import ConversationThread, ConversationTurn


def said_before(turns: Sequence[ConversationTurn], n: int) -> list[AnyMessage]:
    """Return what was said in a conversation before a turn, as messages."""
    said: list[AnyMessage] = []
    for turn in turns:
        if turn.n < n and turn.answer:
            said += [HumanMessage(turn.question), AIMessage(turn.answer["text"])]
    return said


async def aside(
    app_state: AppState,
    caller: Caller,
    thread: ConversationThread,
    library: LibraryRow,
    n: int,
    context: Context,
    question: str = "",
    step: str = "",
) -> ServedRun:
    """Begin to answer turn `n` anew: from a step on, or with another question, or whole.

    Raises:
        InputError: if the steps of that turn are not kept any more, or it has no such step.
    """
    turns = await asyncio.to_thread(app_state.store.turns, thread.id)
    turn = next((t for t in turns if t.n == n), None)
    if turn is None:
        raise InputError("there is no such turn", "the conversation says how many it has")
    id = secrets.token_urlsafe(16)
    place = f"{ASIDE}{thread.id}-{id}"
    run = ServedRun(id, caller.id, place, library, turn.graph, question or turn.question, context)
    graph = app_state.runs.graph(turn.graph)
    if not question and (step or turn is turns[-1]):
        run.step = step or "condense"
        try:
            await _copy(graph, thread.id, turn, run.step, place)
        except InputError:
            if step:
                raise
            run.step = ""
    if not run.step:
        if turn.pictures and not question:
            raise _no_pictures()
        run.earlier = said_before(turns, n)
    try:
        return await app_state.runs.launch(run)
    except BaseException:
        await app_state.saver.adelete_thread(place)
        raise


def _no_pictures() -> InputError:
    return InputError("the pictures of this question are not at hand any more", "ask it again with its pictures")


async def _copy(graph: Any, thread: str, turn: ConversationTurn, step: str, place: str) -> None:
    try:
        at = await before_step(graph, {"configurable": {"thread_id": thread}}, step, run=turn.run)
    except InputError as error:
        kept = not error.remedy.startswith("its")
        remedy = error.remedy if kept else "those of the last turn are; leave the step out to answer the turn whole"
        raise InputError(error.what if kept else "the steps of this turn are not kept", remedy) from None
    kept_ = await graph.checkpointer.aget_tuple(at)
    # This step looks at the pictures; later ones have what was seen.
    if step == "condense" and len(attached(kept_.checkpoint["channel_values"]["messages"][-1])) < turn.pictures:
        raise _no_pictures()
    # What the tasks of that step wrote stays behind: they are done anew.
    to: Any = {"configurable": {"thread_id": place, "checkpoint_ns": ""}}
    await graph.checkpointer.aput(to, kept_.checkpoint, kept_.metadata, kept_.checkpoint["channel_versions"])
