"""Shared steps of the benchmarks: read options, run in a home of their own, print and write figures."""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the commands do


def options(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with `--json`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    return parser


@contextmanager
def own_home(work: Path | None = None) -> Iterator[Path]:
    """Yield the folder of this process's home: an empty one, or `work`, which is kept."""
    with tempfile.TemporaryDirectory() as empty:
        folder = Path(empty) if work is None else work.resolve()
        os.environ["RAGWEAVE_HOME"] = f"{folder}/home"
        yield folder


def emit(figures: Mapping[str, Any], to: Path | None) -> None:
    """Print `figures`, and write them to the file `to` if it is given."""
    for name, value in figures.items():
        print(f"{name:>32}  {value:,.2f}" if isinstance(value, float) else f"{name:>32}  {value}")
    if to:
        to.write_text(json.dumps(figures, indent=1), encoding="utf-8")


Measure = Callable[[Path, argparse.Namespace], Coroutine[Any, Any, Mapping[str, Any]]]
"""Returns the figures of a benchmark, given its folder and its options."""


AddOptions = Callable[[argparse.ArgumentParser], object]
"""Adds the options of a benchmark to a parser."""


def run(doc: str | None, measure: Measure, add: AddOptions | None = None) -> None:
    """Read the options, measure in a home of its own, and print the figures; `add` adds more options."""
    parser = options(doc)
    parser.add_argument("--work", type=Path, help="keep files and libraries here for the next run")
    if add is not None:
        add(parser)
    given = parser.parse_args()
    with own_home(given.work) as folder:
        emit(asyncio.run(measure(folder, given)), given.json)


def a_source(id: str) -> dict[str, Any]:
    """Return the catalog's row of a text without metadata."""
    blank = dict.fromkeys(
        ("title", "reason", "sha256", "params_hash", "author", "language", "indexed_at", "named"), ""
    )
    return {"id": id, "kind": "text", "status": "ok", "bytes": 0, "warnings": [], **blank}


def judge_of(data: Path) -> Any:
    """Return the judge of house_dev, a module in the folder of its questions."""
    spec = importlib.util.spec_from_file_location("judge", data / "house_dev" / "judge.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
