"""Searches and pages that were read before, in one SQLite file that any number of processes may share."""

from __future__ import annotations

import json
import logging
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, TypeVar

logger = logging.getLogger(__name__)

Kind = Literal["search", "page"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, size INTEGER NOT NULL, stored REAL NOT NULL,
    PRIMARY KEY (kind, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_stored ON entries (stored);
"""
_PAST_THE_CAP = """
DELETE FROM entries WHERE (kind, key) IN (
    SELECT kind, key FROM (
        SELECT kind, key, sum(size) OVER (ORDER BY stored DESC, kind, key) AS total FROM entries
    ) WHERE total > ?
)
"""
"""The sum runs from the newest entry; what lies past the cap goes."""
_VERSION = 1

T = TypeVar("T")


class Cache:
    """A cache never fails a search: where its file cannot be used, it finds nothing and keeps nothing.

    Args:
        path: the SQLite file; it and its folder are made when first needed.
        ttl: seconds that an entry counts; 0 keeps nothing.
        max_bytes: largest sum of entries; the oldest go first.
    """

    def __init__(self, path: Path, ttl: float, max_bytes: int) -> None:
        self.path = path
        self.ttl = ttl
        self.max_bytes = max_bytes

    def get(self, kind: Kind, key: str) -> Any | None:
        """Return what was stored, or None where there is nothing fresh."""
        if self.ttl <= 0 or not self.path.exists():
            return None

        def read(db: sqlite3.Connection) -> Any | None:
            fresh = "SELECT value FROM entries WHERE kind = ? AND key = ? AND stored > ?"
            row = db.execute(fresh, (kind, key, time.time() - self.ttl)).fetchone()
            return json.loads(row[0]) if row else None

        return self._run(read)

    def put(self, kind: Kind, key: str, value: Any) -> None:
        """Store a JSON value in one transaction, and let go of what is stale or too much."""
        encoded = json.dumps(value)
        size = len(encoded) + len(key)
        if self.ttl <= 0 or size > self.max_bytes:
            return

        def write(db: sqlite3.Connection) -> None:
            now = time.time()
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?, ?)", (kind, key, encoded, size, now))
            db.execute("DELETE FROM entries WHERE stored <= ?", (now - self.ttl,))
            db.execute(_PAST_THE_CAP, (self.max_bytes,))
            db.execute("COMMIT")

        self._run(write)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=2.0, isolation_level=None)) as db:
                self._prepare(db)
                return work(db)
        except (sqlite3.Error, OSError, ValueError) as exc:
            logger.warning("the web cache %s cannot be used (%s); delete the file to start it afresh", self.path, exc)
            return None

    def _prepare(self, db: sqlite3.Connection) -> None:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == _VERSION:
            return
        if version > _VERSION:
            raise ValueError("it was written by a newer version")
        self.path.chmod(0o600)  # what a person searched for is nobody else's business
        db.executescript(f"PRAGMA journal_mode = WAL; {_SCHEMA} PRAGMA user_version = {_VERSION};")
