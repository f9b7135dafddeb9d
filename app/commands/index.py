"""`ragweave index`: read files and folders into a library, and show the progress."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragweave.app import api
from ragweave.app.commands.common import (
    EXIT_ERROR,
    JsonOption,
    LibraryOption,
    complain,
    console,
    library_name,
    print_json,
    run,
)
from ragweave.app.commands.index_progress import Watcher
from ragweave.app.commands.index_report import FEW, print_report
from ragweave.app.places import clean, short_path
from ragweave.app.render import listed
from ragweave.models.errors import InputError, RagweaveError

if TYPE_CHECKING:
    from ragweave.corpora.ingest.events import Event, Report

Paths = Annotated[list[str] | None, typer.Argument(metavar="PATHS", help="Files and folders.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Name every file in the summary.")]
Watch = Annotated[
    bool, typer.Option("--watch", "-w", help="Keep running, and index every file that changes.")
]
Loader = Annotated[
    str,
    typer.Option("--loader", metavar="KIND", help="Read exports of chats or notes; `list` prints the kinds."),
]
Embed = Annotated[
    str,
    typer.Option(
        "--embed", metavar="NAME", help="Give the library this encoder, as RAGWEAVE_EMBED names it."
    ),
]
Yes = Annotated[
    bool,
    typer.Option("--yes", "-y", help="Forget files that are gone, even if they are most of a folder's."),
]
Ray = Annotated[
    str,
    typer.Option("--ray", metavar="ADDRESS", help="Have a Ray cluster read: auto, HOST:PORT or local."),
]


def index(
    paths: Paths = None,
    library: LibraryOption = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
    as_json: JsonOption = False,
    watch: Watch = False,
    loader: Loader = "",
    embed: Embed = "",
    yes: Yes = False,
    ray: Ray = "",
) -> None:
    """Read files and folders into a library.

    Texts come first: you can ask questions while pictures and recordings are still being read. The next run
    reads only what has changed. Hidden files, files that look like secrets, and what .gitignore and
    .ragweaveignore name are left out. Files that are gone are forgotten; if they are most of a folder's, the
    command asks first, and without a terminal it keeps them unless --yes is given. Files that cannot be read
    are listed with the reason; exit code 2 if none could be read. --embed computes the vectors of the stored
    text again and needs no path; the old ones serve until the new ones are complete.
    """
    if loader == "list":
        _list_loaders(as_json=as_json)
        return
    paths = _checked(paths or [])
    if ray:
        _use_ray(ray)
    library = library_name(library)
    if watch:
        _watch([Path(path) for path in paths], library, loader, quiet=quiet, as_json=as_json)
        return
    shown = not quiet and not as_json
    report = _run(paths, library, loader, embed, shown=shown, forgets=yes, full=verbose)
    if as_json:
        print_json(asdict(report))
    if shown and report.kept and sys.stdin.isatty():
        _offer_to_forget(report, loader, full=verbose)
    _exit_unless_read(paths, report, quiet=quiet)


def _checked(paths: list[str]) -> list[str]:
    # An unset shell variable gives an empty path, which must not mean the working folder.
    if "" in paths:
        raise InputError("a path is empty", "name a file or a folder; the one here is .")
    return paths


def _use_ray(address: str) -> None:
    """Set the Ray cluster for this process."""
    from ragweave.corpora.settings import corpora_settings

    os.environ["RAGWEAVE_RAY"] = address
    corpora_settings.cache_clear()


def _run(
    paths: Sequence[str], library: str, loader: str, encoder: str, *, shown: bool, forgets: bool, full: bool
) -> Report:
    """Index once, and print the summary if `shown`."""
    watcher = Watcher(console(stderr=True), shown=shown)
    with watcher:
        report = run(
            api.aindex(
                paths, library, on_event=watcher.event, loader=loader, encoder=encoder, forgets=forgets
            ),
            stopped="What was stored stays; the same command continues from there.",
        )
    if shown:
        print_report(console(), report, watcher.changed, watcher.removed, full=full)
    return report


def _offer_to_forget(report: Report, loader: str, *, full: bool) -> None:
    """Ask whether to forget the files of folders from which most are gone, and do so after a yes."""
    if typer.confirm("Forget the files that are gone?"):
        emptied = [folder for folder, _, _ in report.kept]
        _run(emptied, report.library, loader, "", shown=True, forgets=True, full=full)


def _exit_unless_read(paths: Sequence[str], report: Report, *, quiet: bool) -> None:
    """Raise an error if the paths hold no file, and exit if every file failed."""
    if paths and not (report.files or report.removed or report.kept):
        raise _no_file(paths, report)
    if not report.failed or report.indexed or report.unchanged or report.linked:
        return
    if quiet:
        typer.echo(f"error: {report.failed[0][1]}", err=True)
    raise typer.Exit(EXIT_ERROR)


def _no_file(paths: Sequence[str], report: Report) -> InputError:
    """Return the error for paths without any file to read."""
    for path, reason in report.skipped:
        if reason.startswith("it cannot be"):
            why, _, remedy = reason.partition("; ")
            return InputError(
                f"{short_path(path)} could not be read: {clean(why)}",
                remedy or "check its disk, and try again",
            )
    where = listed([short_path(path) for path in paths])
    left_out = "; what was left out is named above" if report.skipped else ""
    return InputError(f"there is no file to read in {where}", f"name a folder that holds files{left_out}")


def _list_loaders(*, as_json: bool) -> None:
    from ragweave.corpora.loaders import LOADERS

    if as_json:
        print_json(LOADERS)
        return
    for kind, name in LOADERS.items():
        console().print(f"{kind:<10} {name}")


def _watch(paths: Sequence[Path], library: str, loader: str, *, quiet: bool, as_json: bool) -> None:
    """Keep the library up to date until Ctrl-C; with `as_json` print one line of JSON per run."""
    from ragweave.components.indexing import at_indexing
    from ragweave.corpora.ingest.watch import watch

    runs = _WatchedRuns(quiet=quiet, as_json=as_json)
    work = watch(
        paths,
        library,
        on_report=runs.finish,
        on_error=runs.fail,
        on_event=runs.event,
        models=at_indexing(),
        loader=loader,
    )
    try:
        run(work, stopped="What was indexed stays.")
    finally:
        runs.close()


class _WatchedRuns:
    """Prints the progress and the result of each run of `index --watch`."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self._quiet, self._as_json = quiet, as_json
        self._first = True
        self._watcher: Watcher | None = None
        """Shows the current run; None between two runs."""

    def event(self, event: Event) -> None:
        """Show one event; the first event of a run opens its display."""
        if self._watcher is None:
            self._watcher = self._new_watcher()
            self._watcher.__enter__()
        self._watcher.event(event)

    def finish(self, report: Report) -> None:
        """Print the result of a run that ended."""
        ended = self.close()
        if self._as_json:
            typer.echo(json.dumps(asdict(report), ensure_ascii=False))
        elif not self._quiet:
            self._print(report, ended)
        self._first = False

    def fail(self, error: RagweaveError) -> None:
        """Print why a run failed."""
        self.close()
        complain(error)

    def close(self) -> Watcher:
        """Close the display of the current run, and return its watcher."""
        ended = self._watcher or Watcher(console(stderr=True), shown=False)
        self._watcher = None
        ended.__exit__()
        return ended

    def _new_watcher(self) -> Watcher:
        shown = not self._quiet and not self._as_json
        return Watcher(console(stderr=True), shown=shown)

    def _print(self, report: Report, ended: Watcher) -> None:
        """Print the summary; a later run with few changes names its files first."""
        few = not self._first and len(ended.changed) + len(ended.removed) <= FEW
        if few:
            _print_paths("Read", ended.changed)
            _print_paths("Gone", ended.removed)
        print_report(console(), report, () if few else ended.changed, ended.removed, full=False)
        if self._first:
            console().print("Watching for changes; Ctrl-C ends it.", style="dim")


def _print_paths(label: str, paths: Sequence[str]) -> None:
    for path in paths:
        console().print(f"{label}: {short_path(path)}", soft_wrap=True)
