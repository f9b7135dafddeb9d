"""What is done with one turn of a conversation: answered once more beside it, and judged by its reader."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from pydantic import Field, StrictBool

from ragweave.nodes.condense import check_question
from ragweave.serve.access import CallerNow
from ragweave.serve.aside import aside
from ragweave.serve.desk import Body, DeskNow
from ragweave.serve.direct import context_of
from ragweave.serve.problems import NotFound
from ragweave.serve.routes_ask import find_thread
from ragweave.serve.store import now

router = APIRouter(prefix="/api/threads/{id}/turns/{n}")


class Again(Body):
    """What is to be otherwise: the question, the step to begin at, knobs of the run."""

    question: str = ""
    step: str = Field("", max_length=100)
    context: dict[str, Any] = Field(default_factory=dict)


class Verdict(Body):
    """What a reader thinks of an answer; nothing takes back what was said."""

    good: StrictBool | None
    reason: str = Field("", max_length=2_000)


@router.post("/again", status_code=202)
async def again(caller: CallerNow, desk: DeskNow, id: str, n: int, body: Again) -> dict[str, Any]:
    """Begin to answer a turn once more; the run is followed like any other, and the conversation stays as it is."""
    thread, row = await find_thread(caller, desk, id)
    if body.question:
        check_question(body.question)
    run = await aside(desk, caller, thread, row, n, context_of(body.context, row), body.question, body.step)
    return {"run": run.id, "thread": run.thread, "turn": run.turn, "step": run.step}


@router.put("/verdict", status_code=204)
async def judge(caller: CallerNow, desk: DeskNow, id: str, n: int, body: Verdict) -> None:
    """Keep whether an answer was good, and why."""
    thread, _ = await find_thread(caller, desk, id)
    said = None if body.good is None else {"good": body.good, "reason": body.reason.strip(), "at": now()}
    if not await asyncio.to_thread(desk.store.judge, thread.id, n, said):
        raise NotFound("There is no such turn", "the conversation says how many it has")
