"""`ragweave index`: read files and folders into a library, showing what happens to each file."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

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
from ragweave.app.places import clean, short_path
from ragweave.app.render import counted, duration, listed
from ragweave.models.errors import InputError, RagweaveError

if TYPE_CHECKING:
    from ragweave.corpora.ingest.events import Event, Report

_ASKED = {"caption": "Captions", "entities": "Entities"}
_LINES = 5
"""Reasons under one heading of the summary, before `and ... more`."""
_KINDS = 8
"""Kinds of files that the summary counts, before the others."""


def index(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATHS", help="Files and folders."),
    ] = None,
    library: LibraryOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Name every file in the summary.")] = False,
    as_json: JsonOption = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on, and index whatever changes.")] = False,
    loader: Annotated[
        str,
        typer.Option(
            "--loader", metavar="KIND", help="Read exports of chats or notes; `list` tells the kinds."
        ),
    ] = "",
    embed: Annotated[
        str,
        typer.Option(
            "--embed", metavar="NAME", help="Give the library this encoder, as RAGWEAVE_EMBED names it."
        ),
    ] = "",
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Forget files that are gone, even if they are most of a folder's."),
    ] = False,
    ray: Annotated[
        str,
        typer.Option("--ray", metavar="ADDRESS", help="Have a Ray cluster read: auto, HOST:PORT or local."),
    ] = "",
) -> None:
    """Read files and folders into a library.

    Texts come first: the library can be asked while pictures and recordings are still read. The next run
    reads only what has changed. Hidden files, files that look like secrets, and what .gitignore and
    .ragweaveignore name are left out. Files that are gone are forgotten; if they are most of a folder's, the
    command asks first, and without a terminal it keeps them unless --yes is given. Files that cannot be read
    are listed with the reason; exit code 2 if none could be read. --embed makes the vectors anew of the
    stored text and needs no path; the old ones serve until the new ones are complete.
    """
    if loader == "list":
        _list_loaders(as_json=as_json)
        return
    paths = paths or []
    if not all(paths):  # a variable of the shell that is not set: the folder here is not what was meant
        raise InputError("a path is empty", "name a file or a folder; the one here is .")
    if ray:
        from ragweave.corpora.settings import corpora_settings

        os.environ["RAGWEAVE_RAY"] = ray
        corpora_settings.cache_clear()
    if watch:
        _watch([Path(path) for path in paths], library_name(library), loader, quiet=quiet, as_json=as_json)
        return
    shown = not quiet and not as_json
    report = _run(paths, library_name(library), loader, embed, shown=shown, forgets=yes, full=verbose)
    if as_json:
        print_json(asdict(report))
    if shown and report.kept and sys.stdin.isatty() and typer.confirm("Forget the files that are gone?"):
        emptied = [folder for folder, _, _ in report.kept]
        _run(emptied, report.library, loader, "", shown=shown, forgets=True, full=verbose)
    if paths and not (report.files or report.removed or report.kept):
        raise _nothing_there(paths, report)
    if report.failed and not (report.indexed or report.unchanged or report.linked):
        if quiet:
            typer.echo(f"error: {report.failed[0][1]}", err=True)
        raise typer.Exit(EXIT_ERROR)


def _run(
    paths: Sequence[str], library: str, loader: str, encoder: str, *, shown: bool, forgets: bool, full: bool
) -> Report:
    """Index once, and print what was done where it is `shown`."""
    watcher = Watcher(console(stderr=True), shown=shown)
    with watcher:
        report = run(
            api.aindex(
                paths, library, on_event=watcher.event, loader=loader, encoder=encoder, forgets=forgets
            ),
            stopped="What was stored stays; the same command goes on where this one ended.",
        )
    if shown:
        print_report(console(), report, watcher.changed, watcher.removed, full=full)
    return report


def _nothing_there(paths: Sequence[str], report: Report) -> InputError:
    """Return why a run that was given paths found no file in them."""
    closed = [(path, why) for path, why in report.skipped if why.startswith("it cannot be")]
    if closed:
        path, why = closed[0]
        return InputError(
            f"{short_path(path)} could not be read: {clean(why)}", "give your user the right to read it"
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
    """Keep the library up to date until Ctrl-C; with `as_json` one line of JSON per run."""
    from ragweave.components.indexing import at_indexing
    from ragweave.corpora.ingest.watch import watch

    shown = not quiet and not as_json
    first = True
    watcher: Watcher | None = None  # of the run that is under way

    def event(what: Event) -> None:
        nonlocal watcher
        watcher = watcher or Watcher(console(stderr=True), shown=shown).__enter__()
        watcher.event(what)

    def over() -> Watcher:
        nonlocal watcher
        ended, watcher = watcher or Watcher(console(stderr=True), shown=False), None
        ended.__exit__()
        return ended

    def told(report: Report) -> None:
        nonlocal first
        ended = over()
        if as_json:
            typer.echo(json.dumps(asdict(report), ensure_ascii=False))
        elif not quiet:
            named = [(path, "Read") for path in ended.changed] + [(path, "Gone") for path in ended.removed]
            few = not first and len(named) <= _LINES
            for path, word in named if few else ():
                console().print(f"{word}: {short_path(path)}", soft_wrap=True)
            print_report(console(), report, () if few else ended.changed, ended.removed, full=False)
            if first:
                console().print("Watching for changes; Ctrl-C ends it.", style="dim")
        first = False

    def failed(error: RagweaveError) -> None:
        over()
        complain(error)

    work = watch(
        paths, library, on_report=told, on_error=failed, on_event=event, models=at_indexing(), loader=loader
    )
    try:
        run(work, stopped="What was indexed stays.")
    finally:
        over()


def print_report(
    out: Console, report: Report, changed: Sequence[str], removed: Sequence[str], *, full: bool
) -> None:
    """Print what a run did: counts first, then what was left out and what failed, by their reasons.

    The `full` one names every file.
    """
    counts = [
        (report.indexed, "read"),
        (report.unchanged, "unchanged"),
        (report.linked, "known under another name"),
        (report.removed, "gone and forgotten"),
        (len(report.failed), "failed"),
    ]
    told = listed(f"{n:,} {word}" for n, word in counts if n) or "nothing to do"
    out.print(f"Library {report.library}: {counted(report.files, 'file')}, {told}.", soft_wrap=True)
    if report.indexed:
        out.print(f"{counted(report.items, 'item')} to find, made in {duration(report.seconds)}.")
    if changed and not full:
        out.print(f"Read: {_by_kind(changed)}.", soft_wrap=True)
    if report.captioned:
        out.print(f"{counted(report.captioned, 'picture')} described by the vision model.")
    for row in report.spent:
        cost = f", {row.cost:.2f} at your rates" if row.cost else ""
        tokens = row.input_tokens + row.output_tokens
        out.print(
            f"{_ASKED[row.node]} by {row.model}: {counted(row.calls, 'call')}, {tokens:,} tokens{cost}."
        )
    for title, some, style in (
        ("Read", [(path, "") for path in sorted(changed)] if full else [], None),
        ("Read in part", sorted(report.partial), "yellow"),
        ("Gone and forgotten", [(path, "") for path in sorted(removed)] if full else [], None),
        ("Left out", report.skipped, None),
        ("Failed", sorted(report.failed), "red"),
        ("Understood", sorted(report.understood), None),
        ("Not done", [("", note) for note in report.notes], "yellow"),
    ):
        lines = [_reason([path], why) for path, why in some] if full else _by_reason(some)
        if lines:
            out.print(f"{title}:", style="bold")
        shown = lines if full or len(lines) <= _LINES + 1 else lines[:_LINES]
        for line in shown:
            out.print(f"  {line}", style=style, soft_wrap=True)
        if len(lines) > len(shown):
            out.print(f"  and {len(lines) - len(shown):,} more (--verbose names every file)")


def _by_kind(paths: Sequence[str]) -> str:
    kinds = Counter(Path(path).suffix.lower() or "without a suffix" for path in paths).most_common()
    others = sum(n for _, n in kinds[_KINDS:])
    return clean(
        listed(
            [f"{n:,} {kind}" for kind, n in kinds[:_KINDS]] + ([counted(others, "other")] if others else [])
        )
    )


def _by_reason(some: Sequence[tuple[str, str]]) -> list[str]:
    """Return a line for each reason, that of most files first."""
    found: dict[str, list[str]] = {}
    for path, why in some:
        found.setdefault(why, []).append(path)
    return [_reason(paths, why) for why, paths in sorted(found.items(), key=lambda one: -len(one[1]))]


def _reason(paths: Sequence[str], why: str) -> str:
    who = counted(len(paths), "file") if len(paths) > 1 else short_path(paths[0]) if paths[0] else ""
    return ": ".join(filter(None, (who, clean(why))))
