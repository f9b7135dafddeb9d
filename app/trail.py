"""The steps of a run: `--trace` prints those that mattered, one line each; `--trace full` prints all."""

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

_MAIN_STEPS = frozenset({"fuse", "grade", "search_web", "reason", "recall", "check"})
"""Steps that have a line of their own in the short trace; it includes the time of the steps before."""
_HIDDEN_MAKERS = ("", "local", "rule", "scores")
"""Makers of a decision that the short trace does not name, because no model was called."""


class Trail:
    """Prints the steps of a run while they happen.

    If `full` is true, it prints every step with its maker and its own time; else one line for each main step.
    """

    def __init__(self, console: Console, *, full: bool) -> None:
        self._console, self._full = console, full
        self._steps, self._hop = 0, 1
        self._data: dict[str, Mapping[str, Any]] = {}
        self._since = 0.0

    def step(self, event: Mapping[str, Any]) -> None:
        """Print one step, or remember its data for the line that follows."""
        now = time.perf_counter()
        if not self._steps:
            # Loading models before the first step is not part of the run.
            self._since = now - float(event.get("seconds") or 0)
        self._steps += 1
        node = str(event["node"])
        data = event.get("data") or {}
        self._data[node] = data
        is_rewritten = node == "condense" and event.get("summary") != data.get("question")
        if self._full:
            self._print_full(event)
        elif node in _MAIN_STEPS or is_rewritten:
            self._print_short(event, now)

    def _print_full(self, event: Mapping[str, Any]) -> None:
        """Print a step with its number, its maker and its own time, below a heading for each round."""
        hop = _hop(event)
        if hop > self._hop:
            self._console.print(f"     Round {hop}", style="bold")
        self._hop = hop
        facts: list[str] = []
        if event.get("by"):
            facts.append(str(event["by"]))
        if event.get("seconds") is not None:
            facts.append(duration(float(event["seconds"])))
        row = Table.grid(padding=(0, 1))
        row.add_column(style="cyan", width=4, justify="right")
        row.add_row(f"{self._steps}.", _line(str(event["node"]), facts, _summary(event)))
        self._console.print(row)

    def _print_short(self, event: Mapping[str, Any], now: float) -> None:
        """Print a main step in one line, with the time since the line before."""
        node, summary, hop = str(event["node"]), _summary(event), _hop(event)
        facts: list[str] = []
        if hop > 1:
            facts.append(f"round {hop}")
        facts.append(duration(now - self._since))
        maker = str(event.get("by", ""))
        if maker not in _HIDDEN_MAKERS:
            facts.append(maker)
        self._since = now
        if node == "fuse":
            # To a reader, fusing results is the end of the retrieval.
            node, summary = "retrieve", f"{self._searched()}{summary}"
        line = _line(node, facts, " ".join(summary.split()))
        if self._console.is_terminal:
            line.truncate(self._console.width, overflow="ellipsis")
        self._console.print(line, soft_wrap=True)

    def _searched(self) -> str:
        """Return which corpora were searched, in how many phrasings, and why, as `paragraph (WHY): `."""
        searched = self._data.get("retrieve", {})
        route = self._data.get("route", {}).get("route", {})
        corpora = route.get("corpora") or searched.get("corpora")
        if not corpora:
            return ""
        words = listed(corpora)
        phrasings = len(searched.get("queries", ()))
        if phrasings > 1:
            words += f" in {phrasings} phrasings"
        if route.get("why") and len(route.get("corpora", ())) == 1:
            words += f" ({clean(route['why'])})"
        return f"{words}: "


def _hop(event: Mapping[str, Any]) -> int:
    return int(event.get("hop") or 1)


def _summary(event: Mapping[str, Any]) -> str:
    return clean(str(event.get("summary", "")))


def _line(node: str, facts: Sequence[str], summary: str) -> Text:
    """Return `STEP (FACTS): SUMMARY`."""
    line = Text(step_of(node).words)
    if facts:
        line.append(f" ({', '.join(facts)})", style="dim")
    if summary:
        line.append(f": {summary}")
    return line
