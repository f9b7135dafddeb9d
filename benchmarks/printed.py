"""What every benchmark does: read its options, run in a home of its own, and print or write its figures."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def options(doc: str | None, latency: float | None = None) -> argparse.ArgumentParser:
    """Return a parser with `--json`, and with `--latency` where a benchmark has a model of fixed latency."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    if latency is not None:
        parser.add_argument("--latency", type=float, default=latency, help="seconds per model call")
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


def a_source(id: str) -> dict[str, Any]:
    """Return the catalog's row of a text that says nothing of itself."""
    blank = dict.fromkeys(("title", "reason", "sha256", "params_hash", "author", "language", "indexed_at", "named"), "")
    return {"id": id, "kind": "text", "status": "ok", "bytes": 0, "warnings": [], **blank}


def judge_of(data: Path) -> Any:
    """Return the judge of house_dev, a module beside its questions."""
    spec = importlib.util.spec_from_file_location("judge", data / "house_dev" / "judge.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
