"""The stages of one run of index, in their order."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ragweave.corpora.images import captions
from ragweave.corpora.ingest.events import Event, Kind, Report
from ragweave.corpora.ingest.pipeline import Pipeline
from ragweave.corpora.ingest.targets import incomplete
from ragweave.corpora.ingest.walk import outside, too_many, vanished, walk
from ragweave.corpora.knowledge import stage as knowledge
from ragweave.corpora.knowledge.facts import Extractor
from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store import visual_search
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.files import Known, known_paths, renamed
from ragweave.corpora.store.folders import arrived, sweep
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.stores import Stores
from ragweave.corpora.store.vectors import FEW
from ragweave.corpora.video.intake import Intake, demuxer_of, installed
from ragweave.corpora.video.sidecars import subtitles_of_others
from ragweave.models.caption import Captioner
from ragweave.models.embed import Encoder
from ragweave.models.meter import Meter

Listener = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Models:
    """The language models of a run; each may be missing."""

    captioner: Captioner | None = None
    extractor: Extractor | None = None
    meter: Meter | None = None
    """Counts the tokens and cost of both."""


@dataclass(frozen=True, slots=True)
class IndexRun:
    """The stages of one run, in their order; each also does what an earlier run left undone."""

    settings: CorporaSettings
    held: Stores
    library: str
    encoder: Encoder
    committer: Committer
    media: Media
    models: Models
    report: Report
    tell: Listener
    stop: threading.Event
    loader: str
    forgets: bool

    def run(self, roots: Sequence[Path], began: float) -> None:
        """Run every stage until `stop` is set; `began` is the monotonic time at which the run began."""
        files, unread = self.walk(roots)
        left = self.read(files, roots, texts=True)
        stages: list[Callable[[], None]] = [
            # Before `forget`: a renamed recording is recognized by its content, which `read_left` reads.
            partial(self.read_left, left, roots),
            partial(self.forget, files, roots, unread),
            partial(self.rename, files, roots),
            self.see,
            self.caption,
            partial(self.sweep, began),
            self.extract,
        ]
        for stage in stages:
            if not self.stop.is_set():
                stage()

    def walk(self, roots: Sequence[Path]) -> tuple[list[str], set[str]]:
        """Return the files to read, and the paths that could not be examined; report what is left out."""
        found = walk(roots)
        files = [str(path) for path in found.files]
        left_out = [(str(path), reason) for path, reason in found.skipped]
        if installed():
            subtitles = subtitles_of_others(files, lambda path: bool(demuxer_of(path)))
            for path, recording in subtitles.items():
                left_out.append((path, f"it is the subtitles of {recording}, and read with it"))
            files = _without(files, subtitles)
        self.report.files, self.report.skipped = len(files), left_out
        self.tell(Event("started", total=len(files)))
        for path, reason in left_out:
            self.tell(Event("skipped", path, reason=reason))
        return files, found.unread

    def read(
        self, files: Sequence[str], roots: Sequence[Path], also: Iterable[str] = (), *, texts: bool = False
    ) -> list[str]:
        """Read, embed and commit the files that changed, and the sources `also` in any case.

        With `texts` it leaves recordings, pictures and the pictures of documents, and returns their files.
        """
        intake = Intake(self.settings, self.library, self.encoder.max_words, self.models.captioner, self.stop)
        pipeline = Pipeline(
            self.settings,
            self.encoder,
            self.committer,
            self.media,
            roots,
            intake,
            self.report,
            self.tell,
            self.stop,
            self.loader,
        )
        try:
            while files:
                known = known_paths(self.held.catalog, self.library)
                pictures = incomplete(self.held.catalog, self.library, self.settings.ocr_seconds)
                again = pictures.union(also)
                if self.loader:
                    again |= self._read_otherwise(files, known)
                files = pipeline.run(files, known, again, texts=texts, pictures=pictures)
                if texts:
                    return [*pipeline.later, *files]
            return []
        finally:
            self.report.understood += sorted(intake.understood)

    def _read_otherwise(self, files: Sequence[str], known: Mapping[str, Known]) -> set[str]:
        """Return the sources that were read by another loader, or by none."""
        found = set()
        for path in files:
            before = known.get(path)
            if before and before.kind != self.loader:
                found.add(before.source)
        return found

    def forget(self, files: Sequence[str], roots: Sequence[Path], unread: Iterable[str]) -> None:
        """Remove the files that are gone; if most of a root are gone, keep them: a drive may be missing."""
        failed = set()
        for path, _ in self.report.failed:
            failed.add(path)
        # A file may have failed because it was deleted during the run.
        there = []
        for path in files:
            if path not in failed or os.path.lexists(path):
                there.append(path)
        known = known_paths(self.held.catalog, self.library)
        gone = vanished(known, there, roots, unread)
        if not self.forgets:
            source_of = {}
            for path, file in known.items():
                source_of[path] = file.source
            emptied = too_many(gone, source_of, roots)
            gone = outside(gone, emptied)
            self.report.kept = [(each.root, each.gone, each.known) for each in emptied]
            self.report.notes += [each.said for each in emptied]
        arrived(self.settings.home, self.library, [each.sha256 for each in known.values()])
        if gone:
            self.committer.remove_paths(gone)
        self.report.removed = len(gone)
        for path in gone:
            self.tell(Event("removed", path))

    def rename(self, files: Sequence[str], roots: Sequence[Path]) -> None:
        """Read the renamed files again whose items have their former file name as the title."""
        lost = renamed(known_paths(self.held.catalog, self.library))
        again = []
        for path in files:
            if path in lost:
                again.append(path)
        self.read(again, roots, lost.values())
        self.report.count_once()

    def read_left(self, left: Sequence[str], roots: Sequence[Path]) -> None:
        """Report that the library is ready, and read the files that the pass over the texts left."""
        if not left:
            return
        if self.report.chunks > FEW:
            self.held.vectors.tidy(self.library)
        if self.held.catalog.counts(self.library):
            self.tell(Event("ready", total=len(left)))
        self.read(left, roots)

    def see(self) -> None:
        """Encode the pictures that the image encoder has not encoded."""
        self.report.seen, why = visual_search.catch_up(self.held, self._row(), self.media, self.stop)
        self._note(why and f"Pictures were not seen: {why}")

    def caption(self) -> None:
        """Let the vision model describe the pictures that it has not described."""
        captioner = self.models.captioner
        if captioner is None:
            return
        on_progress = partial(self._count, "captioned")
        captioning = captions.Captioning(
            self.held, self._row(), self.encoder, self.media, captioner, self.stop, on_progress
        )
        self.report.captioned, why = captioning.run()
        self._note(why)

    def sweep(self, began: float) -> None:
        """Remove the kept data of recordings that are gone."""
        kept = [known.sha256 for known in known_paths(self.held.catalog, self.library).values()]
        run_began = time.time() - (time.monotonic() - began)
        sweep(self.settings.home, self.library, kept, run_began)

    def extract(self) -> None:
        """Extract the entities of chunks that were not read for them."""
        on_progress = partial(self._count, "extracted")
        self.report.extracted, why = knowledge.catch_up(
            self.held, self._row(), self.encoder, self.settings, self.models.extractor, self.stop, on_progress
        )
        self._note(why and why[0].upper() + why[1:])

    def _row(self) -> LibraryRow:
        return self.held.catalog.row(self.library)

    def _note(self, remark: str) -> None:
        if remark:
            self.report.notes.append(remark)

    def _count(self, kind: Kind, done: int, total: int) -> None:
        self.tell(Event(kind, done=done, total=total))


def _without(files: Iterable[str], others: Container[str]) -> list[str]:
    """Return the files that are not among others, in order."""
    kept = []
    for path in files:
        if path not in others:
            kept.append(path)
    return kept
