"""A paper's tables as data: which sets, which arms, which metrics, and the figures that the paper printed."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ragweave.models.errors import InputError

HERE = Path(__file__).parent
PAPERS = tuple(sorted([path.stem for path in HERE.glob("*.toml")]))


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Arm(_Data):
    """One row of a table: a graph or a preset, with the knobs over it.

    `route` takes the place of the router: `none`, `own` (the corpus of the set), `oracle`, `random`,
    `every` (all corpora as one pool), `modality` (the router without granularity), or a label. `off` names
    what is left out of the graph (`ragweave.evals.off`).
    """

    graph: str = ""
    preset: str = ""
    knobs: dict[str, Any] = Field(default_factory=dict)
    route: str = ""
    off: tuple[str, ...] = ()
    needs: Literal["", "model", "router", "web"] = ""


class Set(_Data):
    """A set of a table: its metrics, the label of its questions, and knobs that the paper changed for it.

    `paper` holds those knobs. They apply to the arms that run the paper's preset.
    """

    name: str = ""
    metrics: tuple[str, ...] = ()
    corpus: str = "paragraph"
    paper: dict[str, Any] = Field(default_factory=dict)
    column: str = ""
    apart: bool = False

    @property
    def columns(self) -> list[str]:
        """The names of its columns; a metric that cannot be had here has one as well."""
        if self.metrics:
            return [f"{self.name} {metric}" for metric in self.metrics]
        if self.column:
            return [f"{self.name} {self.column}"]
        return []


class Table(_Data):
    """One table.

    With a `judge`, `published` has a row an aspect; otherwise a row an arm, in the order of columns.

    It is empty if the paper printed only a drawing without numbers.
    """

    title: str
    arms: tuple[str, ...]
    sets: tuple[Set, ...]
    other: Set
    columns: tuple[str, ...] = ()
    judge: Literal["", "pairs", "scores"] = ""
    answers: dict[str, str] = Field(default_factory=dict)
    published: dict[str, dict[str, list[float]]] = Field(default_factory=dict)


class Paper(_Data):
    """A paper: its arms and its tables; `together` puts all sets of a table into one library."""

    title: str
    arms: dict[str, Arm]
    tables: dict[str, Table]
    together: bool = False


def paper(name: str) -> Paper:
    """Return a paper by name.

    Raises:
        InputError: there is none of that name.
    """
    if name not in PAPERS:
        raise InputError(f"there is no paper “{name}”", f"use one of: {', '.join(PAPERS)}")
    return Paper.model_validate(tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8")))


def table(of: Paper, number: str) -> Table:
    """Return a table of a paper.

    Raises:
        InputError: it has no such table here.
    """
    if number not in of.tables:
        raise InputError(f"{of.title} has no table {number} here", f"use one of: {', '.join(of.tables)}")
    return of.tables[number]
