"""Uploaded files: one folder per library, one function that turns a name into a path, and indexing as a job."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import secrets
import shutil
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from ragweave.corpora.ingest.events import Event
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.stores import stores
from ragweave.graphs.indexing import aindex
from ragweave.models.errors import InputError, RagweaveError
from ragweave.serve.access import Caller, visible
from ragweave.serve.journal import Journal
from ragweave.serve.problems import NotFound, Refused, problem

logger = logging.getLogger(__name__)

_LONGEST = 200
"""Bytes of a file name; file systems take 255, and a number may be added."""
_JOBS = 4
"""Indexing jobs that may wait or run at once for one library; they take turns anyway."""
_KEPT = 100


def folder_of(library: str) -> Path:
    """Return the folder that keeps the uploads of a library by id."""
    return Path(corpora_settings().home) / "uploads" / library


def safe_name(name: str) -> str:
    """Return the name under which an uploaded file is kept: its last part, in any script, without what deceives."""
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    kept = "".join(
        c
        for c in last
        if c in "\u200c\u200d" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    )
    kept = " ".join("".join("_" if c in '<>:"|?*' else c for c in kept).split()).strip(" .")
    stem, dot, ending = kept.rpartition(".")
    if not dot:
        stem, ending = kept, ""
    room = _LONGEST - len(ending.encode()) - 1
    if room < 1:
        raise InputError("a file name has an ending of hundreds of letters", "rename the file")
    stem = stem.encode()[:room].decode(errors="ignore").rstrip(" .")
    if not stem:
        raise InputError(f"{name[:80]!r} is no file name", "rename the file")
    return f"{stem}.{ending}" if ending else stem


def place(folder: Path, name: str, digest: str) -> Path:
    """Return where a file of that name and content is kept: a path directly in `folder` that no other content has."""
    name = safe_name(name)
    path = PurePath(name)
    for n in range(1, 1000):
        found = folder / (name if n == 1 else f"{path.stem} ({n}){path.suffix}")
        if found.parent != folder or found.is_symlink():
            raise InputError(f"{name[:80]!r} is no file name", "rename the file")
        if not found.exists() or _digest(found) == digest:
            return found
    raise InputError(f"there are a thousand files named {name!r}", "rename the file")


def keep(name: str, content: BinaryIO, library: str) -> Path:
    """Copy an uploaded file to its place and return it; the same content under the same name is kept once."""
    limit = corpora_settings().max_file_mb
    digest, size = hashlib.sha256(), 0
    content.seek(0)
    while part := content.read(1 << 20):
        digest.update(part)
        size += len(part)
        if size > limit << 20:
            raise InputError(f"{name[:80]!r} is larger than {limit} MiB", "raise RAGWEAVE_MAX_FILE_MB, or leave it out")
    folder = folder_of(library)
    folder.mkdir(parents=True, exist_ok=True)
    path = place(folder, name, digest.hexdigest())
    if not path.exists():
        content.seek(0)
        part_of = folder / f".{secrets.token_hex(8)}.part"
        try:
            with open(part_of, "xb") as out:
                shutil.copyfileobj(content, out, 1 << 20)
            os.replace(part_of, path)
        finally:
            part_of.unlink(missing_ok=True)
    return path


def discard(library: str, paths: Sequence[str]) -> None:
    """Delete those of the paths that are uploads of a library; a person's own files are not touched."""
    folder = folder_of(library)
    for path in map(Path, paths):
        if path.parent == folder and not path.is_symlink():
            path.unlink(missing_ok=True)


def discard_all(library: str) -> None:
    """Delete every upload of a library."""
    shutil.rmtree(folder_of(library), ignore_errors=True)


def _not_indexed(library: str) -> list[Path]:
    """Return the uploads of a library that are no sources of it."""
    folder = folder_of(library)
    found = sorted(p for p in folder.glob("*") if not p.name.startswith("."))
    known = {p for s in stores().catalog.sources(library) for p in s.paths} if found else set()
    return [p for p in found if str(p) not in known]


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass
class Job:
    """One indexing of uploaded files."""

    id: str
    owner: str
    library: LibraryRow
    paths: list[Path]
    journal: Journal = field(default_factory=Journal)
    task: asyncio.Task[None] | None = None


class Jobs:
    """Every indexing job of this server."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def check(self, library: LibraryRow) -> None:
        """Refuse a job where too many wait."""
        if sum(not j.journal.closed and j.library.id == library.id for j in self._jobs.values()) >= _JOBS:
            what = f"{_JOBS} uploads into {library.name!r} are being indexed"
            raise Refused(429, what, "wait until one has ended", after=5)

    def start(self, caller: Caller, library: LibraryRow, paths: list[Path], refused: list[dict[str, str]]) -> Job:
        """Begin to index files, and tell of those that were refused."""
        job = Job(secrets.token_urlsafe(16), caller.id, library, paths)
        self._jobs[job.id] = job
        for old in [j for j in list(self._jobs.values())[:-_KEPT] if j.journal.closed]:
            del self._jobs[old.id]
        for row in refused:
            job.journal.add({"type": "failed", **row})
        job.task = asyncio.create_task(_drive(job), name=f"job {job.id}")
        return job

    async def take_over(self) -> None:
        """Go on with the uploads that a server which is gone had taken and not indexed."""
        for row in await visible(Caller()):
            for half in folder_of(row.id).glob(".*.part"):
                half.unlink(missing_ok=True)
            if paths := await asyncio.to_thread(_not_indexed, row.id):
                self.start(Caller(), row, paths, [])

    def get(self, caller: Caller, id: str) -> Job:
        """Return a job of a caller."""
        job = self._jobs.get(id)
        if job is None or job.owner != caller.id or not caller.sees(job.library.id):
            raise NotFound("There is no such job", "the sources of the library tell what became of each file")
        return job

    async def cancel(self, job: Job) -> None:
        """Stop a job after the batch in hand; of its files, those that were not read yet go."""
        if job.task is None or job.task.done():
            return
        job.task.cancel()
        await asyncio.wait([job.task])
        left = {str(path) for path in job.paths} & {
            str(p) for p in await asyncio.to_thread(_not_indexed, job.library.id)
        }
        await asyncio.to_thread(discard, job.library.id, sorted(left))

    async def close(self) -> None:
        """Stop every job after the batch in hand; the next index goes on from there."""
        running = [j.task for j in self._jobs.values() if j.task is not None and not j.task.done()]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)


async def _drive(job: Job) -> None:
    journal = job.journal
    try:
        if job.paths:
            await aindex(job.paths, job.library.name, on_event=lambda event: journal.add(told(event)))
        journal.close(status="done")
    except asyncio.CancelledError:
        journal.close(status="cancelled")
    except Exception as error:
        if not isinstance(error, RagweaveError):
            logger.error("job %s failed", job.id, exc_info=error)
        journal.add({"type": "error", "problem": problem(error)})
        journal.close(status="failed")


def told(event: Event) -> dict[str, Any]:
    """Return an event of indexing as a client gets it: files by name, never by path."""
    if report := event.report:
        counts = {k: getattr(report, k) for k in ("files", "indexed", "unchanged", "linked", "items")}
        failed = [{"file": PurePath(path).name, "reason": reason} for path, reason in (*report.failed, *report.skipped)]
        return {"type": "finished", **counts, "failed": failed, "seconds": round(report.seconds, 3)}
    values = {name: value for name, value in asdict(event).items() if value not in ("", None)}
    if "path" in values:
        values["file"] = PurePath(values.pop("path")).name
    return {"type": values.pop("kind"), **values}
