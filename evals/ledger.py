"""What a stopped evaluation had done: one JSON line per finished question, read again when the same run is started."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class Ledger:
    """The finished questions of one run; a run is known by everything it depends on.

    Args:
        folder: where ledgers lie.
        run: what the run depends on, JSON-serialisable: questions, knobs, graph.

    Attributes:
        path: its file.
        done: row by question id, as an earlier run of the same left them.
    """

    def __init__(self, folder: Path, run: Mapping[str, Any]) -> None:
        digest = hashlib.sha256(json.dumps(run, sort_keys=True, default=str).encode()).hexdigest()[:16]
        self.path = folder / f"{digest}.jsonl"
        self.done: dict[str, dict[str, Any]] = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    row = json.loads(line)
                    self.done[row["id"]] = row
                except (ValueError, LookupError, TypeError):
                    # The line that was being written when the run was killed.
                    continue

    def add(self, id: str, **values: Any) -> None:
        """Note a finished question."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Each line begins with its own line break, so that a torn line before it costs nothing but itself.
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps({"id": id, **values}, ensure_ascii=True))

    def close(self) -> None:
        """Forget a run that has come to its end: the next one measures anew."""
        self.path.unlink(missing_ok=True)
