"""A table beside the published one, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragweave.evals.bench.run import ScoredSet, marks, side
from ragweave.evals.bench.tables import Paper, Table
from ragweave.evals.bootstrap import interval

HERE, QUOTED, NONE = "here", "here without a chat model", "–"


@dataclass(frozen=True)
class Grid:
    """A table to show: a name for each row, and its cells."""

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]


def columns_of(table: Table, extra: Sequence[str] = ()) -> list[str]:
    """Return the columns of a table: those that it names, or those of its sets, and of sets that are not its own."""
    return [*(table.columns or [c for s in table.sets for c in s.columns]), *extra]


def grids(
    paper: Paper,
    number: str,
    table: Table,
    runs: Mapping[str, Sequence[ScoredSet]],
    beside: str,
    extra: Sequence[str],
    here: str = HERE,
) -> list[Grid]:
    """Return the table with a row of ours and a published one for each arm, and what the paper does not print."""
    columns = columns_of(table, extra)
    block = table.published.get(beside, {})
    rows: list[tuple[str, Sequence[str]]] = []
    for name in [*table.arms, *(n for n in block if n not in table.arms)]:
        if name in runs:
            found = marks(runs[name], columns)
            rows.append((f"{name}, {here}", [_per_cent(found[c]) for c in columns]))
        if name in block:
            printed = [f"{v:g}" for v in block[name]]
            rows.append((f"{name}, {beside}", [*printed, *[NONE] * (len(columns) - len(printed))]))
    main = Grid(f"{paper.title}, table {number}: {table.title}", columns, rows)
    return [main, side_grid(runs, paper.together)]


def side_grid(runs: Mapping[str, Sequence[ScoredSet]], routed: bool = False) -> Grid:
    """Return what the papers do not print of each arm that ran; and the router's share where they differ in it."""
    figures = {name: side(rows) for name, rows in runs.items()}
    for found in figures.values():
        found |= {} if routed else {"router": None}
    heads = list(next(iter(figures.values()), {}))
    shown = [
        (name, [NONE if v is None else f"{v:.1f}" for v in found.values()]) for name, found in figures.items()
    ]
    return Grid("On our side, over all questions asked", heads, shown)


def _per_cent(values: Sequence[float]) -> str:
    return f"{100 * sum(values) / len(values):.1f}" if values else NONE


def flat(table: Table, runs: Mapping[str, Sequence[ScoredSet]], extra: Sequence[str]) -> dict[str, float]:
    """Return every figure under one key, with the ends of its 95 % interval."""
    out: dict[str, float] = {}
    for name, rows in runs.items():
        for column, values in marks(rows, columns_of(table, extra)).items():
            if values:
                found = interval(values)
                key = f"{name}, {column}"
                out |= {key: round(found.mean, 4), f"{key}, low": round(found.low, 4)}
                out |= {f"{key}, high": round(found.high, 4), f"{key}, questions": len(values)}
        out |= {f"{name}, {k} of all": round(v, 3) for k, v in side(rows).items() if v is not None}
    return out


def markdown(grid: Grid) -> str:
    """Return a table as Markdown."""
    lines = [
        f"**{grid.title}**",
        "",
        "| | " + " | ".join(grid.columns) + " |",
        "|---" * (len(grid.columns) + 1) + "|",
    ]
    return "\n".join([*lines, *(f"| {name} | " + " | ".join(cells) + " |" for name, cells in grid.rows)])
