"""Index uploaded files in jobs that report their progress; another server continues them if one ends."""

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
from ragweave.corpora.ingest.events import Event, Report
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.objects import discard, here
from ragweave.corpora.store.stores import stores
from ragweave.serve.access import Caller, visible
from ragweave.serve.counters import FILES, JOBS
from ragweave.serve.event_writer import EventWriter
from ragweave.serve.journal import Journal
from ragweave.serve.problems import NotFound, Refused, problem
from ragweave.serve.records import Record, Records, Status
from ragweave.serve.remote_journal import Followed
from ragweave.serve.uploads import not_indexed, sweep

logger = logging.getLogger(__name__)

_JOBS = 4
"""Indexing jobs that may wait or run at once for one library; only one runs at a time."""
_INTERRUPTED = Refused(
    503, "the server ended while it indexed", "another one continues with the files", "interrupted"
).named("server_stopped_indexing")


@dataclass
class Job:
    """One indexing of uploaded files; `others` are files of the jobs that waited or ran when it began.

    While it is `ending`, its outcome is being stored, and it cannot be cancelled.
    """

    record: Record
    library: LibraryRow
    paths: list[Path]
    others: frozenset[Path]
    journal: Journal = field(default_factory=Journal)
    task: asyncio.Task[None] | None = None
    ending: bool = False

    def stop(self) -> asyncio.Task[None] | None:
        """Stop the job unless it is ending; return its task, which the caller may wait for."""
        if self.task is not None and not self.ending:
            self.task.cancel()
        return self.task


class Jobs:
    """The indexing jobs of this server, with access to those of other servers."""

    def __init__(self, records: Records, writer: EventWriter, followed: Followed) -> None:
        self._records, self._writer, self._followed = records, writer, followed
        self._jobs: dict[str, Job] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def check(self, library: LibraryRow) -> None:
        """Raise `Refused` if too many jobs of a library wait."""
        if len(await self._open(library.id)) >= _JOBS:
            what = f"{_JOBS} uploads into {library.name!r} are being indexed"
            raise Refused(429, what, "wait until one has ended", after=5).named(
                "too_many_uploads", jobs=_JOBS, name=library.name
            )

    async def start(
        self, caller: Caller, library: LibraryRow, paths: list[Path], refused: list[dict[str, str]]
    ) -> Record:
        """Begin to index files; the first events name the files that were `refused`."""
        others = _paths(await self._open(library.id))
        about = {"paths": [str(path) for path in paths]}
        record = Record(secrets.token_urlsafe(16), caller.id, library.id, "", 0, about, "running", "")
        job = self._jobs[record.id] = Job(record, library, paths, others)
        try:
            await asyncio.to_thread(self._records.begin, record)
        except BaseException:
            del self._jobs[record.id]
            raise
        job.journal.kept_by(partial(self._writer.tell, record.id))
        for row in refused:
            job.journal.add({"type": "failed", **row})
        JOBS.inc()
        job.task = asyncio.create_task(self._drive(job, self._turns[library.id]), name=f"job {record.id}")
        job.task.add_done_callback(lambda _: JOBS.dec())
        return record

    async def take_over(self, library: str | None = None) -> None:
        """Index the uploads that a dead server has stored but not indexed, of one library or of all."""
        for row in await visible(Caller()):
            if library not in (None, row.id):
                continue
            await asyncio.to_thread(sweep, row.id)
            taken = _paths(await self._open(row.id))
            paths = sorted(set(await asyncio.to_thread(not_indexed, row.id)) - taken)
            if paths:
                await self.start(Caller(), row, paths, [])

    async def get(self, caller: Caller, id: str) -> Record:
        """Return the record of a job of a caller."""
        record = await asyncio.to_thread(self._records.get, id)
        if record is None or not _is_job_of(caller, record):
            raise NotFound(
                "There is no such job", "the sources of the library tell what became of each file"
            ).named("job_not_found")
        return record

    async def mine(self, caller: Caller) -> list[Record]:
        """Return the jobs of a caller that wait or run."""
        own = []
        for record in await asyncio.to_thread(self._records.running):
            if _is_job_of(caller, record) and not self.lost(record):
                own.append(record)
        return own

    async def journal(self, record: Record) -> Journal:
        """Return the journal of a job of any server."""
        job = self._jobs.get(record.id)
        return job.journal if job else await self._followed.journal(record.id)

    def lost(self, record: Record) -> bool:
        """Return whether a job is recorded as running here but is not: its end could not be stored."""
        return self._records.mine(record) and record.id not in self._jobs

    async def interrupt(self, record: Record) -> None:
        """Record the end of a job whose server has ended, and index the rest of its files."""
        if await asyncio.to_thread(self._records.claim, record):
            journal = await self._followed.take(record.id)
            await self._end(record, journal, "failed", {"type": "error", "problem": problem(_INTERRUPTED)})
            await self.take_over(record.library)

    def stop(self, id: str) -> None:
        """Stop a job because another server requested it."""
        job = self._jobs.get(id)
        if job is not None:
            job.stop()

    async def cancel(self, record: Record) -> None:
        """Stop a job after the current batch, and delete those of its files that were not read yet."""
        if record.status != "running":
            return
        job = self._jobs.get(record.id)
        task = job.stop() if job is not None else None
        if task is not None:
            await asyncio.wait([task])
        else:
            await asyncio.to_thread(self._records.stop, record.id)
            await self._followed.end(record.id)
        others = _paths(await self._open(record.library))  # the same file may have been sent twice
        left = set(await asyncio.to_thread(not_indexed, record.library)) - others
        mine = [path for path in record.about["paths"] if Path(path) in left]
        await asyncio.to_thread(discard, corpora_settings().home, record.library, mine)

    async def close(self) -> None:
        """Stop every job after its current batch; the next indexing continues there."""
        running = []
        for job in self._jobs.values():
            task = job.stop()
            if task is not None:
                running.append(task)
        if running:
            await asyncio.wait(running)

    async def _open(self, library: str) -> list[Record]:
        found = await asyncio.to_thread(self._records.jobs, library)
        return [record for record in found if not self.lost(record)]

    async def _drive(self, job: Job, turn: asyncio.Lock) -> None:
        """Wait for the turn of a job, index its files, and record the end."""
        status: Status = "failed"
        last: list[dict[str, Any]] = []
        try:
            # An earlier job may take hours, while the lock of the library is waited for only ten minutes.
            async with turn:
                paths, name = await asyncio.to_thread(_due, job)
                if paths:
                    await aindex(paths, name, on_event=partial(_report, job.journal))
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
        keep = partial(self._writer.end, record, status)
        await journal.close(*events, {"type": "end", "status": status}, keep=keep)


