"""The pipeline of a run: queues join scan, read, embed and commit, which work in parallel.

A budget limits the total size of the files in the pipeline.
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

from ragweave.corpora.ingest.cluster import open_readers
from ragweave.corpora.ingest.embedding import embedded, gathered
from ragweave.corpora.ingest.events import Event, Report
from ragweave.corpora.ingest.in_flight import Budget
from ragweave.corpora.ingest.progress import Progress
from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.targets import usable_sources
from ragweave.corpora.loaders import LOADERS
from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store.commit import Committer, FileOutcome
from ragweave.corpora.store.files import File, Known, Stat, check_unchanged, identify
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import Prepared, params_hash, source_id
from ragweave.corpora.video.intake import Intake, demuxer_of
from ragweave.corpora.video.job import JobStopped
from ragweave.corpora.video.perceived import Later
from ragweave.models.embed import Encoder
from ragweave.models.errors import SourceError

SMALL, FEW = 2**15, 16
"""Largest size in bytes of a file that is read together with others, and the most files read together."""
COMMIT_CHUNKS = 1_000
"""Vectors of one commit, and so the most work that an interrupted run repeats."""
COMMIT_SECONDS = 1.0
"""Longest time that a file waits for others to be committed with it."""
IN_FLIGHT = 64 * 2**20
"""Bytes of files between scan and commit."""


@dataclass(eq=False)
class Pipeline:
    """One pass over the files of a run.

    Files are read by the `loader`; without one, each by the loader that read it before. Linked pictures are
    read only if they lie inside the roots. A pass over the texts leaves recordings, picture files and the
    pictures in documents to the next pass.
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
    _failure: BaseException | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._progress = Progress(self.report, self.tell)

    @property
    def later(self) -> list[str]:
        """Files that the pass over the texts has left."""
        return self._progress.later

    def run(
        self,
        files: Sequence[str],
        known: Mapping[str, Known],
        again: Container[str] = (),
        *,
        texts: bool = False,
        pictures: Container[str] = (),
    ) -> list[str]:
        """Update the library from these files, or from the `texts` among them.

        Sources in `again` are read although they are unchanged. Of sources in `pictures` only pictures are
        still to be read, so a pass over the texts leaves them. Returns the files that need another pass:
        copies of a source that could not be stored.
        """
        self._params, self._known, self._texts, self._pictures = params_hash(), known, texts, pictures
        self._inside = [str(root if root.is_dir() else root.parent) for root in self.roots]
        self._readers = open_readers(self.settings, self._inside)
        self._as_before: list[File] = []
        self._budget = Budget(IN_FLIGHT, self.stop)
        self._to_embed: queue.Queue[FileOutcome | None] = queue.Queue()
        self._to_commit: queue.Queue[list[FileOutcome] | File | None] = queue.Queue()
        threads = [
            self._start("ragweave-scan", self._scan, files, known, again),
            self._start("ragweave-embed", self._embed),
        ]
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

    def _start(self, name: str, stage: Callable[..., None], *given: object) -> threading.Thread:
        thread = threading.Thread(target=self._guarded, args=(stage, *given), name=name)
        thread.start()
        return thread

    def _guarded(self, stage: Callable[..., None], *given: object) -> None:
        try:
            stage(*given)
        except BaseException as error:
            self._failure = error
            self.stop.set()

    def _scan(self, files: Sequence[str], known: Mapping[str, Known], again: Container[str]) -> None:
        held = usable_sources(known, again, self._params)
        few: list[File] = []
        # Two copies of a source must not be read at once, because both write into its folder.
        begun: set[str] = set()
        # Long recordings must not delay the texts, so they have threads of their own.
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
                    self._link(file, before)
                    continue
                begun.add(file.source)
                if self._texts and file.source in self._pictures:
                    self._progress.left(path, "picture", 1)
                    continue
                if file.params:
                    self._submit_recording(recordings, file)
                    continue
                few.append(file)
                if len(few) == FEW or self._reads_alone(file):
                    self._submit(pool, few)
                    few = []
            self._submit(pool, few)
        self._to_embed.put(None)

    def _link(self, file: File, before: Known | None) -> None:
        """Record a file whose source is stored or is read already."""
        if before is not None and before.source == file.source and before.status != "failed":
            self._as_before.append(file)
            self._progress.unchanged(file.path)
        else:
            self._to_commit.put(file)

    def _submit_recording(self, pool: ThreadPoolExecutor, file: File) -> None:
        if not self.settings.ray:
            for stage, total in self.intake.ahead(file.path):
                self._progress.far(file.path, stage, 0.0, total)
        pool.submit(self._guarded, self._read, file)

    def _reads_alone(self, file: File) -> bool:
        """Tell whether a file is not read together with others."""
        if not self._texts or self.settings.ray:
            return True
        return file.stat.size > SMALL or bool(self._loader(file.path))

    def _submit(self, pool: ThreadPoolExecutor, files: Sequence[File]) -> None:
        """Let a thread read files as soon as the budget has room for them."""
        if not files:
            return
        sizes = {}
        for file in files:
            sizes[file.path] = file.stat.size
        self._budget.take(sizes)
        if len(files) > 1:
            pool.submit(self._guarded, self._read_some, files)
        else:
            pool.submit(self._guarded, self._read, files[0])

    def _identify(self, path: str, before: Known | None, again: bool) -> File | None:
        """Return a file to read; None if it is unchanged, left for later, or cannot be read."""
        try:
            path.encode()
        except UnicodeEncodeError:
            printable = path.encode("utf-8", "backslashreplace").decode()
            self._progress.failed(printable, "Its name is no valid text. Rename it.")
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
                self._progress.left(path, "recording", 1)
                return None
        most = self.settings.max_video_gb * 1024 if recording else self.settings.max_file_mb
        try:
            return identify(path, params, most, grows=recording)
        except SourceError as error:
            nameless = File(path, source_id(f"unread\0{path}", self._params), "", Stat(0, 0, 0, 0, 0.0))
            self._to_commit.put([FileOutcome(nameless, None, error=str(error), passing=True)])
            return None

    def _as_it_was(self, path: str, before: Known | None, params: str) -> bool:
        """Tell whether size and times of a file are unchanged, and report it if they are."""
        try:
            same = before is not None and before.unchanged(Stat.of(path), params)
        except OSError:
            return False  # `identify` reports the error
        if same:
            self._progress.unchanged(path)
        return same

    def _read(self, file: File) -> None:
        """Read a file or a recording; a recording that only grew meanwhile counts as unchanged."""
        if self.stop.is_set():
            return
        began = time.monotonic()
        self.tell(Event("staged", file.path, "read"))
        error, passing = "", False
        prepared: Prepared | None = None
        try:
            staging, far = self.media.staging(file.source), partial(self._progress.far, file.path)
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
        self._progress.spent("read", began)
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
        self._progress.spent("read", began)
        for file, reply in zip(files, replies, strict=True):
            made = None if isinstance(reply, SourceError) else reply
            self._have_read(file, made, "" if made else str(reply))

    def _have_read(self, file: File, prepared: Prepared | None, error: str, passing: bool = False) -> None:
        """Pass on the items of a file, or the reason why it could not be read."""
        try:
            check_unchanged(file.path, file.stat, file.sha256 if file.params else "")
        except SourceError as failure:
            prepared, error, passing = None, str(failure), True
        if prepared is None:
            self.media.discard(file.source)
        if prepared is not None and prepared.waiting and not prepared.items:
            self._budget.give(file.path)
            self._progress.left(file.path, "picture", prepared.waiting)
            return
        self._to_embed.put(FileOutcome(file, prepared, error=error, passing=passing))

    def _loader(self, path: str) -> str:
        before = self._known.get(path)
        if self.loader:
            return self.loader
        return before.kind if before and before.kind in LOADERS else ""

    def _embed(self) -> None:
        encode = partial(self._readers.embed, self.encoder)
        for batch in gathered(self._to_embed, self.stop):
            began = time.monotonic()
            self._progress.staged(batch, "embed")
            found = embedded(batch, encode)
            self._progress.spent("embed", began)
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
                pass  # store a due batch even if nothing follows: the scan may wait for room in the budget
            else:
                if got is None:
                    ended = True
                elif isinstance(got, File):
                    links.append(got)
                else:
                    due = due or time.monotonic() + COMMIT_SECONDS
                    outcomes += got
                    for outcome in got:
                        chunks += len(outcome.vectors)
            if outcomes and (ended or chunks >= COMMIT_CHUNKS or time.monotonic() >= due):
                links = self._store(outcomes, links)
                outcomes, chunks, due = [], 0, 0.0
        if self.stop.is_set():
            return []
        self.committer.refresh(self._as_before)
        return [file.path for file in self._store([], links)] if links else []

    def _store(self, outcomes: list[FileOutcome], links: list[File]) -> list[File]:
        """Commit a batch, report it, and return the links whose source is not stored yet."""
        began = time.monotonic()
        self._progress.staged(outcomes, "commit")
        missing, unread = self.committer.store(outcomes, links)
        self._progress.spent("commit", began)
        for outcome in outcomes:
            path = outcome.file.path
            self._budget.give(path)
            if outcome.prepared is None:
                self._progress.failed(path, outcome.error)
                continue
            if outcome.prepared.waiting:
                self._progress.left(path, "picture", outcome.prepared.waiting, len(outcome.prepared.items))
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
                self._progress.failed(file.path, unread[file.path])
            elif file not in missing:
                self.report.linked += 1
                self.tell(Event("linked", file.path))
        return missing
