"""Answers in progress: each has an owner, an end, and a journal of events that readers follow.

Their records are in the database, so that every server can read, resume and stop the runs of the others.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AnyMessage

from ragweave.components.attachments import Attachment
from ragweave.components.context import Context
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.models.errors import RagweaveError
from ragweave.serve.access import Caller, library_by_id
from ragweave.serve.attached import FileDesk
from ragweave.serve.direct import interrupted
from ragweave.serve.event_writer import EventWriter
from ragweave.serve.journal import Journal
from ragweave.serve.problems import NotFound, Refused, problem
from ragweave.serve.records import Record, Records, Status
from ragweave.serve.remote_journal import Followed
from ragweave.serve.run import ServedRun
from ragweave.serve.run_driver import RunDriver
from ragweave.serve.slots import Slots
from ragweave.serve.store import ConversationThread

if TYPE_CHECKING:
    from ragweave.serve.conversations import Saver

_MAX_RESUMES = 2
"""How often a run is resumed after its server was killed: the run itself may be the cause."""


class Runs:
    """The runs of this server, with access to those of other servers."""

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
        self._driver = RunDriver(records, writer, followed, saver, slots, files)
        self._runs = self._driver.runs

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
        notes: Sequence[str] = (),
    ) -> ServedRun:
        """Begin to answer a question.

        `earlier` has the messages before it, from elsewhere or up to the turn that this one replaces. A
        `new` conversation is stored, and the turns from number `replaces` on are removed, only when the
        answer begins. `seen` is the run of the last turn that the caller has read. `notes` are added to
        those of the answer.

        Raises:
            Refused: too many answers are in progress, or the conversation is being answered.
        """
        self.graph(graph)
        if not new:
            await self._drop_waiting(thread.id)
        id = secrets.token_urlsafe(16)
        run = ServedRun(id, caller.id, thread.id, library, graph, question, context, pictures, earlier, notes)
        run.new = new
        knobs = context.model_dump(mode="json", exclude_unset=True)
        async with self._beginning(run):
            images = [p.image for p in run.pictures]
            keep = partial(self._records.begin, run.record, images, knobs, thread if new else None)
            run.turn = await asyncio.to_thread(keep, replaces, seen)
            if replaces:  # the state of the graph holds the removed turns; it is rebuilt from `earlier`
                await self._saver.adelete_thread(run.thread)
            self._driver.launch(run, _start_event(run))
        return run

    async def _drop_waiting(self, thread: str) -> None:
        """Cancel runs of a conversation that wait for consent: a new question replaces them."""
        for record in await asyncio.to_thread(self._records.open, thread):
            if record.status == "waiting" or self.lost(record):
                await self.cancel(record)

    @asynccontextmanager
    async def _beginning(self, run: ServedRun) -> AsyncIterator[None]:
        """Register a run while it is stored; a request to stop it waits until it has begun."""
        self._slots.check()
        async with run.beginning:
            self._runs[run.id] = run
            try:
                yield
            except BaseException:
                self._driver.discard(run)
                raise

    async def get(self, caller: Caller, id: str) -> Record:
        """Return the record of a run of a caller."""
        record = await asyncio.to_thread(self._records.get, id)
        if record is not None and record.thread and record.owner == caller.id:
            if caller.sees(record.library):
                return record
        raise NotFound(
            "There is no such run", "an ended run is kept for a while; its answer stays in the thread"
        ).named("run_not_found")

    async def journal(self, record: Record) -> Journal:
        """Return the journal of a run of any server."""
        run = self._runs.get(record.id)
        return run.journal if run else await self._followed.journal(record.id)

    def lost(self, record: Record) -> bool:
        """Return whether a run is recorded as running here but is not: its end could not be stored."""
        return record.status == "running" and self._records.mine(record) and record.id not in self._runs

    async def resume(self, caller: Caller, record: Record, consent: bool) -> None:
        """Continue a run of any server that waits for consent."""
        taken = Refused(
            409, "this run does not wait for consent", "consent is asked for once and answered once"
        ).named("no_consent_pending")
        if record.status != "waiting":
            raise taken
        library = await library_by_id(caller, record.library)
        try:
            run = await self._restored(record, library)
        except RagweaveError as error:  # a knob of an older Ragweave
            await self.cancel(record)
            raise Refused(409, f"this run cannot continue ({error.what})", "ask again").named(
                "run_not_resumable", what=error.what
            ) from None
        other = self._runs.get(run.id)
        if other is not None and other.status == "running":  # consent came through this server just now
            raise taken
        async with self._beginning(run):
            if not await asyncio.to_thread(self._records.claim, record):
                raise taken
            await self._followed.take(run.id)
            self._driver.launch(run, {"type": "consented", "consent": consent}, consent)

    async def cancel(self, record: Record) -> None:
        """Stop a run; a run that has ended stays as it is."""
        run = self._runs.get(record.id)
        if run is not None and run.status == "running":
            await self._driver.stop(run)
        elif record.status == "running" and run is not None and run.task is not None:
            await asyncio.wait([run.task])  # its end is being stored
            now = await asyncio.to_thread(self._records.get, run.id)
            if now and (now.status == "waiting" or self.lost(now)):
                await self._take_over(now, "cancelled")
        elif record.status == "waiting" or self.lost(record):
            await self._take_over(record, "cancelled")
        elif record.status == "running":
            await asyncio.to_thread(self._records.stop, record.id)
            await self._followed.end(record.id)

    def stop(self, id: str) -> None:
        """Stop a run because another server requested it."""
        run = self._runs.get(id)
        if run is not None and run.status == "running" and run.task is not None:
            run.task.cancel()

    async def cancel_thread(self, thread: str) -> None:
        """Stop every run of a conversation."""
        for record in await asyncio.to_thread(self._records.open, thread):
            await self.cancel(record)

    async def interrupt(self, record: Record) -> None:
        """Resume a run of a dead server at its last checkpoint, or record why that is impossible."""
        try:
            run = await self._left_behind(record)
        except RagweaveError as error:
            found = problem(interrupted(error.what))
            await self._take_over(record, "failed", {"type": "error", "problem": found}, problem=found)
            return
        async with self._beginning(run):
            if not await asyncio.to_thread(self._records.claim, record):
                self._driver.discard(run)  # another server was faster
                return
            await self._followed.take(run.id)
            self._driver.launch(run, {"type": "resumed"})

    async def _left_behind(self, record: Record) -> ServedRun:
        """Return a run of a dead server, ready to resume.

        Raises:
            RagweaveError: it cannot be resumed.
        """
        if self.lost(record):  # the readers of this server have seen already that it failed
            raise Refused(503, "how it ended could not be kept", "ask again").named("outcome_not_saved")
        library = await library_by_id(Caller(), record.library)
        run = await self._restored(record, library)
        if len(run.journal.told(("resumed",))) >= _MAX_RESUMES:
            raise Refused(503, f"it was resumed {_MAX_RESUMES} times already", "ask again").named(
                "resumed_too_often", times=_MAX_RESUMES
            )
        kept = await self._saver.aget_tuple({"configurable": {"thread_id": run.thread}})
        if kept is None or kept.metadata.get("run") != run.id:
            raise Refused(503, "none of its steps was kept", "ask again").named("no_checkpoint")
        run.goes_on = True
        return run

    async def _restored(self, record: Record, library: LibraryRow) -> ServedRun:
        """Return a run rebuilt from its record, with its journal."""
        about = record.about
        self.graph(about["graph"])
        # Use the library whose access was checked, even if another one has its old name by now.
        context = Context.model_validate({**about["context"], "library": library.name})
        run = ServedRun(
            record.id, record.owner, record.thread, library, about["graph"], about["question"], context
        )
        run.turn, run.notes = record.turn, about.get("notes", ())
        run.journal = await self._followed.take(run.id)
        return run

    async def _take_over(
        self, record: Record, status: Status, *events: Mapping[str, Any], **kept: Any
    ) -> None:
        """Claim a run of another server and record its end."""
        if await asyncio.to_thread(self._records.claim, record):
            journal = await self._followed.take(record.id)
            await self._driver.finish(record, journal, status, *events, **kept)

    async def close(self) -> None:
        """Stop every run; one that waits for consent stays available to other servers."""
        await self._driver.close()

    def graph(self, name: str) -> Any:
        """Return a compiled graph over the checkpoints of this server."""
        return self._driver.graph(name)


def _start_event(run: ServedRun) -> dict[str, Any]:
    """Return the first event of a run."""
    context = run.context
    return {
        "type": "start",
        "run": run.id,
        "thread": run.thread,
        "turn": run.turn,
        "graph": run.graph,
        "budget": {
            "model_calls": context.max_model_calls,
            "tokens": context.max_tokens,
            "seconds": context.max_seconds,
        },
    }
