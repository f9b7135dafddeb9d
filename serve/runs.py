"""Answers under way: each has a journal that readers follow, an owner, and an end."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import sqlite3
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

from langchain_core.messages import AnyMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from ragweave.corpora.store.catalog import LibraryRow
from ragweave.graphs import run as graphs
from ragweave.minds.attached import Attached, asked_with
from ragweave.minds.context import Context
from ragweave.models.errors import RagweaveError
from ragweave.models.text import clip
from ragweave.serve.access import Caller, Slots, visible
from ragweave.serve.direct import events_of, too_long
from ragweave.serve.problems import NotFound, Refused, problem
from ragweave.serve.run import ASIDE, Run, Status
from ragweave.serve.store import Store, Thread

logger = logging.getLogger(__name__)

_UNFINISHED = ("step", "sentence", "note")
"""Events that are kept of a turn without an answer."""
_INTERRUPTED = Refused(503, "the server ended while it answered", "ask again", "interrupted")
_KEPT = 500
"""Ended runs whose journal can still be read."""
_KEPT_SECONDS = 900.0


class Runs:
    """Every run of this server."""

    def __init__(self, store: Store, saver: AsyncSqliteSaver, slots: Slots, seconds: float) -> None:
        self._store, self._saver, self._slots, self._seconds = store, saver, slots, seconds
        self._runs: dict[str, Run] = {}
        self._graphs: dict[str, Any] = {}
        self._closing = False

    async def start(
        self,
        caller: Caller,
        question: str,
        thread: Thread,
        library: LibraryRow,
        graph: str,
        context: Context,
        pictures: Sequence[Attached] = (),
        earlier: Sequence[AnyMessage] = (),
    ) -> Run:
        """Begin to answer; `earlier` is what was said before, elsewhere."""
        self.graph(graph)
        open_ = [r for r in self._runs.values() if r.status in ("running", "waiting")]
        for other in [r for r in open_ if r.thread == thread.id]:
            if other.status == "running":
                raise Refused(409, "this conversation is being answered already", "wait for the answer, or cancel it")
            # A question that waits for consent is dropped when the next one is asked.
            await self.cancel(other)
        self._slots.take()
        run = Run(secrets.token_urlsafe(16), caller.id, thread.id, library, graph, question, context, pictures, earlier)
        self._runs[run.id] = run  # before anything is awaited, so that a second question finds it
        title = clip(" ".join(question.split()), 80)
        try:
            images = [p.image for p in pictures]
            knobs = context.model_dump(mode="json", exclude_unset=True)
            kept = (thread.id, run.id, graph, question, title, images, knobs)
            run.turn = await asyncio.to_thread(self._store.add_turn, *kept)
        except BaseException:
            del self._runs[run.id]
            self._slots.give()
            raise
        return self._begin(run)

    def launch(self, run: Run) -> Run:
        """Begin a run that stands beside every conversation."""
        self._slots.take()
        self._runs[run.id] = run
        return self._begin(run)

    def _begin(self, run: Run) -> Run:
        budget = {k: getattr(run.context, f"max_{k}") for k in ("model_calls", "tokens", "seconds")}
        begun = {"type": "start", "run": run.id, "thread": run.thread, "turn": run.turn, "graph": run.graph}
        run.journal.add({**begun, "budget": budget})
        self._go(run)
        self._forget_old()
        return run

    def get(self, caller: Caller, id: str) -> Run:
        """Return a run of a caller."""
        run = self._runs.get(id)
        if run is None or run.owner != caller.id or not caller.sees(run.library.id):
            raise NotFound("There is no such run", "an ended run is kept for a while; its answer stays in the thread")
        return run

    async def resume(self, run: Run, consent: bool) -> None:
        """Go on with a run that waits for consent."""
        if run.status != "waiting":
            raise Refused(409, "this run does not wait for consent", "consent is asked for once and answered once")
        self._slots.take()
        run.status = "running"
        run.journal.add({"type": "consented", "consent": consent})
        self._go(run, consent)

    async def cancel(self, run: Run) -> None:
        """Stop a run; one that has ended stays as it is."""
        if run.status == "waiting":
            await self._end(run, "cancelled")
        elif run.status == "running" and run.task is not None:
            run.task.cancel()
            await asyncio.wait([run.task])
            if run.status == "running":  # it was stopped before its first step
                await self._stopped(run)

    def answers(self, thread: str) -> bool:
        """Tell whether a conversation is being answered."""
        return any(r.thread == thread and r.status == "running" for r in self._runs.values())

    async def cancel_thread(self, thread: str) -> None:
        """Stop whatever answers a conversation."""
        for run in [r for r in self._runs.values() if r.thread == thread]:
            await self.cancel(run)

    async def take_over(self) -> None:
        """Take over what the last server left: runs that wait for consent go on waiting, others say how they ended."""
        for table in ("writes", "checkpoints"):
            await self._saver.conn.execute(f"DELETE FROM {table} WHERE thread_id LIKE '{ASIDE}%'")
        await self._saver.conn.commit()
        kept = await asyncio.to_thread(self._store.take_over)
        rows = {row.id: row for row in await visible(Caller())} if kept else {}
        for thread, turn, waiting in kept:
            try:
                context, library = Context.model_validate((waiting or {}).get("context", {})), rows[thread.library]
                run = Run(turn.run, thread.owner, thread.id, library, turn.graph, turn.question, context, turn=turn.n)
                self.graph(turn.graph)
            except (KeyError, ValueError, RagweaveError):  # the library is gone, or a knob of an older Ragweave is
                await asyncio.to_thread(self._store.set_turn, thread.id, turn.n, "cancelled", trail=turn.trail)
                continue
            for event in waiting["events"] if waiting else turn.trail:
                run.journal.add(event)
            self._runs[run.id] = run
            if waiting:
                run.status = "waiting"
            else:
                await self._fail(run, _INTERRUPTED)

    async def close(self) -> None:
        """Stop every run; one that waits for consent goes on waiting for the next server."""
        self._closing = True
        for run in [r for r in self._runs.values() if r.status != "waiting"]:
            await self.cancel(run)
        tidying = [run.task for run in self._runs.values() if run.task is not None and not run.task.done()]
        if tidying:
            await asyncio.wait(tidying)

    def _go(self, run: Run, resume: bool | None = None) -> None:
        run.task = asyncio.create_task(self._drive(run, resume), name=f"run {run.id}")
        run.task.add_done_callback(lambda _: self._slots.give())

    def graph(self, name: str) -> Any:
        """Return a compiled graph over the checkpoints of this server."""
        if name not in self._graphs:
            self._graphs[name] = graphs.build_agent(name, checkpointer=self._saver)
        return self._graphs[name]

    async def _drive(self, run: Run, resume: bool | None) -> None:
        began = time.monotonic()
        try:
            if resume is not None:
                await asyncio.to_thread(self._store.set_turn, run.thread, run.turn, "running")
            async with asyncio.timeout(self._seconds):
                last = await self._follow(run, resume)
            if last["type"] == "consent":
                await self._keep_waiting(run, last)
                run.status = "waiting"
                # Told only now: whoever answers at once finds a run that waits.
                run.journal.add(last)
                return
            for note in last["answer"]["notes"]:
                run.journal.add({"type": "note", "text": note})
            await self._end(run, "done", {**last, "thread": run.thread, "turn": run.turn}, answer=last["answer"])
        except asyncio.CancelledError:
            await self._stopped(run)
        except TimeoutError:
            await self._fail(run, too_long(self._seconds))
        except Exception as error:
            await self._fail(run, error)
        finally:
            told = {"run": run.id, "seconds": round(time.monotonic() - began, 3)}
            logger.info("run %s %s", run.id, run.status, extra=told)
        # The answer stands whatever becomes of this.
        try:
            if not run.turn and run.status != "waiting":
                await self._saver.adelete_thread(run.thread)
            elif run.status == "done":
                await self._forget_steps(run)
        except sqlite3.Error as error:
            logger.warning("the steps of conversation %s stay (%s)", run.thread, error)

    async def _keep_waiting(self, run: Run, consent: dict[str, Any]) -> None:
        events = [json.loads(e.data) for e in run.journal.entries]
        kept = {"context": run.context.model_dump(mode="json"), "events": [*events, consent]}
        trail = run.told(_UNFINISHED)
        await asyncio.to_thread(self._store.set_turn, run.thread, run.turn, "waiting", trail=trail, waiting=kept)

    async def _follow(self, run: Run, resume: bool | None) -> dict[str, Any]:
        """Tell what happens, and return the last event: the answer, or the question for consent."""
        messages = None if run.step else [*run.earlier, asked_with(run.question, run.pictures)]
        # The steps of a turn are kept, to be gone back to; those of a run beside it are not.
        how: dict[str, Any] = {"durability": "async" if run.turn else "exit", "metadata": {"run": run.id}}
        how |= {"thread": run.thread, "graph": self.graph(run.graph), "resume": resume}
        last: dict[str, Any] = {}
        async with aclosing(events_of(run.library, messages, run.context, **how)) as events:
            async for event in events:
                if event["type"] in ("answer", "consent"):
                    last = event
                else:
                    run.journal.add(event)
                if event["type"] == "sentence":  # what was shown is still known after a kill
                    trail = run.told(_UNFINISHED)
                    await asyncio.to_thread(self._store.set_turn, run.thread, run.turn, "running", trail=trail)
        return last

    async def _forget_steps(self, run: Run) -> None:
        """Keep the steps of the last turn of a conversation alone; what was said in it stands in the store."""
        async with self._saver.lock:
            for table in ("writes", "checkpoints"):
                await self._saver.conn.execute(
                    f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id < "
                    "(SELECT min(checkpoint_id) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' "
                    "AND json_extract(CAST(metadata AS TEXT), '$.run') = ?)",
                    (run.thread, run.thread, run.id),
                )
            await self._saver.conn.commit()

    async def _stopped(self, run: Run) -> None:
        if not self._closing:
            await self._end(run, "cancelled")
            return
        # Left as a server that is killed leaves it: the next one records how it ended.
        run.status, trail = "failed", run.told(_UNFINISHED)
        await asyncio.to_thread(self._store.set_turn, run.thread, run.turn, "running", trail=trail)
        run.journal.add({"type": "error", "problem": problem(_INTERRUPTED)})
        run.journal.close(status="failed")

    async def _fail(self, run: Run, error: Exception) -> None:
        if not isinstance(error, RagweaveError):
            logger.error("run %s failed", run.id, exc_info=error)
        found = problem(error)
        await self._end(run, "failed", {"type": "error", "problem": found}, problem=found)

    async def _end(self, run: Run, status: Status, event: dict[str, Any] | None = None, **kept: Any) -> None:
        """Record how a run ended, and only then tell it: whoever asks for the conversation at once finds it there."""
        run.status, run.ended = status, time.monotonic()
        # The answer holds its own sentences; without one, what was shown is kept as it was told.
        trail = run.told(("step",) if "answer" in kept else _UNFINISHED)
        await asyncio.to_thread(self._store.set_turn, run.thread, run.turn, status, **kept, trail=trail)
        if event is not None:
            run.journal.add(event)
        run.journal.close(status=status)

    def _forget_old(self) -> None:
        ended = sorted((r for r in self._runs.values() if r.ended), key=lambda r: r.ended)
        late = time.monotonic() - _KEPT_SECONDS
        for n, run in enumerate(ended):
            if run.ended < late or n < len(ended) - _KEPT:
                del self._runs[run.id]
