"""The story of a run: `--trace` tells the steps that mattered, one line each; `--trace full` tells every step."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ragweave.app.places import clean
from ragweave.app.render import duration, listed
from ragweave.nodes.steps import step_of

_TOLD = frozenset({"fuse", "grade", "search_web", "reason", "recall", "check"})
"""Steps with a line of their own in the short story; the time of the others is in the line that follows them."""
_UNTOLD_MAKERS = ("", "local", "rule", "scores")


class Trail:
    """Tells the steps of a run while they happen.

    `full` tells every step, with its maker and its own time; else one line for each that mattered.
    """

    def __init__(self, console: Console, *, full: bool) -> None:
        self._console, self._full = console, full
        self._steps, self._hop = 0, 1
        self._data: dict[str, Mapping[str, Any]] = {}
        self._since = 0.0

    def step(self, event: Mapping[str, Any]) -> None:
        """Tell one step, or keep what it decided for the line that follows."""
        now = time.perf_counter()
        if not self._steps:
            # What was loaded before the first step is no part of the run.
            self._since = now - float(event.get("seconds") or 0)
        self._steps += 1
        node, hop, by = str(event["node"]), int(event.get("hop") or 1), str(event.get("by", ""))
        data, summary = event.get("data") or {}, clean(str(event.get("summary", "")))
        self._data[node] = data
        if self._full:
            if hop > self._hop:
                self._console.print(f"     Round {hop}", style="bold")
            self._hop = hop
            took = [] if event.get("seconds") is None else [duration(float(event["seconds"]))]
            row = Table.grid(padding=(0, 1))
            row.add_column(style="cyan", width=4, justify="right")
            row.add_row(f"{self._steps}.", _line(node, [*filter(None, (by,)), *took], summary))
            self._console.print(row)
        elif node in _TOLD or (node == "condense" and event.get("summary") != data.get("question")):
            facts = [f"round {hop}"] if hop > 1 else []
            facts += [duration(now - self._since), *([] if by in _UNTOLD_MAKERS else [by])]
            self._since = now
            if node == "fuse":
                node, summary = "retrieve", f"{self._where()}{summary}"
            told = _line(node, facts, " ".join(summary.split()))
            if self._console.is_terminal:
                told.truncate(self._console.width, overflow="ellipsis")
            self._console.print(told, soft_wrap=True)

    def _where(self) -> str:
        """Say which corpora were searched, in how many phrasings, and in short why these."""
        searched, route = self._data.get("retrieve", {}), self._data.get("route", {}).get("route", {})
        phrasings = len(searched.get("queries", ()))
        ways = f" in {phrasings} phrasings" if phrasings > 1 else ""
        why = f" ({clean(route['why'])})" if route.get("why") and len(route.get("corpora", ())) == 1 else ""
        corpora = route.get("corpora") or searched.get("corpora")
        return f"{listed(corpora)}{ways}{why}: " if corpora else ""


def _line(node: str, facts: Sequence[str], summary: str) -> Text:
    told = Text(step_of(node).words)
    if facts:
        told.append(f" ({', '.join(facts)})", style="dim")
    return told.append(f": {summary}") if summary else told
