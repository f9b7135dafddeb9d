"""The summary that `ragweave index` prints after a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from ragweave.app.places import clean, short_path
from ragweave.app.render import counted, duration, listed

if TYPE_CHECKING:
    from ragweave.corpora.ingest.events import Report

FEW = 5
"""Reasons listed under one heading of the summary before `and ... more`."""
_KINDS = 8
"""File types that the summary counts one by one; the rest are counted as others."""
_MODEL_TASKS = {"caption": "Captions", "entities": "Entities"}
"""Headings for the model calls of a run, by the node that made them."""

Reasons = Sequence[tuple[str, str]]
"""Pairs of a path and the reason why it is listed; either may be empty."""


def print_report(
    out: Console, report: Report, changed: Sequence[str], removed: Sequence[str], *, full: bool
) -> None:
    """Print the counts of a run, then what was left out and what failed, grouped by reason.

    If `full` is true, every file is named.
    """
    _print_counts(out, report, () if full else changed)
    if full:
        _print_section(out, "Read", _without_reason(changed), None, full=True)
    _print_section(out, "Read in part", sorted(report.partial), "yellow", full=full)
    if full:
        _print_section(out, "Gone and forgotten", _without_reason(removed), None, full=True)
    _print_section(out, "Left out", report.skipped, None, full=full)
    _print_section(out, "Failed", sorted(report.failed), "red", full=full)
    _print_section(out, "Understood", sorted(report.understood), None, full=full)
    _print_section(out, "Not done", [("", note) for note in report.notes], "yellow", full=full)


def _print_counts(out: Console, report: Report, changed: Sequence[str]) -> None:
    """Print how many files, items and pictures the run handled, and what its model calls took."""
    out.print(
        f"Library {report.library}: {counted(report.files, 'file')}, {_outcomes(report)}.", soft_wrap=True
    )
    if report.indexed:
        out.print(f"{counted(report.items, 'item')} to find, made in {duration(report.seconds)}.")
    if changed:
        out.print(f"Read: {_by_kind(changed)}.", soft_wrap=True)
    if report.captioned:
        out.print(f"{counted(report.captioned, 'picture')} described by the vision model.")
    for row in report.spent:
        cost = f", {row.cost:.2f} at your rates" if row.cost else ""
        tokens = row.input_tokens + row.output_tokens
        calls = counted(row.calls, "call")
        out.print(f"{_MODEL_TASKS[row.node]} by {row.model}: {calls}, {tokens:,} tokens{cost}.")


def _outcomes(report: Report) -> str:
    """Return how many files had each outcome, as `2 read and 1 failed`."""
    outcomes = {
        "read": report.indexed,
        "unchanged": report.unchanged,
        "known under another name": report.linked,
        "gone and forgotten": report.removed,
        "failed": len(report.failed),
    }
    words: list[str] = []
    for outcome, count in outcomes.items():
        if count:
            words.append(f"{count:,} {outcome}")
    return listed(words) or "nothing to do"


def _print_section(out: Console, title: str, reasons: Reasons, style: str | None, *, full: bool) -> None:
    """Print a heading and its files; unless `full`, only the first few reasons."""
    if not reasons:
        return
    out.print(f"{title}:", style="bold")
    lines = _line_per_file(reasons) if full else _line_per_reason(reasons)
    # A line that says "and 1 more" would take as much space as the one more line.
    shown = lines if full or len(lines) <= FEW + 1 else lines[:FEW]
    for line in shown:
        out.print(f"  {line}", style=style, soft_wrap=True)
    if len(lines) > len(shown):
        out.print(f"  and {len(lines) - len(shown):,} more (--verbose names every file)")


def _without_reason(paths: Sequence[str]) -> Reasons:
    return [(path, "") for path in sorted(paths)]


def _by_kind(paths: Sequence[str]) -> str:
    """Return how many of the files have each suffix, the most frequent first."""
    kinds: Counter[str] = Counter()
    for path in paths:
        kinds[Path(path).suffix.lower() or "without a suffix"] += 1
    words = [f"{count:,} {kind}" for kind, count in kinds.most_common(_KINDS)]
    others = kinds.total() - sum(count for _, count in kinds.most_common(_KINDS))
    if others:
        words.append(counted(others, "other"))
    return clean(listed(words))


def _line_per_file(reasons: Reasons) -> list[str]:
    lines: list[str] = []
    for path, reason in reasons:
        lines.append(_line([path], reason))
    return lines


def _line_per_reason(reasons: Reasons) -> list[str]:
    """Return a line for each reason; the reason with the most files comes first."""
    by_reason: dict[str, list[str]] = {}
    for path, reason in reasons:
        by_reason.setdefault(reason, []).append(path)
    lines: list[str] = []
    for reason in sorted(by_reason, key=lambda reason: -len(by_reason[reason])):
        lines.append(_line(by_reason[reason], reason))
    return lines


def _line(paths: Sequence[str], reason: str) -> str:
    """Return `FILE: REASON`, or `3 files: REASON` if several files share the reason."""
    files = counted(len(paths), "file")
    if len(paths) == 1:
        files = short_path(paths[0]) if paths[0] else ""
    return ": ".join(filter(None, (files, clean(reason))))
