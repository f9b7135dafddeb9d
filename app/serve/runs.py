"""Answers under way: each has a journal that readers follow, an owner, and an end."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from langgraph.checkpoint.base import BaseCheckpointSaver

from ragweave import api
from ragweave.corpora.catalog import LibraryRow
from ragweave.models.errors import RagweaveError
from ragweave.models.text import clip
from ragweave.nodes.context import Context
from ragweave.render import STEPS
from ragweave.serve.access import Caller
from ragweave.serve.journal import Journal
from ragweave.serve.opening import answer_with_openings, with_openings
from ragweave.serve.problems import Conflict, NotFound, TooMany, problem
from ragweave.serve.settings import ServeSettings
from ragweave.serve.store import Store, Thread, now

logger = logging.getLogger(__name__)

Status = Literal["running", "waiting", "done", "failed", "cancelled"]

_KEPT = 500
"""Ended runs whose journal can still be read."""
_KEPT_SECONDS = 900.0


@dataclass
class Run:
    """One question on its way to an answer.

    Attributes:
        id: its id.
        owner: id of the caller that asked.
        thread: conversation it belongs to.
        library: library it asks.
        graph: graph that answers.
        question: what was asked.
        context: the run's knobs.
        turn: number of the turn in its conversation.
        journal: what it has told.
        status: where it stands.
        task: the work, while it is under way.
        ended: when it ended, in seconds of `time.monotonic`.
    """

    id: str
    owner: str
    thread: str
    library: LibraryRow
    graph: str
    question: str
    context: Context
    turn: int = 0
    journal: Journal = field(default_factory=Journal)
    status: Status = "running"
    task: asyncio.Task[None] | None = None
    ended: float = 0.0


class Runs:
    """Every run of this server."""

    def __init__(self, store: Store, saver: BaseCheckpointSaver[Any], settings: ServeSettings) -> None:
        self._store, self._saver, self._settings = store, saver, settings
        self._runs: dict[str, Run] = {}
        self._graphs: dict[str, Any] = {}

    async def start(
        self, caller: Caller, question: str, thread: Thread, library: LibraryRow, graph: str, context: Context
    ) -> Run:
        """Begin to answer.

        Raises:
            InputError: there is no graph of that name.
            Conflict: the conversation is being answered already.
            TooMany: too many answers are under way.
        """
        compiled = self._graph(graph)
        open_ = [r for r in self._runs.values() if r.status in ("running", "waiting")]
        for other in [r for r in open_ if r.thread == thread.id]:
            if other.status == "running":
                raise Conflict("this conversation is being answered already", "wait for the answer, or cancel it")
            # A question that waits for consent is dropped when the next one is asked.
            await self.cancel(other)
        running = [r for r in open_ if r.status == "running"]
        mine = sum(r.owner == caller.id for r in running)
        if len(running) >= self._settings.running or mine >= self._settings.running_each:
            raise TooMany(f"{len(running)} answers are under way", "try again in a moment", after=2)
        run = Run(secrets.token_urlsafe(16), caller.id, thread.id, library, graph, question, context)
        self._runs[run.id] = run  # before anything is awaited, so that the limits hold
        title = clip(" ".join(question.split()), 80)
        try:
            run.turn = await asyncio.to_thread(self._store.add_turn, thread.id, run.id, graph, question, title)
        except BaseException:
            del self._runs[run.id]
            raise
        run.journal.add({"type": "start", "run": run.id, "thread": thread.id, "turn": run.turn, "graph": graph})
        run.task = asyncio.create_task(self._drive(run, compiled), name=f"run {run.id}")
        self._forget_old()
        return run

    def get(self, caller: Caller, id: str) -> Run:
        """Return a run of a caller.

        Raises:
            NotFound: it has none of that id, or no longer.
        """
        run = self._runs.get(id)
        if run is None or run.owner != caller.id or not caller.sees(run.library.id):
            raise NotFound("There is no such run", "an ended run is kept for a while; its answer stays in the thread")
        return run

    async def resume(self, run: Run, consent: bool) -> None:
        """Go on with a run that waits for consent.

        Raises:
            Conflict: it does not wait: consent was given or refused before, or the run has ended.
        """
        if run.status != "waiting":
            raise Conflict("this run does not wait for consent", "consent is asked for once and answered once")
        run.status = "running"
        run.task = None
        await asyncio.to_thread(self._store.set_turn, run.thread, run.turn, "running")
        run.journal.add({"type": "consented", "consent": consent})
        run.task = asyncio.create_task(self._drive(run, self._graph(run.graph), consent), name=f"run {run.id}")

    async def cancel(self, run: Run) -> None:
        """Stop a run; one that has ended stays as it is."""
        if run.status == "waiting":
            await self._end(run, "cancelled")
        elif run.status == "running" and run.task is not None:
            run.task.cancel()
            await asyncio.wait([run.task])
            if run.status == "running":  # it was stopped before its first step
                await self._end(run, "cancelled")

    async def cancel_thread(self, thread: str) -> None:
        """Stop whatever answers a conversation."""
        for run in [r for r in self._runs.values() if r.thread == thread]:
            await self.cancel(run)

    async def close(self) -> None:
        """Stop every run."""
        for run in list(self._runs.values()):
            await self.cancel(run)

    def _graph(self, name: str) -> Any:
        if name not in self._graphs:
            self._graphs[name] = api.build_agent(name, checkpointer=self._saver)
        return self._graphs[name]

    async def _drive(self, run: Run, compiled: Any, resume: bool | None = None) -> None:
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._settings.run_seconds):
                answer = await self._follow(run, compiled, resume)
            if answer is None:
                run.status = "waiting"
                await asyncio.to_thread(self._store.set_turn, run.thread, run.turn, "waiting")
                return
            for note in answer["notes"]:
                run.journal.add({"type": "note", "text": note})
            run.journal.add({"type": "answer", "answer": answer, "thread": run.thread, "turn": run.turn})
            await self._end(run, "done", answer=answer)
        except asyncio.CancelledError:
            await self._end(run, "cancelled")
        except TimeoutError:
            limit = RagweaveError(
                f"the answer took longer than {self._settings.run_seconds:.0f} seconds",
                "raise RAGWEAVE_SERVE_RUN_SECONDS",
            )
            await self._fail(run, limit)
        except Exception as error:
            await self._fail(run, error)
        finally:
            logger.info(
                "run %s %s", run.id, run.status, extra={"run": run.id, "seconds": round(time.monotonic() - began, 3)}
            )

    async def _follow(self, run: Run, compiled: Any, resume: bool | None) -> dict[str, Any] | None:
        """Tell what happens until the answer is there; None where consent is asked for."""
        asked = False
        async for event in api.astream(
            run.question, context=run.context, thread=run.thread, graph=compiled, resume=resume, durability="exit"
        ):
            if event["type"] == "state":
                if asked:
                    return None
                return await answer_with_openings(run.library, event["state"]["answer"])
            asked |= event["type"] == "consent"
            run.journal.add(await told(run.library, event))
        return None

    async def _fail(self, run: Run, error: Exception) -> None:
        if not isinstance(error, RagweaveError):
            logger.error("run %s failed", run.id, exc_info=error)
        found = problem(error)
        run.journal.add({"type": "error", "problem": found})
        await self._end(run, "failed", problem=found)

    async def _end(self, run: Run, status: Status, **kept: Any) -> None:
        run.status, run.ended = status, time.monotonic()
        # The answer holds its own sentences; without one, what was shown is kept as it was told.
        told = ("step",) if "answer" in kept else ("step", "sentence", "note")
        trail = [json.loads(e.data) for e in run.journal.entries if e.type in told]
        await asyncio.to_thread(self._store.set_turn, run.thread, run.turn, status, **kept, trail=trail)
        run.journal.close(status=status)

    def _forget_old(self) -> None:
        ended = sorted((r for r in self._runs.values() if r.ended), key=lambda r: r.ended)
        late = time.monotonic() - _KEPT_SECONDS
        for n, run in enumerate(ended):
            if run.ended < late or n < len(ended) - _KEPT:
                del self._runs[run.id]


async def told(library: LibraryRow, event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event of the graph as a client gets it: steps in words, citations that open."""
    if event["type"] == "step":
        node = str(event["node"])
        return {**event, "title": STEPS.get(node, node.replace("_", " ").capitalize())}
    if event["type"] == "sentence":
        return {**event, "citations": await with_openings(library, event["citations"])}
    return dict(event)


def new_thread(caller: Caller, library: LibraryRow, title: str = "") -> Thread:
    """Return a conversation that has not begun."""
    at = now()
    return Thread(secrets.token_urlsafe(16), caller.id, library.id, title, at, at)
