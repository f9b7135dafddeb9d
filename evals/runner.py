"""The runner of every evaluation: units beside each other, each once; a run that was killed goes on where it was."""

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
"""What became of one unit, JSON-serialisable."""
ROOMS = ("corpora", "evals", "graphs", "components", "models", "nodes", "prompts")
"""What an evaluation runs."""
Tell = Callable[[str, int, int], None]
"""Is told the name of a part, how many of its units are done, and of how many."""


@lru_cache(maxsize=1)
def code() -> str:
    """Return the digest of the program: sources, prompts and heads."""
    root, digest = Path(__file__).resolve().parents[1], hashlib.sha256()
    rooms = (p for room in ROOMS for p in sorted((root / room).rglob("*")))
    for path in rooms:
        if path.suffix in {".py", ".md", ".json", ".npz", ".txt"} and path.is_file():
            digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def settings() -> str:
    """Return the digest of what the environment sets."""
    given = sorted(
        (k, v) for k, v in os.environ.items() if k.startswith("RAGWEAVE_") and k != "RAGWEAVE_HOME"
    )
    return hashlib.sha256(json.dumps(given).encode()).hexdigest()[:16]


class Runner:
    """Runs the parts of one command: of each part some units, at most `width` at the same time.

    Finished units are written down in `folder`; without one nothing outlives the process. `tell` is told
    after each unit.
    """

    def __init__(
        self, folder: Path | None = None, width: int = 1, tell: Tell = lambda name, done, total: None
    ) -> None:
        self._folder, self._width, self._tell = folder, width, tell
        self._ledgers: list[Ledger] = []

    async def each(
        self, name: str, units: Mapping[str, T], do: Callable[[T], Awaitable[Row]], of: Mapping[str, Any]
    ) -> list[Row]:
        """Return the row of each unit, in their order.

        `of` is everything that the rows depend on: a part is the same where this and the ids are.
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
                self._tell(name, count, len(units))

        workers = [asyncio.ensure_future(work()) for _ in range(self._width)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
        return [ledger.done[id] for id in units]

    def close(self) -> None:
        """Forget what was written down: the command has come to its end, and the next one measures anew."""
        for ledger in self._ledgers:
            ledger.forget()


class Ledger:
    """The finished units of one part of a run, a JSON line each.

    `done` has the row by id, as earlier runs of the same (`of`) and this one left them; without a folder it
    is kept in memory.
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
                    # The line that was being written when the run was killed.
                    continue

    def add(self, id: str, row: Row) -> None:
        """Note a finished unit."""
        self.done[id] = row
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Each line begins with its own line break, so that a torn line before it costs nothing but
            # itself.
            with self.path.open("a", encoding="utf-8") as file:
                file.write("\n" + json.dumps({"id": id, "row": row}, ensure_ascii=True))

    def forget(self) -> None:
        """Remove the file."""
        if self.path:
            self.path.unlink(missing_ok=True)
