"""What every benchmark does: read its options, run in a home of its own, and print or write its figures."""

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
    """Give a folder whose `home` is where this process keeps its libraries: an empty one, or the one to be kept."""
    with tempfile.TemporaryDirectory() as empty:
        folder = Path(empty) if work is None else work.resolve()
        os.environ["RAGWEAVE_HOME"] = f"{folder}/home"
        yield folder


def tell(figures: Mapping[str, Any], to: Path | None) -> None:
    """Print `figures`, and write them to `to` where it is given."""
    for name, value in figures.items():
        print(f"{name:>32}  {value:,.2f}" if isinstance(value, float) else f"{name:>32}  {value}")
    if to:
        to.write_text(json.dumps(figures, indent=1), encoding="utf-8")


Measure = Callable[[Path, argparse.Namespace], Coroutine[Any, Any, Mapping[str, Any]]]
"""Returns the figures of a benchmark, given its folder and its options."""


def run(doc: str | None, measure: Measure, *more: str) -> None:
    """Run a benchmark that asks over a library of its own; `more` are folders that it is given."""
    parser = options(doc)
    for name in more:
        parser.add_argument(name, type=Path)
    parser.add_argument("--work", type=Path, help="keep files and library here for the next run")
    parser.add_argument("--show", action="store_true", help="print each question with its answer")
    given = parser.parse_args()
    with own_home(given.work) as folder:
        tell(asyncio.run(measure(folder, given)), given.json)


def a_source(id: str) -> dict[str, Any]:
    """Return the catalog's row of a text that says nothing of itself."""
    blank = dict.fromkeys(
        ("title", "reason", "sha256", "params_hash", "author", "language", "indexed_at", "named"), ""
    )
    return {"id": id, "kind": "text", "status": "ok", "bytes": 0, "warnings": [], **blank}


def judge_of(data: Path) -> Any:
    """Return the judge of house_dev, a module beside its questions."""
    spec = importlib.util.spec_from_file_location("judge", data / "house_dev" / "judge.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
