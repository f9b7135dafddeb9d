"""Indexing uploaded files: a job each, told as it goes, taken over where its server ended."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path, PurePath
from typing import Any

from ragweave.components.indexing import aindex
from ragweave.corpora.ingest.events import Event
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.objects import discard, here
from ragweave.corpora.store.stores import stores
from ragweave.serve.access import Caller, visible
from ragweave.serve.counters import FILES, JOBS
from ragweave.serve.journal import Journal
from ragweave.serve.problems import NotFound, Refused, problem
from ragweave.serve.records import Record, Records, Status
from ragweave.serve.remote_journal import Followed
from ragweave.serve.uploads import not_indexed, sweep

logger = logging.getLogger(__name__)

_JOBS = 4
"""Indexing jobs that may wait or run at once for one library; they take turns anyway."""
_INTERRUPTED = Refused(
    503, "the server ended while it indexed", "another one goes on with the files", "interrupted"
).named("server_ended_while_indexed")


@dataclass
class Job:
    """One indexing of uploaded files; `others` are files of the jobs that waited or ran when it began.

    While it is `ending`, how it ended is written down, which nothing breaks off.
    """

    record: Record
    library: LibraryRow
    paths: list[Path]
    others: frozenset[Path]
    journal: Journal = field(default_factory=Journal)
    task: asyncio.Task[None] | None = None
    ending: bool = False

    def stop(self) -> asyncio.Task[None] | None:
        """Stop it unless it ends by itself; return what to wait for, if it has begun."""
        if self.task is not None and not self.ending:
            self.task.cancel()
        return self.task


class Jobs:
    """The indexing jobs of this server, and a way to those of the others."""

    def __init__(self, records: Records, followed: Followed) -> None:
        self._records, self._followed = records, followed
        self._jobs: dict[str, Job] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def check(self, library: LibraryRow) -> None:
        """Refuse a job where too many wait."""
        if len(await self._open(library.id)) >= _JOBS:
            what = f"{_JOBS} uploads into {library.name!r} are being indexed"
            raise Refused(429, what, "wait until one has ended", after=5).named(
                "uploads_into_being_indexed", jobs=_JOBS, name=library.name
            )

    async def start(
        self, caller: Caller, library: LibraryRow, paths: list[Path], refused: list[dict[str, str]]
    ) -> Record:
        """Begin to index files, and tell of those that were refused."""
        others = _paths(await self._open(library.id))
        about = {"paths": [str(path) for path in paths]}
        record = Record(secrets.token_urlsafe(16), caller.id, library.id, "", 0, about, "running", "")
        job = self._jobs[record.id] = Job(record, library, paths, others)
        try:
            await asyncio.to_thread(self._records.begin, record)
        except BaseException:
            del self._jobs[record.id]
            raise
        job.journal.kept_by(partial(self._records.tell, record.id))
        for row in refused:
            job.journal.add({"type": "failed", **row})
        JOBS.inc()
        job.task = asyncio.create_task(self._drive(job, self._turns[library.id]), name=f"job {record.id}")
        job.task.add_done_callback(lambda _: JOBS.dec())
        return record

    async def take_over(self, library: str | None = None) -> None:
        """Go on with the uploads, of one library or all, that a server which is gone had taken and not indexed."""
        for row in await visible(Caller()):
            if library not in (None, row.id):
                continue
            await asyncio.to_thread(sweep, row.id)
            taken = _paths(await self._open(row.id))
            if paths := sorted(set(await asyncio.to_thread(not_indexed, row.id)) - taken):
                await self.start(Caller(), row, paths, [])

    async def get(self, caller: Caller, id: str) -> Record:
        """Return what is known of a job of a caller."""
        record = await asyncio.to_thread(self._records.get, id)
        if record is None or record.thread or record.owner != caller.id or not caller.sees(record.library):
            raise NotFound(
                "There is no such job", "the sources of the library tell what became of each file"
            ).named("no_such_job")
        return record

    async def mine(self, caller: Caller) -> list[Record]:
        """Return what waits or runs for a caller."""
        found = await asyncio.to_thread(self._records.running)
        own = [r for r in found if not r.thread and r.owner == caller.id and caller.sees(r.library)]
        return [record for record in own if not self.lost(record)]

    async def journal(self, record: Record) -> Journal:
        """Return what a job tells, whichever server it is on."""
        job = self._jobs.get(record.id)
        return job.journal if job else await self._followed.journal(record.id)

    def lost(self, record: Record) -> bool:
        """Tell whether a job counts as this server's and is not here: how it ended could not be kept."""
        return self._records.mine(record) and record.id not in self._jobs

    async def interrupt(self, record: Record) -> None:
        """Say how a job ended whose server has ended, and go on with its files."""
        if await asyncio.to_thread(self._records.claim, record):
            journal = await self._followed.take(record.id)
            await self._end(record, journal, "failed", {"type": "error", "problem": problem(_INTERRUPTED)})
            await self.take_over(record.library)

    def stop(self, id: str) -> None:
        """Stop a job that another server was asked to stop."""
        if job := self._jobs.get(id):
            job.stop()

    async def cancel(self, record: Record) -> None:
        """Stop a job after the batch in hand; of its files, those that were not read yet go."""
        if record.status != "running":
            return
        if (job := self._jobs.get(record.id)) and (task := job.stop()) is not None:
            await asyncio.wait([task])
        else:
            await asyncio.to_thread(self._records.stop, record.id)
            await self._followed.end(record.id)
        others = _paths(await self._open(record.library))  # the same file may have been sent twice
        left = set(await asyncio.to_thread(not_indexed, record.library)) - others
        mine = [path for path in record.about["paths"] if Path(path) in left]
        await asyncio.to_thread(discard, corpora_settings().home, record.library, mine)

    async def close(self) -> None:
        """Stop every job after the batch in hand; the next index goes on from there."""
        if running := [task for job in self._jobs.values() if (task := job.stop()) is not None]:
            await asyncio.wait(running)

    async def _open(self, library: str) -> list[Record]:
        found = await asyncio.to_thread(self._records.jobs, library)
        return [record for record in found if not self.lost(record)]

    async def _drive(self, job: Job, turn: asyncio.Lock) -> None:
        status: Status = "failed"
        last: list[dict[str, Any]] = []
        try:
            async with (
                turn
            ):  # a job before it may take hours, and the lock of the library is waited for ten minutes
                # With what an earlier job could not finish, and without what was removed while it waited.
                paths, name = await asyncio.to_thread(_due, job)
                if paths:
                    await aindex(paths, name, on_event=partial(_tell, job.journal))
            status = "done"
        except asyncio.CancelledError:
            status = "cancelled"
        except Exception as error:
            last = [{"type": "error", "problem": problem(error, f"job {job.record.id}")}]
        job.ending = True
        try:
            await self._end(job.record, job.journal, status, *last)
        except Exception as error:
            logger.warning("how job %s ended is not kept (%s)", job.record.id, error)
            job.journal.abandon(
                {"type": "error", "problem": problem(error)}, {"type": "end", "status": "failed"}
            )
        finally:
            del self._jobs[job.record.id]

    async def _end(self, record: Record, journal: Journal, status: Status, *events: dict[str, Any]) -> None:
        keep = partial(self._records.end, record, status)
        await journal.close(*events, {"type": "end", "status": status}, keep=keep)


