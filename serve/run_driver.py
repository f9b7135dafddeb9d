"""Drive one run from its place in the queue to its end, and record how it ended."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from ragweave.components.attachments import asked_with
from ragweave.components.context import Context
from ragweave.components.run_context import has_writer_model
from ragweave.graphs import run as graphs
from ragweave.serve.attached import FileDesk
from ragweave.serve.conversations import forget_steps, settle
from ragweave.serve.counters import ERRORS
from ragweave.serve.direct import events_of, interrupted, noted, too_long
from ragweave.serve.event_writer import EventWriter
from ragweave.serve.journal import Journal
from ragweave.serve.nearest import found_places
from ragweave.serve.notes import coded, with_key
from ragweave.serve.problems import problem
from ragweave.serve.records import Record, Records, Status
from ragweave.serve.remote_journal import Followed
from ragweave.serve.run import ServedRun, trail_of
from ragweave.serve.slots import Slots

if TYPE_CHECKING:
    from ragweave.serve.conversations import Saver

logger = logging.getLogger(__name__)

_UNFINISHED = ("step", "sentence", "mark", "note")
"""Events that are stored with a turn that has no answer."""


class RunDriver:
    """Execute runs on this server; `runs` holds by id those that have not finished their cleanup."""

    def __init__(
        self,
        records: Records,
        writer: EventWriter,
        followed: Followed,
        saver: Saver,
        slots: Slots,
        files: FileDesk,
    ) -> None:
        self._records, self._followed, self._saver, self._slots = records, followed, saver, slots
        self._writer = writer
        self._files = files
        self.runs: dict[str, ServedRun] = {}
        self._graphs: dict[str, Any] = {}
        self._closing = False

    def graph(self, name: str) -> Any:
        """Return a compiled graph over the checkpoints of this server."""
        if name not in self._graphs:
            self._graphs[name] = graphs.build_agent(name, checkpointer=self._saver)
        return self._graphs[name]

    def launch(self, run: ServedRun, first: Mapping[str, Any], resume: bool | None = None) -> None:
        """Start the task of a run; `first` is its first event, `resume` the reader's consent."""
        run.journal.kept_by(partial(self._writer.tell, run.id))
        run.journal.add(first)
        run.task = asyncio.create_task(self._drive(run, resume), name=f"run {run.id}")
        run.task.add_done_callback(lambda _: self._release_slot(run))

    async def stop(self, run: ServedRun) -> None:
        """Stop a run and wait until its end is recorded."""
        async with run.beginning:
            pass
        if run.task is None:
            return
        run.task.cancel()
        await asyncio.wait([run.task])
        if run.status == "running":  # it was stopped before its first step
            await self._stopped(run)
            self.discard(run)

    async def close(self) -> None:
        """Stop every run; one that waits for consent stays available to other servers."""
        self._closing = True
        stopping = [self.stop(run) for run in self.runs.values() if run.status == "running"]
        await asyncio.gather(*stopping)
        tasks = [run.task for run in self.runs.values() if run.task is not None]
        if tasks:
            await asyncio.wait(tasks)

    def discard(self, run: ServedRun) -> None:
        """Remove a run from `runs`, unless its id belongs to a newer run by now."""
        if self.runs.get(run.id) is run:  # it may have been resumed already
            del self.runs[run.id]

    async def finish(
        self, record: Record, journal: Journal, status: Status, *events: Mapping[str, Any], **kept: Any
    ) -> None:
        """Store how a run ended before readers see it, so that a query right after finds it."""
        # The answer holds its own sentences. Without an answer, the events that were shown are stored.
        kinds: tuple[str, ...] = ("step", "resumed")
        if "answer" not in kept:
            kinds = (*_UNFINISHED, "resumed")
        trail = trail_of(journal.told(kinds))
        last = events
        if status != "waiting":
            last = (*events, {"type": "end", "status": status})
        keep = partial(self._writer.end, record, status, trail=trail, **kept)
        await journal.close(*last, keep=keep)

    async def _drive(self, run: ServedRun, resume: bool | None) -> None:
        """Wait for a slot, run the graph, and record the end."""
        began = time.monotonic()
        try:
            await self._slots.turn(
                run.owner, lambda place: run.journal.add({"type": "queue", "place": place})
            )
            run.holds = True
            async with asyncio.timeout(self._slots.seconds):
                last = await self._follow(run, resume)
            await settle(self._saver, run.thread)
            await self._succeed(run, last)
        except asyncio.CancelledError:
            await self._stopped(run)
        except TimeoutError:
            await self._fail(run, too_long(self._slots.seconds))
        except Exception as error:
            await self._fail(run, error)
        self._release_slot(run)  # before the cleanup: a reader of the end may send the next query at once
        seconds = round(time.monotonic() - began, 3)
        logger.info("run %s %s", run.id, run.status, extra={"run": run.id, "seconds": seconds})
        try:
            await self._forget_checkpoints(run)
        except Exception as error:  # the answer is valid even if this fails
            logger.warning("the steps of conversation %s stay (%s)", run.thread, error)
        finally:
            self.discard(run)

    async def _succeed(self, run: ServedRun, last: dict[str, Any]) -> None:
        """Record the last event of the graph: a request for consent or an answer."""
        if last["type"] == "consent":
            await self._end(run, "waiting", last)
            return
        answer = last["answer"]
        kinds = list(map(coded, answer["notes"]))
        sentences = list(map(with_key, answer["sentences"]))
        answer = {**answer, "sentences": sentences, "note_kinds": kinds, "why_kind": coded(answer["why"])}
        notes = [{"type": "note", **kind} for kind in kinds]
        event = {**last, "answer": answer, "thread": run.thread, "turn": run.turn}
        await self._end(run, "done", *notes, event, answer=answer)

    async def _forget_checkpoints(self, run: ServedRun) -> None:
        """Delete the checkpoints of a run that no later turn needs."""
        # Another process may have deleted the library and with it the conversation.
        if run.status == "failed" and not await asyncio.to_thread(self._records.kept, run.thread):
            await self._saver.adelete_thread(run.thread)
        elif run.status == "done" and (run.turn > 1 or has_writer_model(run.context)):
            await forget_steps(self._saver, run.thread, run.id)

    async def _follow(self, run: ServedRun, resume: bool | None) -> dict[str, Any]:
        """Add the events of the graph to the journal; return the answer or the request for consent."""
        messages = [] if run.goes_on else [*run.earlier, asked_with(run.question, run.pictures)]
        writes = has_writer_model(run.context)
        # With a chat model, each step is stored, so that a run resumes after a kill. Without one, asking
        # again costs less.
        how: dict[str, Any] = {"durability": "async" if writes else "exit", "metadata": {"run": run.id}}
        how |= {"thread": run.thread, "graph": self.graph(run.graph), "resume": resume}
        context = await self._with_files(run)
        notes = [*run.notes]
        for file in context.files:
            notes.extend(file.notes)
        last: dict[str, Any] = {}
        async with aclosing(noted(events_of(run.library, messages, context, **how), notes)) as events:
            async for event in events:
                if event["type"] in ("answer", "consent"):
                    last = event
                    continue
                run.journal.add(with_key(event) if event["type"] == "sentence" else event)
                if event["type"] == "sentence" and not run.appears:
                    run.appears = True
                    await self._slots.appears()
                if event["type"] == "step" and writes:
                    await self._show_places(run, event)
        return last

    async def _with_files(self, run: ServedRun) -> Context:
        """Return the context of a run with the files of its conversation."""
        if run.context.files or run.new:
            return run.context
        # Another server began this run, or an earlier query sent the files.
        return run.context.with_files(await self._files.of_thread(run.owner, run.thread))

    async def _show_places(self, run: ServedRun, step: Mapping[str, Any]) -> None:
        """Show the passages that a step selected."""
        places = await found_places(run.library, step)
        if places:
            run.journal.add({"type": "found", "places": places})

    async def _stopped(self, run: ServedRun) -> None:
        if self._closing:
            await self._fail(run, interrupted())
        else:
            await self._end(run, "cancelled")

    async def _fail(self, run: ServedRun, error: Exception) -> None:
        found = problem(error, f"run {run.id}")
        ERRORS.labels(found["code"]).inc()
        await self._end(run, "failed", {"type": "error", "problem": found}, problem=found)

    async def _end(self, run: ServedRun, status: Status, *events: Mapping[str, Any], **kept: Any) -> None:
        run.status = status
        if status == "waiting":
            self._followed.put(run.id, run.journal)
        try:
            await self.finish(run.record, run.journal, status, *events, **kept)
        except Exception as error:
            # The disk or the database fails, or another server has taken this run. The readers here see
            # the error now; it is stored later.
            logger.warning("how run %s ended is not kept (%s)", run.id, error)
            run.status = "failed"
            run.journal.abandon(
                {"type": "error", "problem": problem(error)}, {"type": "end", "status": "failed"}
            )

    def _release_slot(self, run: ServedRun) -> None:
        if run.holds:
            run.holds = False
            self._slots.give(run.appears)
