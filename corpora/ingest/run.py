"""Index files and folders: one pipeline with one writer turns files into searchable items.

Processes read, one thread embeds and another commits, each on a batch of its own. Texts come first: pictures
and recordings are read after all texts are stored. The state of a run is kept in the catalog, so the next run
continues one that was killed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ragweave.corpora.ingest.events import Event, Report
from ragweave.corpora.ingest.run_stages import IndexRun, Listener, Models
from ragweave.corpora.ingest.targets import open_or_create, roots_of
from ragweave.corpora.loaders import check_loader
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import locks
from ragweave.corpora.store.background import on_this_loop, stoppable
from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.corpora.store.commit import Committer
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import params_hash
from ragweave.corpora.store.reembed import embed_missing, exchange
from ragweave.corpora.store.stores import Stores, check_encoder, stores
from ragweave.models import embed
from ragweave.models.embed import Encoder
from ragweave.models.errors import LibraryError

__all__ = ["Event", "Models", "Report", "index"]


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
    """Update a library from files and folders; create the library if it is missing.

    Only files that changed are read. Files that are gone from the given folders are removed from the library.
    If more than half of the files of a folder are gone, they stay and the report says so, unless the run
    `forgets` them in any case. A file that cannot be read is recorded with its reason; the next run tries it
    again. Cancelling stops the run after the current batch; the next run continues it.

    `id` names the library whatever its name is now; it is never created. `encoder`, in the form of
    RAGWEAVE_EMBED, becomes the encoder of the library: the stored texts are embedded again, and `paths` may
    be empty. `on_event` is called on the event loop of the caller. `wait` is how many seconds to wait while
    another process writes the library; None uses the setting. Without `models` no captions and entities are
    made. With a `loader` all files are read as exports of its kind, also by later runs without one.

    Raises:
        InputError: a path does not exist, or there is no such loader.
        LibraryNotFound: there is none of that id.
        LibraryError: the library was made by another encoder or a newer Ragweave, or is being written.
    """
    name = check_name(library)
    tell = on_this_loop(on_event)

    def run(stop: threading.Event) -> Report:
        request = _Request(paths, name, wait, models or Models(), check_loader(loader), id, encoder, forgets)
        return _index(request, tell, stop)

    return await stoppable(run)


@dataclass(frozen=True, slots=True)
class _Request:
    """The arguments of `index`; `loader` is checked, and `library` is a valid name."""

    paths: Sequence[Path]
    library: str
    wait: float | None
    models: Models
    loader: str
    id: str
    encoder: str
    forgets: bool


def _index(request: _Request, tell: Listener, stop: threading.Event) -> Report:
    began = time.monotonic()
    roots = roots_of(request.paths) if request.paths or not request.encoder else []
    held, text_encoder = stores(), embed.encoder(request.encoder or None)
    library = _library_of(request, roots, held, text_encoder)

    def on_wait(holder: str) -> None:
        tell(Event("waiting", holder=holder))

    with locks.writer(library.id, library.name, request.wait, on_wait):
        report = _write(request, roots, held, library.id, text_encoder, tell, stop, began)
    # The lock is released before this, so that the next writer does not wait.
    try:
        held.catalog.kept.erase(library.id)
    except LibraryError as error:
        report.notes.append(f"What was removed lies on the disk until the next run: {error}")
    report.seconds = time.monotonic() - began
    tell(Event("finished", report=report))
    return report


def _library_of(request: _Request, roots: Sequence[Path], held: Stores, text_encoder: Encoder) -> LibraryRow:
    """Return the library of a request; create it if it is named, missing and has paths to read."""
    if request.id:
        library = held.catalog.row(request.id)
    elif roots:
        library = open_or_create(held.catalog, request.library, text_encoder)
    else:
        library = held.catalog.library(request.library)
    if not request.encoder:
        check_encoder(library, text_encoder.name)
    return library


def _write(
    request: _Request,
    roots: Sequence[Path],
    held: Stores,
    library: str,
    text_encoder: Encoder,
    tell: Listener,
    stop: threading.Event,
    began: float,
) -> Report:
    """Run every stage; the caller holds the writer lock."""
    # Read the row again: another writer may have changed or deleted the library while this one waited.
    row = held.catalog.row(library)
    Committer(held.catalog, row).recover()
    report = Report(row.name, id=row.id)
    if request.encoder and row.encoder != text_encoder.name:
        count = exchange(held, row, text_encoder, partial(_reembedded, tell), stop)
        change = f"It has the encoder {text_encoder.name} now, and {count:,} vectors of it"
        report.notes.append(f"{change}. Set RAGWEAVE_EMBED={request.encoder} to use it")
        row = held.catalog.row(library)
    check_encoder(row, text_encoder.name)
    committer = Committer(held.catalog, row, params_hash())
    embed_missing(held, row, text_encoder)
    run = IndexRun(
        corpora_settings(),
        held,
        library,
        text_encoder,
        committer,
        Media.of(library),
        request.models,
        report,
        tell,
        stop,
        request.loader,
        request.forgets,
    )
    run.run(roots, began)
    _finish(report, request, held, library, stop.is_set())
    return report


def _finish(report: Report, request: _Request, held: Stores, library: str, stopped: bool) -> None:
    """Update the index of the vectors unless the run was stopped, and add up what models cost."""
    if not stopped:
        why = held.vectors.tidy(library)
        if why:
            report.notes.append(f"Questions are answered without an index: {why}")
    report.stopped = stopped
    if request.models.meter is not None:
        for node in ("caption", "entities"):
            report.spent += request.models.meter.take(node)


def _reembedded(tell: Listener, done: int, total: int) -> None:
    tell(Event("reembedded", done=done, total=total))
