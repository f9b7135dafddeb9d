"""Indexing: from files to items that can be found, in one pipeline with one writer.

Reading runs in processes, embedding in a thread, committing in another; each works on its own batch while the others
work on theirs. Everything a run must remember lies in the catalog, so a run that is killed is continued by the next.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ragweave.corpora.images import captions
from ragweave.corpora.ingest.events import (
    Captioned,
    Event,
    Extracted,
    Finished,
    Removed,
    Report,
    Skipped,
    Started,
    Waiting,
)
from ragweave.corpora.ingest.pipeline import Pipeline
from ragweave.corpora.ingest.scan import incomplete, vanished
from ragweave.corpora.knowledge import stage as knowledge
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import locks, seeing
from ragweave.corpora.store.background import on_this_loop, stoppable
from ragweave.corpora.store.catalog import check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.files import known_paths
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import params_hash
from ragweave.corpora.store.reembed import embed_missing
from ragweave.corpora.store.stores import check_encoder, stores
from ragweave.corpora.video.captions import Captioner
from ragweave.corpora.video.intake import Intake, demuxer_of, installed, subtitles_of_others
from ragweave.corpora.video.perceived import sweep
from ragweave.models.errors import InputError, LibraryNotFound

__all__ = ["Event", "Report", "index"]

Listener = Callable[[Event], None]


async def index(
    paths: Sequence[Path],
    library: str = "default",
    *,
    on_event: Listener | None = None,
    wait: float | None = None,
    captioner: Captioner | None = None,
) -> Report:
    """Bring a library up to date with files and folders; makes the library where it is missing.

    Only what changed is read. Files that are gone from the given folders leave the library. A file that cannot be
    read is recorded with its reason and tried again by the next run; the others go on. Cancelling stops the run after
    the batch in hand; the next run continues it.

    Args:
        paths: files and folders.
        library: name of the library.
        on_event: told about progress, on the event loop of the caller.
        wait: seconds to wait while another process writes the library; None takes the setting.
        captioner: writes what is seen in pictures and in the clips of videos; None writes nothing.

    Raises:
        InputError: a path does not exist.
        LibraryError: the library was made by another encoder or a newer Ragweave, or is being written.
    """
    name, tell = check_name(library), on_this_loop(on_event)
    return await stoppable(lambda stop: _index(paths, name, tell, stop, wait, captioner))


def _index(
    paths: Sequence[Path],
    name: str,
    tell: Listener,
    stop: threading.Event,
    wait: float | None,
    captioner: Captioner | None,
) -> Report:
    from ragweave.corpora.ingest.walk import walk
    from ragweave.models.embed import encoder

    began = time.monotonic()
    roots = _roots(paths)
    settings, held, mind = corpora_settings(), stores(), encoder()
    try:
        library = held.catalog.library(name)
    except LibraryNotFound:
        library = held.catalog.create(name, mind.name, mind.dim)
    check_encoder(library, mind.name)
    params = params_hash()
    patience = settings.lock_wait if wait is None else wait
    with locks.writer(settings.home, library.id, name, patience, lambda holder: tell(Waiting(holder))):
        # Read again: another writer may have changed, or deleted, the library while this one waited.
        check_encoder(held.catalog.row(library.id), mind.name)
        committer = Committer(held.catalog, held.catalog.row(library.id), params)
        committer.recover()
        embed_missing(held, held.catalog.row(library.id), mind)
        found = walk(roots)
        files = [str(path) for path in found.files]
        skipped = [(str(p), reason) for p, reason in found.skipped]
        if installed():
            beside = subtitles_of_others(files, lambda path: bool(demuxer_of(path)))
            skipped += [(path, f"it is the subtitles of {other}, and read with it") for path, other in beside.items()]
            files = [path for path in files if path not in beside]
        report = Report(library=name, files=len(files), skipped=skipped)
        tell(Started(len(files)))
        for path, reason in report.skipped:
            tell(Skipped(path, reason))
        media = Media.of(library.id)
        intake = Intake(settings, library.id, mind.max_words, captioner, stop)
        pipeline = Pipeline(settings, mind, committer, params, media, roots, intake, report, tell, stop)
        todo = files
        try:
            while todo:
                again = incomplete(held.catalog, library.id, settings.ocr_seconds)
                todo = pipeline.run(todo, known_paths(held.catalog, library.id), again)
        finally:
            intake.close()
        if not stop.is_set():
            unread = {path for path, _ in report.failed}  # some perhaps because they went while they were read
            there = [path for path in files if path not in unread or os.path.lexists(path)]
            gone = vanished(known_paths(held.catalog, library.id), there, roots)
            if gone:
                committer.remove_paths(gone)
                report.removed = len(gone)
                for path in gone:
                    tell(Removed(path))
            report.seen, why = seeing.catch_up(held, held.catalog.row(library.id), media, stop)
            report.notes += [f"Pictures were not seen: {why}"] if why else []
            if captioner is not None:
                report.captioned, why = captions.catch_up(
                    held,
                    held.catalog.row(library.id),
                    mind,
                    media,
                    captioner,
                    stop,
                    lambda n, of: tell(Captioned(n, of)),
                )
                report.notes += [why] if why else []
            kept = (k.sha256 for k in known_paths(held.catalog, library.id).values())
            sweep(settings.home, library.id, kept, time.time() - (time.monotonic() - began))
            report.extracted, why = knowledge.catch_up(
                held, held.catalog.row(library.id), mind, settings, stop, lambda n, of: tell(Extracted(n, of))
            )
            report.notes += [f"{why[0].upper()}{why[1:]}"] if why else []
        if not stop.is_set() and (why := held.vectors.tidy(library.id)):
            report.notes.append(f"Questions are answered without an index: {why}")
        report.stopped = stop.is_set()
    report.seconds = time.monotonic() - began
    tell(Finished(report))
    return report


def _roots(paths: Sequence[Path]) -> list[Path]:
    roots = [Path(os.path.abspath(Path(path).expanduser())) for path in paths]
    for root in roots:
        if not os.path.lexists(root):
            raise InputError(f"There is no file or folder at {root}", "check the path")
    if not roots:
        raise InputError("No file or folder was given", "name at least one")
    return roots
