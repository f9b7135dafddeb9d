"""The pipeline of a run: scan, read, embed and commit side by side, joined by queues.

The slowest stage sets the pace. What is on its way is bounded by the size of the files it comes from.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ragweave.corpora.ingest.cluster import RayReaders
from ragweave.corpora.ingest.embedding import embedded, gathered
from ragweave.corpora.ingest.events import Event, Report, Stage
from ragweave.corpora.ingest.in_flight import Budget
from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.loaders import LOADERS
from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store.commit import Committer, FileOutcome
from ragweave.corpora.store.files import File, Known, Stat, check_unchanged, identify
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import Prepared, params_hash, source_id
from ragweave.corpora.video.intake import RECORDINGS, Intake, demuxer_of
from ragweave.corpora.video.job import JobStopped
from ragweave.corpora.video.perceived import Later
from ragweave.models.embed import Encoder
from ragweave.models.errors import SourceError

SMALL, FEW = 2**15, 16
"""Bytes up to which a file is read together with others, and how many these are at most."""
COMMIT_CHUNKS = 1_000
"""Vectors of one commit: the most that an interrupted run repeats, and what a reader may wait for."""
COMMIT_SECONDS = 1.0
"""Longest that a file that is ready waits for others to be committed with it."""
IN_FLIGHT = 64 * 2**20
"""Bytes of files between scan and commit."""


@dataclass(eq=False)
class Pipeline:
    """One pass over the files of a run; pictures that texts link to are read inside the roots alone.

    Files are read by the `loader`; without one, each as it was before. A pass over the texts leaves
    recordings, picture files and the pictures in documents for the next pass.
    """

    settings: CorporaSettings
    encoder: Encoder
    committer: Committer
    media: Media
    roots: Sequence[Path]
    intake: Intake
    report: Report
    tell: Callable[[Event], None]
    stop: threading.Event
    loader: str = ""
    later: list[str] = field(default_factory=list, init=False)
    """Files that the pass over the texts has left."""
    _busy: threading.Lock = field(default_factory=threading.Lock, init=False)
    _failure: BaseException | None = field(default=None, init=False)

    def run(
        self,
        files: Sequence[str],
        known: Mapping[str, Known],
        again: Container[str] = (),
        *,
        texts: bool = False,
        pictures: Container[str] = (),
    ) -> list[str]:
        """Bring the library up to date with these files, or with the `texts` among them.

        Sources in `again` are read although their bytes are as they were; of those in `pictures` the pictures
        are left.

        Returns:
            Files whose bytes the library was about to hold, but does not: they need another pass.
        """
        self._params, self._known, self._texts, self._pictures = params_hash(), known, texts, pictures
        self._inside = [str(root if root.is_dir() else root.parent) for root in self.roots]
        self._readers = (
            RayReaders(self.settings, self._inside) if self.settings.ray else Readers(self.settings)
        )
        self._as_before: list[File] = []
        self._budget = Budget(IN_FLIGHT, self.stop)
        self._to_embed: queue.Queue[FileOutcome | None] = queue.Queue()
        self._to_commit: queue.Queue[list[FileOutcome] | File | None] = queue.Queue()
        threads = [
            threading.Thread(
                target=self._guarded, args=(self._scan, files, known, again), name="ragweave-scan"
            ),
            threading.Thread(target=self._guarded, args=(self._embed,), name="ragweave-embed"),
        ]
        for thread in threads:
            thread.start()
        try:
            again = self._commit()
        except BaseException:
            self.stop.set()
            raise
        finally:
            self._readers.close()
            for thread in threads:
                thread.join()
        if self._failure is not None:
            raise self._failure
        return again

    def _guarded(self, stage: Callable[..., None], *given: object) -> None:
        try:
            stage(*given)
        except BaseException as error:
            self._failure = error
            self.stop.set()

    def _scan(self, files: Sequence[str], known: Mapping[str, Known], again: Container[str]) -> None:
        held = {
            k.source
            for k in known.values()
            if k.status != "failed"
            and k.source not in again
            and (k.kind in RECORDINGS or k.params_hash == self._params)
        }
        few: list[File] = []
        begun: set[str] = (
            set()
        )  # by this pass: a second copy is not read beside the first one, into its folder
        # Hours of film must not keep the texts waiting: recordings have threads of their own, one for each
        # stage.
        with (
            ThreadPoolExecutor(self._readers.recordings, thread_name_prefix="ragweave-record") as recordings,
            ThreadPoolExecutor(self._readers.width, thread_name_prefix="ragweave-read") as pool,
        ):
            for path in files:
                if self.stop.is_set():
                    break
                before = known.get(path)
                file = self._identify(path, before, before is not None and before.source in again)
                if file is None:
                    continue
                whole = file.source in held and not (file.params and self.intake.incomplete(file.sha256))
                if whole or file.source in begun:
                    if before is not None and before.source == file.source and before.status != "failed":
                        self._as_before.append(file)
                        self._unchanged(path)
                    else:
                        self._to_commit.put(file)
                    continue
                begun.add(file.source)
                if self._texts and file.source in self._pictures:
                    self._left(path, "picture", 1)
                    continue
                if file.params:
                    for stage, much in self.intake.ahead(path) if not self.settings.ray else ():
                        self._far(path, stage, 0.0, much)
                    recordings.submit(self._guarded, self._read, file)
                    continue
                few.append(file)
                alone = not self._texts or self.settings.ray or file.stat.size > SMALL or self._loader(path)
                if alone or len(few) == FEW:
                    self._submit(pool, few)
                    few = []
            self._submit(pool, few)
        self._to_embed.put(None)

    def _submit(self, pool: ThreadPoolExecutor, files: Sequence[File]) -> None:
        """Have files read when there is room for them."""
        if files:
            self._budget.take({file.path: file.stat.size for file in files})
            pool.submit(
                self._guarded, *((self._read_some, files) if len(files) > 1 else (self._read, files[0]))
            )

    def _identify(self, path: str, before: Known | None, again: bool) -> File | None:
        """Return a file that must be looked into; None where the look from outside, or its failure, is enough."""
        try:
            path.encode()
        except UnicodeEncodeError:
            printable = path.encode("utf-8", "backslashreplace").decode()
            self._failed(printable, "Its name is no valid text. Rename it.")
            return None
        if not again and self._as_it_was(path, before, self._params):
            return None
        recording, params = bool(demuxer_of(path)), self._params
        if recording:
            params = self.intake.params(path, self._params)
            whole = before is not None and not again and not self.intake.incomplete(before.sha256)
            if whole and self._as_it_was(path, before, params):
                return None
            if self._texts:
                self._left(path, "recording", 1)
                return None
        most = self.settings.max_video_gb * 1024 if recording else self.settings.max_file_mb
        try:
            return identify(path, params, most, grows=recording)
        except SourceError as error:
            nameless = File(path, source_id(f"unread\0{path}", self._params), "", Stat(0, 0, 0, 0, 0.0))
            self._to_commit.put([FileOutcome(nameless, None, error=str(error), passing=True)])
            return None

    def _as_it_was(self, path: str, before: Known | None, params: str) -> bool:
        """Tell whether a look from outside is enough, and say so."""
        try:
            same = before is not None and before.unchanged(Stat.of(path), params)
        except OSError:
            return False  # `identify` says what is wrong
        if same:
            self._unchanged(path)
        return same

    def _read(self, file: File) -> None:
        """Read a file, or take a recording in; one that has only grown meanwhile counts as it was."""
        if self.stop.is_set():
            return
        began = time.monotonic()
        self.tell(Event("staged", file.path, "read"))
        error, passing = "", False
        prepared: Prepared | None = None
        try:
            staging, far = self.media.staging(file.source), partial(self._far, file.path)
            if file.params:
                prepared = self._readers.perceive(self.intake, file, staging, far)
            else:
                how = (self.encoder.max_words, staging, self._inside, self._loader(file.path), self._texts)
                seen = partial(far, "picture", total=0)
                prepared = self._readers.read(file.path, file.source, *how, seen=seen)
        except JobStopped:
            return
        except SourceError as failure:
            error, passing = str(failure), isinstance(failure, Later)
        self._spent("read", began)
        self._have_read(file, prepared, error, passing)

    def _read_some(self, files: Sequence[File]) -> None:
        """Read small files together."""
        if self.stop.is_set():
            return
        began = time.monotonic()
        for file in files:
            self.tell(Event("staged", file.path, "read"))
        media = [self.media.staging(file.source) for file in files]
        some = [(file.path, file.source) for file in files]
        assert isinstance(self._readers, Readers)  # a cluster reads each file alone
        replies = self._readers.read_some(some, self.encoder.max_words, media, self._inside)
        self._spent("read", began)
        for file, reply in zip(files, replies, strict=True):
            made = None if isinstance(reply, SourceError) else reply
            self._have_read(file, made, "" if made else str(reply))

    def _have_read(self, file: File, prepared: Prepared | None, error: str, passing: bool = False) -> None:
        """Hand on what was read, or why it was not."""
        try:
            check_unchanged(file.path, file.stat, file.sha256 if file.params else "")
        except SourceError as failure:
            prepared, error, passing = None, str(failure), True
        if prepared is None:
            self.media.discard(file.source)
        if prepared is not None and prepared.waiting and not prepared.items:
            self._budget.give(file.path)
            self._left(file.path, "picture", prepared.waiting)
            return
        self._to_embed.put(FileOutcome(file, prepared, error=error, passing=passing))

    def _loader(self, path: str) -> str:
        before = self._known.get(path)
        return self.loader or (before.kind if before and before.kind in LOADERS else "")

    def _embed(self) -> None:
        encode = partial(self._readers.embed, self.encoder)
        for batch in gathered(self._to_embed, self.stop):
            began = time.monotonic()
            for path in (outcome.file.path for outcome in batch if outcome.prepared is not None):
                self.tell(Event("staged", path, "embed"))
            found = embedded(batch, encode)
            self._spent("embed", began)
            self._to_commit.put(found)
        self._to_commit.put(None)

    def _commit(self) -> list[str]:
        outcomes: list[FileOutcome] = []
        links: list[File] = []
        chunks, due, ended = 0, 0.0, False
        while not ended and not self.stop.is_set():
            try:
                got = self._to_commit.get(timeout=0.2)
            except queue.Empty:
                pass  # what is due is stored even if nothing follows: the scan may be waiting for its room
            else:
                if got is None:
                    ended = True
                elif isinstance(got, File):
                    links.append(got)
                else:
                    due = due or time.monotonic() + COMMIT_SECONDS
                    outcomes += got
                    chunks += sum(len(outcome.vectors) for outcome in got)
            if outcomes and (ended or chunks >= COMMIT_CHUNKS or time.monotonic() >= due):
                links = self._store(outcomes, links)
                outcomes, chunks, due = [], 0, 0.0
        if self.stop.is_set():
            return []
        self.committer.refresh(self._as_before)
        return [file.path for file in self._store([], links)] if links else []

    def _store(self, outcomes: list[FileOutcome], links: list[File]) -> list[File]:
        """Commit a batch, tell about it, and return the links whose source is not there (yet)."""
        began = time.monotonic()
        for path in (outcome.file.path for outcome in outcomes if outcome.prepared is not None):
            self.tell(Event("staged", path, "commit"))
        missing, unread = self.committer.store(outcomes, links)
        self._spent("commit", began)
        for outcome in outcomes:
            path = outcome.file.path
            self._budget.give(path)
            if outcome.prepared is None:
                self._failed(path, outcome.error)
                continue
            if outcome.prepared.waiting:
                self._left(path, "picture", outcome.prepared.waiting, len(outcome.prepared.items))
                continue
            self.intake.stored(outcome.file)
            self.report.indexed += 1
            self.report.items += len(outcome.prepared.items)
            self.report.chunks += len(outcome.vectors)
            if outcome.prepared.warnings:
                self.report.partial.append((path, "; ".join(outcome.prepared.warnings)))
            self.tell(Event("done", path, items=len(outcome.prepared.items)))
        for file in links:
            if file.path in unread:
                self._failed(file.path, unread[file.path])
            elif file not in missing:
                self.report.linked += 1
                self.tell(Event("linked", file.path))
        return missing

    def _unchanged(self, path: str) -> None:
        self.report.unchanged += 1
        self.tell(Event("unchanged", path))

    def _failed(self, path: str, reason: str) -> None:
        with self._busy:
            self.report.failed.append((path, reason))
        self.tell(Event("failed", path, reason=reason))

    def _left(self, path: str, kind: str, count: int, items: int = 0) -> None:
        with self._busy:
            self.later.append(path)
        self.tell(Event("later", path, kind, items=items, total=count))

    def _spent(self, stage: Stage, began: float) -> None:
        with self._busy:
            self.report.busy[stage] += time.monotonic() - began

    def _far(self, path: str, stage: str, done: float, total: float) -> None:
        self.tell(Event("perceived", path, stage, done=done, total=total))
