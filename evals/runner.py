"""Run the units of an evaluation concurrently, each once; a killed run continues from its finished units."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
Row = dict[str, Any]
"""The result of one unit, JSON-serialisable."""
ROOMS = ("corpora", "evals", "graphs", "components", "models", "nodes", "prompts")
"""Folders whose code an evaluation runs."""
Progress = Callable[[str, int, int], None]
"""Called with the name of a part, the number of finished units, and the number of all units."""


@lru_cache(maxsize=1)
def code() -> str:
    """Return a digest of the program: sources, prompts and heads."""
    root, digest = Path(__file__).resolve().parents[1], hashlib.sha256()
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in {".py", ".md", ".json", ".npz", ".txt"} and path.is_file():
                digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def settings() -> str:
    """Return a digest of the settings in the environment."""
    found = []
    for name, value in sorted(os.environ.items()):
        if name.startswith("RAGWEAVE_") and name != "RAGWEAVE_HOME":
            found.append((name, value))
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]


class Runner:
    """Runs the parts of one command: the units of each part, at most `width` at the same time.

    Finished units are recorded in `folder`; without one nothing outlives the process. `progress` is called
    after each unit.
    """

    def __init__(
        self, folder: Path | None = None, width: int = 1, progress: Progress = lambda name, done, total: None
    ) -> None:
        self._folder, self._width, self._progress = folder, width, progress
        self._ledgers: list[Ledger] = []

    async def each(
        self, name: str, units: Mapping[str, T], do: Callable[[T], Awaitable[Row]], of: Mapping[str, Any]
    ) -> list[Row]:
        """Return the row of each unit, in the order of the units.

        `of` is everything that the rows depend on: two parts are the same if this and the ids are equal.
        """
        ledger = Ledger(self._folder, {"of": of, "ids": list(units), "code": code(), "settings": settings()})
        self._ledgers.append(ledger)
        waiting, count = iter(units.items()), 0

        async def work() -> None:
            nonlocal count
            for id, unit in waiting:
                if id not in ledger.done:
                    ledger.add(id, await do(unit))
                count += 1
                self._progress(name, count, len(units))

        workers = [asyncio.ensure_future(work()) for _ in range(self._width)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
        return [ledger.done[id] for id in units]

    def close(self) -> None:
        """Delete the records at the end of a command, so that the next one measures again."""
        for ledger in self._ledgers:
            ledger.forget()


class Ledger:
    """The finished units of one part of a run, one JSON line for each.

    `done` has the rows by id, of this run and of earlier runs of the same part. Without a folder it is only
    in memory.
    """

    def __init__(self, folder: Path | None, of: Mapping[str, Any]) -> None:
        digest = hashlib.sha256(json.dumps(of, sort_keys=True, default=str).encode()).hexdigest()[:16]
        self.path = folder / f"{digest}.jsonl" if folder else None
        self.done: dict[str, Row] = {}
        if self.path and self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    row = json.loads(line)
                    self.done[row["id"]] = row["row"]
                except (ValueError, LookupError, TypeError):
                    # A kill interrupted the writing of this line.
                    continue

    def add(self, id: str, row: Row) -> None:
        """Record a finished unit."""
        self.done[id] = row
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Each line begins with its own line break, so that a torn line before it does not spoil it.
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps({"id": id, "row": row}, ensure_ascii=True))

    def forget(self) -> None:
        """Remove the file."""
        if self.path:
            self.path.unlink(missing_ok=True)
