"""Indexing: from files to items that can be found, in one pipeline with one writer.

Reading runs in processes, embedding in a thread, committing in another; each works on its own batch while the
others work on theirs. Texts come first: pictures and recordings are read when all of them are stored.
Everything a run must remember lies in the catalog, so a run that is killed is continued by the next.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ragweave.corpora.images import captions
from ragweave.corpora.images.links import state_of
from ragweave.corpora.images.reader import further
from ragweave.corpora.ingest.events import Event, Kind, Report
from ragweave.corpora.ingest.pipeline import Pipeline
from ragweave.corpora.ingest.walk import outside, too_many, vanished, walk
from ragweave.corpora.knowledge import stage as knowledge
from ragweave.corpora.knowledge.facts import Extractor
from ragweave.corpora.loaders import check_loader
from ragweave.corpora.settings import CorporaSettings, corpora_settings
from ragweave.corpora.store import ledger, locks, visual_search
from ragweave.corpora.store.background import on_this_loop, stoppable
from ragweave.corpora.store.catalog import Catalog, LibraryRow, check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.files import known_paths, renamed
from ragweave.corpora.store.folders import arrived, sweep
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import params_hash
from ragweave.corpora.store.reembed import embed_missing, exchange
from ragweave.corpora.store.stores import Stores, check_encoder, stores
from ragweave.corpora.store.vectors import FEW
from ragweave.corpora.video.intake import Intake, demuxer_of, installed
from ragweave.corpora.video.sidecars import subtitles_of_others
from ragweave.models import embed
from ragweave.models.caption import Captioner
from ragweave.models.embed import Encoder
from ragweave.models.errors import InputError, LibraryError, LibraryNotFound
from ragweave.models.meter import Meter

__all__ = ["Event", "Models", "Report", "index"]

Listener = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Models:
    """What a run asks of language models; each may be missing."""

    captioner: Captioner | None = None
    extractor: Extractor | None = None
    meter: Meter | None = None
    """Counts what both of them spend."""


async def index(
    paths: Sequence[Path],
    library: str = "default",
    *,
    on_event: Listener | None = None,
    wait: float | None = None,
    models: Models | None = None,
    loader: str = "",
    id: str = "",
    encoder: str = "",
    forgets: bool = False,
) -> Report:
    """Bring a library up to date with files and folders; makes the library where it is missing.

    With an `id` it is that library, whatever its name is by now, and none is made. An `encoder`, named as
    RAGWEAVE_EMBED names it, becomes that of the library: its vectors are made anew of the stored text, and no
    path need be given.

    Only what changed is read. Files that are gone from the given folders leave the library; where more than
    half of the files of one are gone they stay, and the report says so, unless the run `forgets` them in any
    case. A file that cannot be read is recorded with its reason and tried again by the next run; the others
    go on. Cancelling stops the run after the batch in hand; the next run continues it. `on_event` is told on
    the event loop of the caller; `wait` are seconds to wait while another process writes the library, None
    takes the setting; without `models` nobody is asked for captions and entities. With a `loader` all files
    are read as exports of its kind, in later runs without one as well.

    Raises:
        InputError: a path does not exist, or there is no such loader.
        LibraryNotFound: there is none of that id.
        LibraryError: the library was made by another encoder or a newer Ragweave, or is being written.
    """
    name, tell = check_name(library), on_this_loop(on_event)
    return await stoppable(
        lambda stop: _index(
            paths, name, tell, stop, wait, models or Models(), check_loader(loader), id, encoder, forgets
        )
    )


def _index(
    paths: Sequence[Path],
    name: str,
    tell: Listener,
    stop: threading.Event,
    wait: float | None,
    models: Models,
    loader: str,
    id: str,
    encoder: str,
    forgets: bool,
) -> Report:
    began = time.monotonic()
    roots = roots_of(paths) if paths or not encoder else []
    settings, held, text_encoder = corpora_settings(), stores(), embed.encoder(encoder or None)
    if id or not roots:
        library = held.catalog.row(id) if id else held.catalog.library(name)
    else:
        library = _opened(held.catalog, name, text_encoder)
    if not encoder:
        check_encoder(library, text_encoder.name)
    with locks.writer(library.id, library.name, wait, lambda holder: tell(Event("waiting", holder=holder))):
        # Read again: another writer may have changed, or deleted, the library while this one waited.
        row = held.catalog.row(library.id)
        Committer(held.catalog, row).recover()
        report = Report(row.name, id=row.id)
        if encoder and row.encoder != text_encoder.name:
            count = exchange(held, row, text_encoder, partial(_reembedded, tell), stop)
            told = f"It has the encoder {text_encoder.name} now, and {count:,} vectors of it"
            report.notes.append(f"{told}. Set RAGWEAVE_EMBED={encoder} to use it")
            row = held.catalog.row(library.id)
        check_encoder(row, text_encoder.name)
        committer = Committer(held.catalog, row, params_hash())
        embed_missing(held, row, text_encoder)
        run = _Run(
            settings,
            held,
            library.id,
            text_encoder,
            committer,
            Media.of(library.id),
            models,
            report,
            tell,
            stop,
            loader,
            forgets,
        )
        files, unread = run.walk(roots)
        left = run.read(files, roots, texts=True)
        # A film that was renamed is known by its bytes, which `read_left` looks at: files are forgotten after
        # it.
        files_first = (
            partial(run.read_left, left, roots),
            partial(run.forget, files, roots, unread),
            partial(run.rename, files, roots),
        )
        for stage in (*files_first, run.see, run.caption, partial(run.sweep, began), run.extract):
            if not stop.is_set():
                stage()
        if not stop.is_set() and (why := held.vectors.tidy(library.id)):
            report.notes.append(f"Questions are answered without an index: {why}")
        report.stopped = stop.is_set()
        if models.meter is not None:
            report.spent = [row for node in ("caption", "entities") for row in models.meter.take(node)]
    try:
        held.catalog.kept.erase(library.id)  # beside whoever writes next
    except LibraryError as error:
        report.notes.append(f"What was removed lies on the disk until the next run: {error}")
    report.seconds = time.monotonic() - began
    tell(Event("finished", report=report))
    return report


def _reembedded(tell: Listener, done: int, total: int) -> None:
    tell(Event("reembedded", done=done, total=total))


def _opened(catalog: Catalog, name: str, text_encoder: Encoder) -> LibraryRow:
    """Return the library of a name, made where it is missing; two processes that make it at once both go on in it."""
    with suppress(LibraryNotFound):
        return catalog.library(name)
    try:
        return catalog.create(name, text_encoder.name, text_encoder.dim)
    except LibraryError:
        with suppress(LibraryNotFound):
            return catalog.library(name)
        raise


@dataclass(frozen=True, slots=True)
class _Run:
    """The stages of one run, in their order; each makes up what an earlier run left, and does nothing twice."""

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

    def walk(self, roots: Sequence[Path]) -> tuple[list[str], set[str]]:
        """Return the files to read, and what could not be looked at; note what is left out."""
        found = walk(roots)
        files = [str(path) for path in found.files]
        left_out = [(str(path), reason) for path, reason in found.skipped]
        if installed():
            beside = subtitles_of_others(files, lambda path: bool(demuxer_of(path)))
            left_out += [
                (path, f"it is the subtitles of {other}, and read with it") for path, other in beside.items()
            ]
            files = [path for path in files if path not in beside]
        self.report.files, self.report.skipped = len(files), left_out
        self.tell(Event("started", total=len(files)))
        for path, reason in left_out:
            self.tell(Event("skipped", path, reason=reason))
        return files, found.unread

    def read(
        self, files: Sequence[str], roots: Sequence[Path], anew: Iterable[str] = (), *, texts: bool = False
    ) -> list[str]:
        """Read, embed and commit what has changed, and the sources `anew` whether they have or not.

        Of the `texts` alone it returns what it left: recordings, pictures, and documents with pictures in
        them.
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
                again = pictures.union(anew)
                if self.loader:
                    again |= {k.source for p in files if (k := known.get(p)) and k.kind != self.loader}
                files = pipeline.run(files, known, again, texts=texts, pictures=pictures)
                if texts:
                    return [*pipeline.later, *files]
            return []
        finally:
            self.report.understood += sorted(intake.understood)

    def forget(self, files: Sequence[str], roots: Sequence[Path], unread: Iterable[str]) -> None:
        """Forget the files that are gone; where most of a root are, a drive may be away, and they stay."""
        failed = {
            path for path, _ in self.report.failed
        }  # some perhaps because they went while they were read
        there = [path for path in files if path not in failed or os.path.lexists(path)]
        known = known_paths(self.held.catalog, self.library)
        gone = vanished(known, there, roots, unread)
        if not self.forgets:
            emptied = too_many(gone, {path: k.source for path, k in known.items()}, roots)
            gone = outside(gone, emptied)
            self.report.kept = [(each.root, each.gone, each.known) for each in emptied]
            self.report.notes += [each.said for each in emptied]
        arrived(self.settings.home, self.library, (k.sha256 for k in known.values()))
        if gone:
            self.committer.remove_paths(gone)
        self.report.removed = len(gone)
        for path in gone:
            self.tell(Event("removed", path))

    def rename(self, files: Sequence[str], roots: Sequence[Path]) -> None:
        """Read anew what bears a file name that it has no more, since this run or one that was killed."""
        lost = renamed(known_paths(self.held.catalog, self.library))
        self.read([path for path in files if path in lost], roots, lost.values())
        self.report.count_once()

    def read_left(self, left: Sequence[str], roots: Sequence[Path]) -> None:
        """Say that the library can be asked, and read what the texts have left."""
        if not left:
            return
        if self.report.chunks > FEW:
            self.held.vectors.tidy(self.library)
        if self.held.catalog.counts(self.library):
            self.tell(Event("ready", total=len(left)))
        self.read(left, roots)

    def see(self) -> None:
        """Have the image encoder see the pictures that it has not seen."""
        self.report.seen, why = visual_search.catch_up(self.held, self._row(), self.media, self.stop)
        self._note(why and f"Pictures were not seen: {why}")

    def caption(self) -> None:
        """Have the vision model describe the pictures that it has not described."""
        if self.models.captioner is not None:
            told = partial(self._count, "captioned")
            self.report.captioned, why = captions.Captioning(
                self.held, self._row(), self.encoder, self.media, self.models.captioner, self.stop, told
            ).run()
            self._note(why)

    def sweep(self, began: float) -> None:
        """Remove what was kept of recordings that are gone."""
        kept = (k.sha256 for k in known_paths(self.held.catalog, self.library).values())
        sweep(self.settings.home, self.library, kept, time.time() - (time.monotonic() - began))

    def extract(self) -> None:
        """Find the entities of what was not read for them."""
        told = partial(self._count, "extracted")
        self.report.extracted, why = knowledge.catch_up(
            self.held, self._row(), self.encoder, self.settings, self.models.extractor, self.stop, told
        )
        self._note(why and why[0].upper() + why[1:])

    def _row(self) -> LibraryRow:
        return self.held.catalog.row(self.library)

    def _note(self, remark: str) -> None:
        self.report.notes += [remark] if remark else []

    def _count(self, kind: Kind, done: int, total: int) -> None:
        self.tell(Event(kind, done=done, total=total))


def incomplete(catalog: Catalog, library: str, ocr_seconds: float) -> set[str]:
    """Return the sources whose pictures would be read further now, or that link to pictures that have changed."""
    with catalog.reading(library) as connection:
        rows = ledger.pictures(connection)
    now: dict[tuple[str, str], str] = {}
    found = set()
    for source, link, before in rows:
        if link and (link, before) not in now:
            now[link, before] = state_of(link, before)
        if now[link, before] != before if link else further(before, ocr_seconds):
            found.add(source)
    return found


def roots_of(paths: Sequence[Path]) -> list[Path]:
    """Return what is to be read, as absolute paths; InputError where one is not there, or none is given."""
    roots = [Path(os.path.abspath(Path(path).expanduser())) for path in paths]
    for root in roots:
        if not os.path.lexists(root):
            raise InputError(f"There is no file or folder at {root}", "check the path")
    if not roots:
        raise InputError("No file or folder was given", "name at least one")
    return roots
