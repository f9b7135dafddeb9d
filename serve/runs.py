"""Answers under way: each has a journal that readers follow, an owner, and an end.

What is kept of them lies in the tables, so that any server can read, resume and stop what another one began.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AnyMessage

from ragweave.components.attachments import Attachment, asked_with
from ragweave.components.context import Context
from ragweave.components.run_context import has_writer_model
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.graphs import run as graphs
from ragweave.models.errors import RagweaveError
from ragweave.serve.access import Caller, library_by_id
from ragweave.serve.attached import FileDesk
from ragweave.serve.conversations import forget_steps
from ragweave.serve.counters import ERRORS
from ragweave.serve.direct import events_of, interrupted, noted, too_long
from ragweave.serve.journal import Journal
from ragweave.serve.nearest import found_places
from ragweave.serve.problems import NotFound, Refused, problem
from ragweave.serve.records import Record, Records, Status
from ragweave.serve.remote_journal import Followed
from ragweave.serve.run import ServedRun, trail_of
from ragweave.serve.slots import Slots
from ragweave.serve.store import ConversationThread

if TYPE_CHECKING:
    from ragweave.serve.conversations import Saver

logger = logging.getLogger(__name__)

_UNFINISHED = ("step", "sentence", "mark", "note")
"""Events that are kept of a turn without an answer."""


_TIMES = 2
"""How often a run is resumed whose server was killed: it may be what kills them."""


class Runs:
    """The runs that this server answers, and a way to those of the others."""

    def __init__(
        self, records: Records, followed: Followed, saver: Saver, slots: Slots, files: FileDesk
    ) -> None:
        self._records, self._followed, self._saver, self._slots = records, followed, saver, slots
        self._files = files
        self._runs: dict[str, ServedRun] = {}
        self._graphs: dict[str, Any] = {}
        self._closing = False

    async def start(
        self,
        caller: Caller,
        question: str,
        thread: ConversationThread,
        library: LibraryRow,
        graph: str,
        context: Context,
        pictures: Sequence[Attachment] = (),
        earlier: Sequence[AnyMessage] = (),
        new: bool = False,
        replaces: int = 0,
        seen: str = "",
    ) -> ServedRun:
        """Begin to answer; `earlier` is what was said before, elsewhere or up to the turn that this one replaces.

        A conversation that is `new` is kept, and what is replaced goes, once the answer has begun and not
        before.

        Raises:
            Refused: too many answers are under way, or the conversation is being answered.
        """
        self.graph(graph)
        for record in () if new else await asyncio.to_thread(self._records.open, thread.id):
            # A question that waits for consent is dropped when the next one is asked.
            if record.status == "waiting" or self.lost(record):
                await self.cancel(record)
        run = ServedRun(
            secrets.token_urlsafe(16),
            caller.id,
            thread.id,
            library,
            graph,
            question,
            context,
            pictures,
            earlier,
        )
        knobs = context.model_dump(mode="json", exclude_unset=True)
        async with self._beginning(run):
            images = [p.image for p in run.pictures]
            begun_with = run.record, images, knobs, thread if new else None, replaces, seen
            run.turn = await asyncio.to_thread(self._records.begin, *begun_with)
            if replaces:  # the state of the graph holds what went; it is made anew from what stays
                await self._saver.adelete_thread(run.thread)
            budget = {k: getattr(run.context, f"max_{k}") for k in ("model_calls", "tokens", "seconds")}
            begun = {
                "type": "start",
                "run": run.id,
                "thread": run.thread,
                "turn": run.turn,
                "graph": run.graph,
            }
            self._go(run, {**begun, "budget": budget})
        return run

    @asynccontextmanager
    async def _beginning(self, run: ServedRun) -> AsyncIterator[None]:
        """Keep a run that is being written down; whoever stops it meanwhile waits until it can be."""
        self._slots.check()
        async with run.beginning:
            self._runs[run.id] = run
            try:
                yield
            except BaseException:
                self._leave(run)
                raise

    async def get(self, caller: Caller, id: str) -> Record:
        """Return what is known of a run of a caller."""
        record = await asyncio.to_thread(self._records.get, id)
        if (
            record is None
            or not record.thread
            or record.owner != caller.id
            or not caller.sees(record.library)
        ):
            raise NotFound(
                "There is no such run", "an ended run is kept for a while; its answer stays in the thread"
            ).named("no_such_run")
        return record

    async def journal(self, record: Record) -> Journal:
        """Return what a run tells, whichever server it is on."""
        run = self._runs.get(record.id)
        return run.journal if run else await self._followed.journal(record.id)

    def lost(self, record: Record) -> bool:
        """Tell whether a run counts as this server's and is not here: how it ended could not be kept."""
        return record.status == "running" and self._records.mine(record) and record.id not in self._runs

    async def resume(self, caller: Caller, record: Record, consent: bool) -> None:
        """Go on with a run that waits for consent, on whichever server it began."""
        taken = Refused(
            409, "this run does not wait for consent", "consent is asked for once and answered once"
        ).named("run_does_not_wait")
        if record.status != "waiting":
            raise taken
        library = await library_by_id(caller, record.library)
        try:
            run = await self._kept_run(record, library)
        except RagweaveError as error:  # a knob of an older Ragweave
            await self.cancel(record)
            raise Refused(409, f"this run cannot go on ({error.what})", "ask again").named(
                "run_cannot_go_on", what=error.what
            ) from None
        if (other := self._runs.get(run.id)) and other.status == "running":  # answered here a moment ago
            raise taken
        async with self._beginning(run):
            if not await asyncio.to_thread(self._records.claim, record):
                raise taken
            await self._followed.take(run.id)
            self._go(run, {"type": "consented", "consent": consent}, consent)

    async def cancel(self, record: Record) -> None:
        """Stop a run; one that has ended stays as it is."""
        if (run := self._runs.get(record.id)) and run.status == "running":
            await self._stop(run)
        elif record.status == "running" and run is not None and run.task is not None:
            await asyncio.wait([run.task])  # how it ended is being written down
            now = await asyncio.to_thread(self._records.get, run.id)
            if now and (now.status == "waiting" or self.lost(now)):
                await self._take_over(now, "cancelled")
        elif record.status == "waiting" or self.lost(record):
            await self._take_over(record, "cancelled")
        elif record.status == "running":
            await asyncio.to_thread(self._records.stop, record.id)
            await self._followed.end(record.id)

    def stop(self, id: str) -> None:
        """Stop a run that another server was asked to stop."""
        if (run := self._runs.get(id)) and run.status == "running" and run.task is not None:
            run.task.cancel()

    async def cancel_thread(self, thread: str) -> None:
        """Stop whatever answers a conversation."""
        for record in await asyncio.to_thread(self._records.open, thread):
            await self.cancel(record)

    async def interrupt(self, record: Record) -> None:
        """Go on with a run whose server has ended, where its last checkpoint stands, or say why not."""
        try:
            run = await self._left_behind(record)
        except RagweaveError as error:
            found = problem(interrupted(error.what))
            await self._take_over(record, "failed", {"type": "error", "problem": found}, problem=found)
            return
        async with self._beginning(run):
            if not await asyncio.to_thread(self._records.claim, record):
                self._leave(run)  # another server was faster
                return
            await self._followed.take(run.id)
            self._go(run, {"type": "resumed"})

    async def _left_behind(self, record: Record) -> ServedRun:
        """Return a run of a server that has ended, ready to go on.

        Raises:
            RagweaveError: it cannot go on.
        """
        if self.lost(record):  # this server has told its reader already that it failed
            raise Refused(503, "how it ended could not be kept", "ask again").named("how_ended_could_not")
        library = await library_by_id(Caller(), record.library)
        run = await self._kept_run(record, library)
        if len(run.journal.told(("resumed",))) >= _TIMES:
            raise Refused(503, f"it was resumed {_TIMES} times already", "ask again").named(
                "resumed_times_already", times=_TIMES
            )
        kept = await self._saver.aget_tuple({"configurable": {"thread_id": run.thread}})
        if kept is None or kept.metadata.get("run") != run.id:
            raise Refused(503, "none of its steps was kept", "ask again").named("none_steps_kept")
        run.goes_on = True
        return run

    async def _kept_run(self, record: Record, library: LibraryRow) -> ServedRun:
        """Return a run as its record tells of it, with what it has told."""
        about = record.about
        self.graph(about["graph"])
        # The library is the one that the caller was checked for, whatever has its name by now.
        context = Context.model_validate({**about["context"], "library": library.name})
        run = ServedRun(
            record.id, record.owner, record.thread, library, about["graph"], about["question"], context
        )
        run.turn, run.journal = record.turn, await self._followed.take(run.id)
        return run

    async def _take_over(
        self, record: Record, status: Status, *events: Mapping[str, Any], **kept: Any
    ) -> None:
        if await asyncio.to_thread(self._records.claim, record):
            journal = await self._followed.take(record.id)
            await self._close(record, journal, status, *events, **kept)

    async def close(self) -> None:
        """Stop every run; one that waits for consent goes on waiting for another server."""
        self._closing = True
        await asyncio.gather(*(self._stop(run) for run in self._runs.values() if run.status == "running"))
        if tidying := [run.task for run in self._runs.values() if run.task is not None]:
            await asyncio.wait(tidying)

    def _go(self, run: ServedRun, first: Mapping[str, Any], resume: bool | None = None) -> None:
        run.journal.kept_by(partial(self._records.tell, run.id))
        run.journal.add(first)
        run.task = asyncio.create_task(self._drive(run, resume), name=f"run {run.id}")
        run.task.add_done_callback(lambda _: self._give(run))

    def graph(self, name: str) -> Any:
        """Return a compiled graph over the checkpoints of this server."""
        if name not in self._graphs:
            self._graphs[name] = graphs.build_agent(name, checkpointer=self._saver)
        return self._graphs[name]

    async def _drive(self, run: ServedRun, resume: bool | None) -> None:
        began = time.monotonic()
        try:
            await self._slots.turn(
                run.owner, lambda place: run.journal.add({"type": "queue", "place": place})
            )
            run.holds = True
            async with asyncio.timeout(self._slots.seconds):
                last = await self._follow(run, resume)
            if last["type"] == "consent":
                await self._end(run, "waiting", last)
            else:
                notes = [{"type": "note", "text": note} for note in last["answer"]["notes"]]
                told = {**last, "thread": run.thread, "turn": run.turn}
                await self._end(run, "done", *notes, told, answer=last["answer"])
        except asyncio.CancelledError:
            await self._stopped(run)
        except TimeoutError:
            await self._fail(run, too_long(self._slots.seconds))
        except Exception as error:
            await self._fail(run, error)
        self._give(run)  # whoever has read the end may ask again at once, whatever is tidied up yet
        seconds = round(time.monotonic() - began, 3)
        logger.info("run %s %s", run.id, run.status, extra={"run": run.id, "seconds": seconds})
        try:
            # The library was deleted by another process, and the conversation with it: its steps go as well.
            if run.status == "failed" and not await asyncio.to_thread(self._records.kept, run.thread):
                await self._saver.adelete_thread(run.thread)
            elif run.status == "done" and (run.turn > 1 or has_writer_model(run.context)):
                await forget_steps(self._saver, run.thread, run.id)
        except Exception as error:  # the answer stands whatever becomes of this
            logger.warning("the steps of conversation %s stay (%s)", run.thread, error)
        finally:
            self._leave(run)

    async def _follow(self, run: ServedRun, resume: bool | None) -> dict[str, Any]:
        """Tell what happens, and return the last event: the answer, or the question for consent."""
        messages = [] if run.goes_on else [*run.earlier, asked_with(run.question, run.pictures)]
        writes = has_writer_model(run.context)
        # Each step with a chat model is kept, so that a run goes on after a kill. Without one, asking again
        # costs less.
        how: dict[str, Any] = {"durability": "async" if writes else "exit", "metadata": {"run": run.id}}
        how |= {"thread": run.thread, "graph": self.graph(run.graph), "resume": resume}
        last: dict[str, Any] = {}
        context = run.context
        if not context.files:  # another server began this run, or an earlier question brought the files
            context = context.with_files(await self._files.of_thread(run.owner, run.thread))
        notes = [note for file in context.files for note in file.notes]
        async with aclosing(noted(events_of(run.library, messages, context, **how), notes)) as events:
            async for event in events:
                if event["type"] in ("answer", "consent"):
                    last = event
                else:
                    run.journal.add(event)
                    if event["type"] == "sentence" and not run.appears:
                        run.appears = True
                        await self._slots.appears()
                    if (
                        event["type"] == "step"
                        and writes
                        and (places := await found_places(run.library, event))
                    ):
                        run.journal.add({"type": "found", "places": places})
        return last

    async def _stop(self, run: ServedRun) -> None:
        async with run.beginning:
            pass
        if run.task is not None:
            run.task.cancel()
            await asyncio.wait([run.task])
            if run.status == "running":  # it was stopped before its first step
                await self._stopped(run)
                self._leave(run)

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
            await self._close(run.record, run.journal, status, *events, **kept)
        except Exception as error:
            # The disk or the database refuses, or another server has this run: it is told here, and kept
            # later.
            logger.warning("how run %s ended is not kept (%s)", run.id, error)
            run.status = "failed"
            run.journal.abandon(
                {"type": "error", "problem": problem(error)}, {"type": "end", "status": "failed"}
            )

    async def _close(
        self, record: Record, journal: Journal, status: Status, *events: Mapping[str, Any], **kept: Any
    ) -> None:
        """Record how a run ended, and only then tell it: whoever asks for the conversation at once finds it there."""
        # The answer holds its own sentences; without one, what was shown is kept as it was told.
        trail = trail_of(journal.told(("step", "resumed") if "answer" in kept else (*_UNFINISHED, "resumed")))
        last = events if status == "waiting" else (*events, {"type": "end", "status": status})
        await journal.close(
            *last, keep=lambda entries: self._records.end(record, status, entries, trail=trail, **kept)
        )

    def _give(self, run: ServedRun) -> None:
        if run.holds:
            run.holds = False
            self._slots.give(run.appears)

    def _leave(self, run: ServedRun) -> None:
        if self._runs.get(run.id) is run:  # it may have been resumed already
            del self._runs[run.id]