def _tell(journal: Journal, event: Event) -> None:
    if event.report:
        for outcome in ("indexed", "unchanged", "failed", "skipped"):
            count = getattr(event.report, outcome)
            FILES.labels(outcome).inc(count if isinstance(count, int) else len(count))
    journal.add(told(event))


def _paths(jobs: Iterable[Record]) -> frozenset[Path]:
    return frozenset(Path(path) for job in jobs for path in job.about["paths"])


def _due(job: Job) -> tuple[list[Path], str]:
    """Return the files to index for a job, and the name that its library has now."""
    name = stores().catalog.row(job.library.id).name
    left = set(not_indexed(job.library.id)) - job.others
    return sorted(filter(here, left.union(job.paths))), name


def told(event: Event) -> dict[str, Any]:
    """Return an event of indexing as a client gets it: files by name, never by path."""
    if report := event.report:
        counts = {k: getattr(report, k) for k in ("files", "indexed", "unchanged", "linked", "items")}
        failed = [
            {"file": PurePath(path).name, "reason": reason}
            for path, reason in (*report.failed, *report.skipped)
        ]
        return {"type": "finished", **counts, "failed": failed, "seconds": round(report.seconds, 3)}
    values = {name: value for name, value in asdict(event).items() if value not in ("", None)}
    if "path" in values:
        values["file"] = PurePath(values.pop("path")).name
    return {"type": values.pop("kind"), **values}
