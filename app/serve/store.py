"""What the server itself remembers: conversations by owner, and keys. One small SQLite file beside the catalog."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragweave.models.errors import LibraryError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, libraries TEXT,
    created TEXT NOT NULL, revoked TEXT, used TEXT
);
CREATE TABLE IF NOT EXISTS threads (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, library TEXT NOT NULL, title TEXT NOT NULL,
    created TEXT NOT NULL, updated TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS threads_by_owner ON threads (owner, updated);
CREATE TABLE IF NOT EXISTS turns (
    thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE, n INTEGER NOT NULL, run TEXT NOT NULL,
    graph TEXT NOT NULL, question TEXT NOT NULL, status TEXT NOT NULL, answer TEXT, problem TEXT, created TEXT NOT NULL,
    trail TEXT,
    PRIMARY KEY (thread, n)
);
"""


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation.

    Attributes:
        id: its id.
        owner: whose it is.
        library: id of the library it asks.
        title: first question, or the name its owner gave it.
        created: ISO time.
        updated: ISO time of the last turn.
    """

    id: str
    owner: str
    library: str
    title: str
    created: str
    updated: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a conversation and what became of it.

    Attributes:
        n: its number, from 1.
        run: id of the run that answers it.
        graph: graph that was asked.
        question: what was asked.
        status: `running`, `waiting`, `done`, `failed` or `cancelled`.
        answer: the answer as sent, or None.
        problem: why it failed, or None.
        created: ISO time.
        trail: the steps that led there, and the sentences of a turn that did not come to its end.
    """

    n: int
    run: str
    graph: str
    question: str
    status: str
    answer: dict[str, Any] | None
    problem: dict[str, Any] | None
    created: str
    trail: list[dict[str, Any]]


def now() -> str:
    """Return the present as an ISO time in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Store:
    """The server's file. All methods are short and synchronous; async callers go through `asyncio.to_thread`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            with self.open() as db:
                db.execute("PRAGMA journal_mode = WAL")
                db.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise LibraryError(f"{path} cannot be used ({error})", "check RAGWEAVE_HOME and its permissions") from error

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction."""
        db = sqlite3.connect(self.path, timeout=30)
        db.row_factory = sqlite3.Row
        try:
            db.execute("PRAGMA foreign_keys = ON")
            db.execute("PRAGMA synchronous = NORMAL")
            with db:
                yield db
        finally:
            db.close()

    def threads(self, owner: str, library: str | None = None) -> list[Thread]:
        """Return an owner's conversations, the last used first."""
        where = "owner = ?" + (" AND library = ?" if library else "")
        values = (owner, library) if library else (owner,)
        with self.open() as db:
            rows = db.execute(f"SELECT * FROM threads WHERE {where} ORDER BY updated DESC, id", values).fetchall()
        return [Thread(**row) for row in rows]

    def thread(self, owner: str, id: str) -> Thread | None:
        """Return one conversation of an owner."""
        with self.open() as db:
            row = db.execute("SELECT * FROM threads WHERE id = ? AND owner = ?", (id, owner)).fetchone()
        return Thread(**row) if row else None

    def add_thread(self, thread: Thread) -> None:
        """Keep a new conversation."""
        with self.open() as db:
            db.execute(
                "INSERT INTO threads VALUES (?, ?, ?, ?, ?, ?)",
                (thread.id, thread.owner, thread.library, thread.title, thread.created, thread.updated),
            )

    def rename_thread(self, id: str, title: str) -> None:
        """Give a conversation another title."""
        with self.open() as db:
            db.execute("UPDATE threads SET title = ? WHERE id = ?", (title, id))

    def delete_threads(self, ids: list[str]) -> None:
        """Delete conversations with all their turns."""
        with self.open() as db:
            db.executemany("DELETE FROM threads WHERE id = ?", [(id,) for id in ids])

    def threads_of_library(self, library: str) -> list[str]:
        """Return the ids of all conversations with a library, whoever's they are."""
        with self.open() as db:
            return [row["id"] for row in db.execute("SELECT id FROM threads WHERE library = ?", (library,))]

    def turns(self, thread: str) -> list[Turn]:
        """Return the turns of a conversation, in order."""
        with self.open() as db:
            rows = db.execute("SELECT * FROM turns WHERE thread = ? ORDER BY n", (thread,)).fetchall()
        return [_turn(row) for row in rows]

    def add_turn(self, thread: str, run: str, graph: str, question: str, title: str) -> int:
        """Begin a turn and return its number; the first one names an untitled conversation."""
        with self.open() as db:
            db.execute("BEGIN IMMEDIATE")
            n = int(db.execute("SELECT coalesce(max(n), 0) + 1 FROM turns WHERE thread = ?", (thread,)).fetchone()[0])
            db.execute(
                "INSERT INTO turns VALUES (?, ?, ?, ?, ?, 'running', NULL, NULL, ?, NULL)",
                (thread, n, run, graph, question, now()),
            )
            db.execute(
                "UPDATE threads SET updated = ?, title = CASE title WHEN '' THEN ? ELSE title END WHERE id = ?",
                (now(), title, thread),
            )
        return n

    def set_turn(
        self,
        thread: str,
        n: int,
        status: str,
        answer: dict[str, Any] | None = None,
        problem: dict[str, Any] | None = None,
        trail: list[dict[str, Any]] | None = None,
    ) -> None:
        """Record what became of a turn."""
        with self.open() as db:
            db.execute(
                "UPDATE turns SET status = ?, answer = ?, problem = ?, trail = ? WHERE thread = ? AND n = ?",
                (status, _json(answer), _json(problem), _json(trail), thread, n),
            )

    def end_orphans(self) -> None:
        """Close the turns that a server which is gone left open."""
        with self.open() as db:
            db.execute("UPDATE turns SET status = 'cancelled' WHERE status IN ('running', 'waiting')")


def _json(value: dict[str, Any] | list[dict[str, Any]] | None) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _turn(row: sqlite3.Row) -> Turn:
    answer, failed, trail = (json.loads(row[k]) if row[k] else None for k in ("answer", "problem", "trail"))
    plain = {k: row[k] for k in ("n", "run", "graph", "question", "status", "created")}
    return Turn(**plain, answer=answer, problem=failed, trail=trail or [])
