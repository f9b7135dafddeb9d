"""Show a measured table next to the published one, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragweave.evals.bench.run import ScoredSet, marks, side
from ragweave.evals.bench.tables import Paper, Table
from ragweave.evals.bootstrap import interval

HERE, QUOTED, NONE = "here", "here without a chat model", "–"


@dataclass(frozen=True)
class Grid:
    """A table to show: the name of each row, and its cells."""

    title: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]


def columns_of(table: Table, extra: Sequence[str] = ()) -> list[str]:
    """Return the columns of a table, or of its sets if it names none, and the extra columns of other sets."""
    columns = list(table.columns)
    if not columns:
        for of in table.sets:
            columns += of.columns
    return [*columns, *extra]


def grids(
    paper: Paper,
    number: str,
    table: Table,
    runs: Mapping[str, Sequence[ScoredSet]],
    published: str,
    extra: Sequence[str],
    here: str = HERE,
) -> list[Grid]:
    """Return the table with a measured and a published row for each arm, and a table of other figures."""
    columns = columns_of(table, extra)
    block = table.published.get(published, {})
    rows: list[tuple[str, Sequence[str]]] = []
    for name in dict.fromkeys([*table.arms, *block]):
        if name in runs:
            found = marks(runs[name], columns)
            rows.append((f"{name}, {here}", [_per_cent(found[column]) for column in columns]))
        if name in block:
            printed = [f"{v:g}" for v in block[name]]
            missing = [NONE] * (len(columns) - len(printed))
            rows.append((f"{name}, {published}", [*printed, *missing]))
    main = Grid(f"{paper.title}, table {number}: {table.title}", columns, rows)
    return [main, side_grid(runs, paper.together)]


def side_grid(runs: Mapping[str, Sequence[ScoredSet]], routed: bool = False) -> Grid:
    """Return a table of what the papers do not print about each arm.

    With `routed` it includes the share of questions that the router sends to the right corpus.
    """
    columns: list[str] = []
    table: list[tuple[str, Sequence[str]]] = []
    for name, rows in runs.items():
        figures = side(rows)
        if not routed:
            figures["router"] = None
        columns = list(figures)
        cells = []
        for value in figures.values():
            cells.append(NONE if value is None else f"{value:.1f}")
        table.append((name, cells))
    return Grid("On our side, over all questions asked", columns, table)


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
        for figure, value in side(rows).items():
            if value is not None:
                out[f"{name}, {figure} of all"] = round(value, 3)
    return out


def markdown(grid: Grid) -> str:
    """Return a table as Markdown."""
    lines = [
        f"**{grid.title}**",
        "",
        "| | " + " | ".join(grid.columns) + " |",
        "|---" * (len(grid.columns) + 1) + "|",
    ]
    for name, cells in grid.rows:
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