def _is_job_of(caller: Caller, record: Record) -> bool:
    """Return whether a record is a job, and one of a caller."""
    is_job = not record.thread
    return is_job and record.owner == caller.id and caller.sees(record.library)


def _report(journal: Journal, event: Event) -> None:
    """Count the outcome of an indexing, and add its event to the journal."""
    report = event.report
    if report:
        FILES.labels("indexed").inc(report.indexed)
        FILES.labels("unchanged").inc(report.unchanged)
        FILES.labels("failed").inc(len(report.failed))
        FILES.labels("skipped").inc(len(report.skipped))
    journal.add(client_event(event))


def _paths(jobs: Iterable[Record]) -> frozenset[Path]:
    """Return the files of some jobs."""
    paths: set[Path] = set()
    for job in jobs:
        paths.update(map(Path, job.about["paths"]))
    return frozenset(paths)


def _due(job: Job) -> tuple[list[Path], str]:
    """Return the files to index for a job, and the name that its library has now.

    They include files that earlier jobs could not finish, but none that was removed while the job waited.
    """
    name = stores().catalog.row(job.library.id).name
    left = set(not_indexed(job.library.id)) - job.others
    return sorted(filter(here, left.union(job.paths))), name


def client_event(event: Event) -> dict[str, Any]:
    """Return an event of indexing as JSON for a client: files by name, never by path."""
    if event.report:
        return _finished(event.report)
    values: dict[str, Any] = {}
    for name, value in asdict(event).items():
        if value not in ("", None):
            values[name] = value
    if "path" in values:
        values["file"] = PurePath(values.pop("path")).name
    return {"type": values.pop("kind"), **values}


def _finished(report: Report) -> dict[str, Any]:
    """Return the last event of an indexing."""
    failed = []
    for path, reason in (*report.failed, *report.skipped):
        failed.append({"file": PurePath(path).name, "reason": reason})
    return {
        "type": "finished",
        "files": report.files,
        "indexed": report.indexed,
        "unchanged": report.unchanged,
        "linked": report.linked,
        "items": report.items,
        "failed": failed,
        "seconds": round(report.seconds, 3),
    }
