"""`ragweave index`: read files and folders into a library, showing what happens to each file."""

from __future__ import annotations

import json
import os
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Column, Table
from rich.text import Text

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
from ragweave.app.places import clean, short_path
from ragweave.app.render import counted, duration, listed
from ragweave.models.errors import InputError

if TYPE_CHECKING:
    from ragweave.corpora.ingest.events import Event, Report

_VERBS = {"read": "Reading", "embed": "Embedding", "commit": "Storing"}
_SENSES = {"look": "looking", "asr": "hearing", "caption": "describing"}
_WAITS = {"look": "looked at", "asr": "heard", "caption": "described"}
_ROWS, _OVER = 12, 3
"""Recordings that are shown at once, and how many of them may be over."""
_PACE_AFTER = 5.0
"""Seconds of a run before its pace tells anything."""
_ASKED = {"caption": "Captions", "entities": "Entities"}
_LISTED = 20
"""Paths listed under one heading of the summary, before `and ... more`."""


def index(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATHS", help="Files and folders; or s3://BUCKET/NAME (extra `objects`)."),
    ] = None,
    library: LibraryOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    as_json: JsonOption = False,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on, and index whatever changes.")] = False,
    loader: Annotated[
        str, typer.Option("--loader", metavar="KIND", help="Read exports of chats or notes; `list` tells the kinds.")
    ] = "",
    embed: Annotated[
        str, typer.Option("--embed", metavar="NAME", help="Give the library this encoder, as RAGWEAVE_EMBED names it.")
    ] = "",
    ray: Annotated[
        str, typer.Option("--ray", metavar="ADDRESS", help="Have a Ray cluster read: auto, HOST:PORT or local.")
    ] = "",
) -> None:
    """Read files and folders into a library.

    The next time only what has changed is read. What .gitignore and .ragweaveignore name, hidden files and files that
    look like secrets are left out. Files that cannot be read are listed with the reason, and the rest goes on; exit
    code 2 if none could be read. With --embed the vectors are made anew of the stored text; the old ones serve until
    the new ones are complete, and no path need be given.
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
        if any("://" in path for path in paths):
            raise InputError("a bucket can be indexed, and not watched", "leave that option out")
        _watch([Path(path) for path in paths], library_name(library), loader, quiet=quiet, as_json=as_json)
        return
    watcher = Watcher(console(stderr=True), shown=not quiet and not as_json)
    with watcher:
        report = run(
            api.aindex(paths, library_name(library), on_event=watcher.event, loader=loader, encoder=embed),
            stopped="What was stored stays; the same command goes on where this one ended.",
        )
    if as_json:
        print_json(asdict(report))
    elif not quiet:
        print_report(console(), report, watcher.changed, watcher.removed)
    if report.failed and not (report.indexed or report.unchanged or report.linked):
        if quiet:
            typer.echo(f"error: {report.failed[0][1]}", err=True)
        raise typer.Exit(EXIT_ERROR)


def _list_loaders(*, as_json: bool) -> None:
    from ragweave.corpora.loaders import LOADERS

    if as_json:
        print_json(LOADERS)
        return
    for kind, name in LOADERS.items():
        console().print(f"{kind:<10} {name}")


def _watch(paths: Sequence[Path], library: str, loader: str, *, quiet: bool, as_json: bool) -> None:
    """Keep the library up to date until Ctrl-C; with `as_json` one line of JSON per run."""
    from ragweave.corpora.ingest.watch import watch
    from ragweave.graphs.indexing import at_indexing

    def told(report: Report) -> None:
        if as_json:
            typer.echo(json.dumps(asdict(report), ensure_ascii=False))
        elif not quiet:
            print_report(console(), report, (), ())

    run(
        watch(paths, library, on_report=told, on_error=complain, models=at_indexing(), loader=loader),
        stopped="What was indexed stays.",
    )


class Watcher:
    """Follows a run: one bar, a line for each recording, and what has changed."""

    def __init__(self, err: Console, *, shown: bool) -> None:
        self.changed: list[str] = []
        self.removed: list[str] = []
        self._words = "Looking for files ..."
        self._total, self._finished, self._began = 0, 0, 0.0
        self._far: dict[str, dict[str, float]] = {}
        self._recordings: dict[str, tuple[str, float]] = {}
        self._over: deque[tuple[str, tuple[str, float]]] = deque(maxlen=_OVER)
        self._live: AbstractContextManager[object] = (
            Live(get_renderable=self.shown, console=err, transient=True) if shown and err.is_terminal else nullcontext()
        )

    def __enter__(self) -> Watcher:
        self._live.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._live.__exit__(None, None, None)

    def event(self, event: Event) -> None:
        """Take note of one event of the run."""
        path, stage, done, total = event.path, event.stage, event.done, event.total
        match event.kind:
            case "waiting":
                self._words = f"Waiting for another run to finish ({event.holder}) ..."
            case "started":
                self._total, self._began = int(total), time.monotonic()
            case "staged":
                self._words = f"{_VERBS[stage]} {short_path(path)}"
            case "perceived":
                far = self._far.setdefault(path, {})
                far[stage] = min(1.0, done / total) if total else 0.0
                self._recordings[path] = perceived(far), sum(far.values()) / len(far)
            case "done" | "linked":
                self.changed.append(path)
                self._finish(path, "done")
            case "unchanged" | "failed":
                self._finish(path, event.kind)
            case "extracted":
                self._words = f"Finding names and what stands with them: {done:g} of {total:g} stretches ..."
            case "reembedded":
                self._words = f"Embedding anew: {done:g} of {total:g} items ..."
            case "captioned":
                self._words = f"Describing pictures: {done:g} of {total:g} ..."
            case "removed":
                self.removed.append(path)

    def _finish(self, path: str, how: str) -> None:
        self._finished += 1
        if self._recordings.pop(path, None):
            self._over.append((path, (how, 1.0)))

    def _left(self, share: float) -> str:
        """Say how long the rest takes at the pace of the run so far, once that tells anything."""
        elapsed = time.monotonic() - self._began
        if elapsed < _PACE_AFTER or not 0 < share < 1:
            return ""
        return f", about {duration(elapsed * (1 - share) / share)} left"

    def shown(self) -> Table:
        """Return what the terminal shows now: the bar over everything, then a line for each recording."""
        under_way = sum(share for _, share in self._recordings.values())
        share = (self._finished + under_way) / max(1, self._total)
        table = Table.grid(
            Column(no_wrap=True, overflow="ellipsis"), Column(width=20), Column(no_wrap=True), padding=(0, 1)
        )
        count = f"{self._finished}/{self._total}{self._left(share)}" if self._total else ""
        table.add_row(Text(clean(self._words)), ProgressBar(1.0, share, width=20), Text(count))
        rows = [*self._over, *sorted(self._recordings.items(), key=lambda row: not row[1][1])]  # those that wait last
        for path, (state, share) in rows[:_ROWS]:
            table.add_row(Text(clean(f"  {short_path(path)}")), ProgressBar(1.0, share, width=20), Text(state))
        if len(rows) > _ROWS:
            table.add_row(Text(f"  and {counted(len(rows) - _ROWS, 'recording')} more, waiting"))
        return table


def perceived(far: Mapping[str, float]) -> str:
    """Return how far a recording is in words, from the share of each stage that is done.

    >>> perceived({"look": 1.0, "asr": 0.0}), perceived({"look": 0.25, "asr": 0.4})
    ('waiting to be heard', 'looking 25 %, hearing 40 %')
    """
    waits = [_WAITS[stage] for stage, share in far.items() if not share]
    works = [f"{_SENSES[stage]} {100 * share:.0f} %" for stage, share in far.items() if 0 < share < 1]
    return ", ".join([*works, *([f"waiting to be {listed(waits)}"] if waits else [])]) or "perceived"


def print_report(out: Console, report: Report, changed: Sequence[str], removed: Sequence[str]) -> None:
    """Print what a run did: counts first, then what changed, what was left out and what failed, with reasons.

    Files are read side by side, and told by name.
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
    if report.captioned:
        out.print(f"{counted(report.captioned, 'picture')} described by the vision model.")
    for row in report.spent:
        cost = f", {row.cost:.2f} at your rates" if row.cost else ""
        tokens = row.input_tokens + row.output_tokens
        out.print(f"{_ASKED[row.node]} by {row.model}: {counted(row.calls, 'call')}, {tokens:,} tokens{cost}.")
    for title, lines, style in (
        ("Read", [short_path(p) for p in sorted(changed)], None),
        ("Read in part", [f"{short_path(p)}: {clean(why)}" for p, why in sorted(report.partial)], "yellow"),
        ("Gone and forgotten", [short_path(p) for p in sorted(removed)], None),
        ("Left out", [f"{short_path(p)}: {clean(why)}" for p, why in report.skipped], None),
        ("Failed", [f"{short_path(p)}: {clean(why)}" for p, why in sorted(report.failed)], "red"),
        ("Understood", [f"{short_path(p)}: {clean(how)}" for p, how in sorted(report.understood)], None),
        ("Not done", [clean(note) for note in report.notes], "yellow"),
    ):
        if lines:
            out.print(f"{title}:", style="bold")
        for line in lines[:_LISTED]:
            out.print(f"  {line}", style=style, soft_wrap=True)
        if len(lines) > _LISTED:
            out.print(f"  and {len(lines) - _LISTED:,} more (--json lists all)")
