"""The progress of `ragweave index`: bars on a terminal, a line every few seconds in a pipe."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Column, Table
from rich.text import Text

from ragweave.app.places import clean, short_path
from ragweave.app.render import counted, duration, listed

if TYPE_CHECKING:
    from ragweave.corpora.ingest.events import Event

_VERBS = {"read": "Reading", "embed": "Embedding", "commit": "Storing"}
_RUNNING = {"look": "looking", "asr": "hearing", "caption": "describing"}
_WAITING = {"look": "looked at", "asr": "heard", "caption": "described"}
_ROWS = 12
"""Recordings that are shown at once."""
_FINISHED = 3
"""Finished recordings that stay on screen."""
_PACE_AFTER = 5.0
"""Seconds after which the pace is steady enough to estimate the time left."""
_EVERY = 10.0
"""Seconds between two lines of a run that is not on a terminal."""


@dataclass
class _Bar:
    """The progress of one kind of file."""

    total: float = 0
    done: float = 0
    began: float = 0.0
    counted: bool = False
    """True if the work in progress counts whole pieces, not shares of a piece."""

    def label(self, in_progress: float = 0.0) -> str:
        """Return the count and, if the pace is known, the time left."""
        share = (self.done + in_progress) / max(1, self.total)
        elapsed = time.monotonic() - self.began
        whole = self.done
        if self.counted:
            whole += in_progress
        count = f"{whole:,g}/{self.total:,g}"
        if elapsed < _PACE_AFTER or not 0 < share < 1:
            return count
        return f"{count}, about {duration(elapsed * (1 - share) / share)} left"


class Watcher:
    """Shows the progress of one run, and collects the files it changed and removed."""

    def __init__(self, err: Console, *, shown: bool) -> None:
        self.changed: list[str] = []
        self.removed: list[str] = []
        self._err, self._shown = err, shown
        self._status = "Looking for files ..."
        self._staged: tuple[str, str] = ("", "")
        self._bars = {"text": _Bar(), "picture": _Bar(counted=True), "recording": _Bar()}
        self._left: dict[str, tuple[str, float]] = {}
        self._last_line = time.monotonic()
        self._stages: dict[str, dict[str, float]] = {}
        self._recordings: dict[str, tuple[str, float]] = {}
        self._pictures: dict[str, float] = {}
        self._finished: deque[tuple[str, tuple[str, float]]] = deque(maxlen=_FINISHED)
        self._live: AbstractContextManager[object] = nullcontext()
        if shown and err.is_terminal:
            self._live = Live(get_renderable=self.shown, console=err, transient=True)

    def __enter__(self) -> Watcher:
        self._live.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._live.__exit__(None, None, None)

    def event(self, event: Event) -> None:
        """Take note of one event of the run."""
        self._note(event)
        if self._shown and not self._err.is_terminal and time.monotonic() - self._last_line > _EVERY:
            self._last_line = time.monotonic()
            self._err.print(self._line(), highlight=False, soft_wrap=True)

    def _note(self, event: Event) -> None:
        path, done, total = event.path, event.done, event.total
        match event.kind:
            case "waiting":
                self._status = f"Waiting for another run to finish ({event.holder}) ..."
            case "started":
                self._bars["text"] = _Bar(total, began=time.monotonic())
            case "staged":
                self._status, self._staged = "", (event.stage, path)
            case "later":
                self._postpone(path, event.stage, total, stored=event.items > 0)
            case "ready":
                self._texts_are_ready()
            case "perceived":
                self._perceive(event)
            case "done" | "linked":
                self.changed.append(path)
                self._finish(path, "done")
            case "unchanged" | "failed":
                self._finish(path, event.kind)
            case "extracted":
                self._status = f"Extracting names and their relations: {done:g} of {total:g} chunks ..."
            case "reembedded":
                self._status = f"Computing vectors again: {done:g} of {total:g} items ..."
            case "captioned":
                self._status = f"Describing pictures: {done:g} of {total:g} ..."
            case "removed":
                self.removed.append(path)

    def _postpone(self, path: str, kind: str, count: float, *, stored: bool) -> None:
        """Move a file from the texts to the pictures or recordings, which are read after all texts."""
        self._left[path] = kind, count
        self._bars[kind].total += count
        if stored:
            # The text of the file is stored; only its pictures are still to be read.
            self._bars["text"].done += 1
        else:
            self._bars["text"].total -= 1

    def _texts_are_ready(self) -> None:
        """Start the clocks of pictures and recordings, and say what is still to be read."""
        waiting = 0
        kinds: list[str] = []
        for kind in ("picture", "recording"):
            self._bars[kind].began = time.monotonic()
            count = int(self._bars[kind].total)
            waiting += count
            if count:
                kinds.append(counted(count, kind))
        if self._shown:
            verb = "is" if waiting == 1 else "are"
            line = f"Ready to ask; {listed(kinds)} {verb} still being read."
            self._err.print(line, highlight=False, soft_wrap=True)

    def _perceive(self, event: Event) -> None:
        """Note how many pictures of a file, or which share of a recording's stage, are done."""
        if event.stage == "picture":
            self._pictures[event.path] = event.done
            return
        stages = self._stages.setdefault(event.path, {})
        stages[event.stage] = min(1.0, event.done / event.total) if event.total else 0.0
        self._recordings[event.path] = perceived(stages), sum(stages.values()) / len(stages)

    def _finish(self, path: str, outcome: str) -> None:
        kind, count = self._left.pop(path, ("text", 1))
        self._pictures.pop(path, None)
        self._bars[kind].done += count
        if self._recordings.pop(path, None):
            self._finished.append((path, (outcome, 1.0)))

    def _now(self) -> str:
        if self._status:
            return self._status
        stage, path = self._staged
        return f"{_VERBS[stage]} {short_path(path)}"

    def _in_progress(self, kind: str) -> float:
        """Return how much of the unfinished files of a kind is done: pictures, or shares of recordings."""
        done = 0.0
        if kind == "picture":
            for path, count in self._pictures.items():
                if path in self._left:
                    done += min(count, self._left[path][1])
        elif kind == "recording":
            for _, share in self._recordings.values():
                done += share
        return done

    def _line(self) -> str:
        """Return the progress in one line."""
        labels: list[str] = []
        for kind, bar in self._bars.items():
            if bar.total:
                labels.append(f"{kind}s {bar.label(self._in_progress(kind))}")
        return clean("; ".join(labels) or self._now())

    def shown(self) -> Table:
        """Return what the terminal shows now: a bar for each kind, then a line for each recording."""
        table = Table.grid(
            Column(no_wrap=True, overflow="ellipsis"), Column(width=20), Column(no_wrap=True), padding=(0, 1)
        )
        table.add_row(Text(clean(self._now())))
        for kind, bar in self._bars.items():
            if bar.total:
                in_progress = self._in_progress(kind)
                share = min(1.0, (bar.done + in_progress) / bar.total)
                _add_bar(table, f"{kind.capitalize()}s", share, bar.label(in_progress))
        # Recordings that have not begun come last, so that they are the ones cut off.
        unfinished = sorted(self._recordings.items(), key=lambda row: not row[1][1])
        rows = [*self._finished, *unfinished]
        for path, (state, share) in rows[:_ROWS]:
            _add_bar(table, clean(f"  {short_path(path)}"), share, state)
        if len(rows) > _ROWS:
            table.add_row(Text(f"  and {counted(len(rows) - _ROWS, 'recording')} more, waiting"))
        return table


def _add_bar(table: Table, name: str, share: float, label: str) -> None:
    table.add_row(Text(name), ProgressBar(1.0, share, width=20), Text(label))


def perceived(stages: Mapping[str, float]) -> str:
    """Return in words how far a recording is, from the share of each stage that is done.

    >>> perceived({"look": 1.0, "asr": 0.0}), perceived({"look": 0.25, "asr": 0.4})
    ('waiting to be heard', 'looking 25 %, hearing 40 %')
    """
    words: list[str] = []
    waiting: list[str] = []
    for stage, share in stages.items():
        if not share:
            waiting.append(_WAITING[stage])
        elif share < 1:
            words.append(f"{_RUNNING[stage]} {100 * share:.0f} %")
    if waiting:
        words.append(f"waiting to be {listed(waiting)}")
    return ", ".join(words) or "perceived"
