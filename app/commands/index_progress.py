"""What `ragweave index` shows while it works: a bar for each kind of file, or lines now and then where it is piped."""

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
_SENSES = {"look": "looking", "asr": "hearing", "caption": "describing"}
_WAITS = {"look": "looked at", "asr": "heard", "caption": "described"}
_ROWS, _OVER = 12, 3
"""Recordings that are shown at once, and how many of them may be over."""
_PACE_AFTER = 5.0
"""Seconds of a bar before its pace tells anything."""
_EVERY = 10.0
"""Seconds between two lines where no bar can be shown."""


@dataclass
class _Bar:
    """How much of a kind of file is done since a time; of recordings a share each."""

    total: float = 0
    done: float = 0
    began: float = 0.0
    counted: bool = False
    """What is under way is whole pieces of it."""

    def told(self, under_way: float = 0.0) -> str:
        """Return the count, and how long the rest takes at the pace so far, once that tells anything."""
        share = (self.done + under_way) / max(1, self.total)
        elapsed = time.monotonic() - self.began
        whole = self.done + (under_way if self.counted else 0.0)
        count = f"{whole:,g}/{self.total:,g}"
        if elapsed < _PACE_AFTER or not 0 < share < 1:
            return count
        return f"{count}, about {duration(elapsed * (1 - share) / share)} left"


class Watcher:
    """Follows a run."""

    def __init__(self, err: Console, *, shown: bool) -> None:
        self.changed: list[str] = []
        self.removed: list[str] = []
        self._err, self._shown = err, shown
        self._words = "Looking for files ..."
        self._staged: tuple[str, str] = ("", "")
        self._bars = {"text": _Bar(), "picture": _Bar(counted=True), "recording": _Bar()}
        self._left: dict[str, tuple[str, float]] = {}
        self._spoke = time.monotonic()
        self._far: dict[str, dict[str, float]] = {}
        self._recordings: dict[str, tuple[str, float]] = {}
        self._pictures: dict[str, float] = {}
        self._over: deque[tuple[str, tuple[str, float]]] = deque(maxlen=_OVER)
        self._live: AbstractContextManager[object] = (
            Live(get_renderable=self.shown, console=err, transient=True)
            if shown and err.is_terminal
            else nullcontext()
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
                self._bars["text"] = _Bar(total, began=time.monotonic())
            case "staged":
                self._words, self._staged = "", (stage, path)
            case "later":
                self._later(path, stage, total, stored=event.items > 0)
            case "ready":
                self._ready()
            case "perceived" if stage == "picture":
                self._pictures[path] = done
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
        if self._shown and not self._err.is_terminal and time.monotonic() - self._spoke > _EVERY:
            self._spoke = time.monotonic()
            self._err.print(self._line(), highlight=False, soft_wrap=True)

    def _later(self, path: str, kind: str, count: float, *, stored: bool) -> None:
        self._left[path] = kind, count
        self._bars[kind].total += count
        if stored:  # the pictures of a text that is in
            self._bars["text"].done += 1
        else:
            self._bars["text"].total -= 1

    def _ready(self) -> None:
        for kind in ("picture", "recording"):
            self._bars[kind].began = time.monotonic()
        if self._shown:
            waiting = {kind: int(self._bars[kind].total) for kind in ("picture", "recording")}
            rest = listed(counted(n, kind) for kind, n in waiting.items() if n)
            verb = "is" if sum(waiting.values()) == 1 else "are"
            self._err.print(f"Ready to ask; {rest} {verb} still being read.", highlight=False, soft_wrap=True)

    def _finish(self, path: str, how: str) -> None:
        kind, count = self._left.pop(path, ("text", 1))
        self._pictures.pop(path, None)
        self._bars[kind].done += count
        if self._recordings.pop(path, None):
            self._over.append((path, (how, 1.0)))

    def _now(self) -> str:
        stage, path = self._staged
        return self._words or f"{_VERBS[stage]} {short_path(path)}"

    def _under_way(self, kind: str) -> float:
        if kind == "picture":
            return sum(
                min(n, self._left[path][1]) for path, n in self._pictures.items() if path in self._left
            )
        return sum(share for _, share in self._recordings.values()) if kind == "recording" else 0.0

    def _line(self) -> str:
        bars = [f"{kind}s {bar.told(self._under_way(kind))}" for kind, bar in self._bars.items() if bar.total]
        return clean("; ".join(bars) or self._now())

    def shown(self) -> Table:
        """Return what the terminal shows now: the bar of each kind, then a line for each recording."""
        table = Table.grid(
            Column(no_wrap=True, overflow="ellipsis"), Column(width=20), Column(no_wrap=True), padding=(0, 1)
        )
        table.add_row(Text(clean(self._now())))
        for kind, bar in self._bars.items():
            if bar.total:
                under_way = self._under_way(kind)
                share = min(1.0, (bar.done + under_way) / bar.total)
                name = f"{kind.capitalize()}s"
                table.add_row(Text(name), ProgressBar(1.0, share, width=20), Text(bar.told(under_way)))
        rows = [
            *self._over,
            *sorted(self._recordings.items(), key=lambda row: not row[1][1]),
        ]  # those that wait last
        for path, (state, share) in rows[:_ROWS]:
            table.add_row(
                Text(clean(f"  {short_path(path)}")), ProgressBar(1.0, share, width=20), Text(state)
            )
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
