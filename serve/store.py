"""What the server itself remembers: conversations by owner, and keys. One small SQLite file beside the catalog."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragweave.models.errors import LibraryError

_SCHEMAS = (
    """
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
""",
    """
ALTER TABLE turns ADD COLUMN waiting TEXT;
CREATE TABLE pictures (
    thread TEXT NOT NULL, turn INTEGER NOT NULL, n INTEGER NOT NULL, jpeg BLOB NOT NULL,
    PRIMARY KEY (thread, turn, n),
    FOREIGN KEY (thread, turn) REFERENCES turns (thread, n) ON DELETE CASCADE
);
""",
    """
ALTER TABLE turns ADD COLUMN context TEXT;
ALTER TABLE turns ADD COLUMN verdict TEXT;
ALTER TABLE threads ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
""",
    """
CREATE TABLE shares (
    id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, owner TEXT NOT NULL,
    thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE, title TEXT NOT NULL, page TEXT NOT NULL,
    created TEXT NOT NULL, expires TEXT NOT NULL
);
CREATE TABLE watches (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, library TEXT NOT NULL, question TEXT NOT NULL, created TEXT NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0, known TEXT,
    UNIQUE (owner, library, question)
);
""",
)
"""What turns each version of the file into the next; `PRAGMA user_version` says which one a file is."""


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation with a library, by id; `title` is its first question, or the name its owner gave it."""

    id: str
    owner: str
    library: str
    title: str
    created: str
    updated: str
    pinned: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a conversation and what became of it.

    The status is `running`, `waiting`, `done`, `failed` or `cancelled`; the trail has the steps that led there, and the
    sentences of a turn that did not come to its end; `pictures` counts those that came with the question. The context
    has the knobs it was asked with, the verdict what its reader said of it: `good`, `reason` and `at`.
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
    pictures: int
    context: dict[str, Any] | None = None
    verdict: dict[str, Any] | None = None


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
                _bring_up_to_date(db, path)
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

    def threads(self, owner: str | None = None, library: str | None = None, words: str = "") -> list[Thread]:
        """Return conversations of one owner or all, with one library or all, the last used first.

        With `words`, those alone whose title, questions or answers hold them.
        """
        with self.open() as db:
            db.create_function("holds", 1, lambda text: words.casefold() in (text or "").casefold())
            said = (
                "SELECT 1 FROM turns WHERE thread = t.id AND (holds(question) OR holds(json_extract(answer, '$.text')))"
            )
            rows = db.execute(
                "SELECT * FROM threads t WHERE owner = coalesce(?, owner) AND library = coalesce(?, library) "
                f"AND (? OR holds(title) OR EXISTS ({said})) ORDER BY updated DESC, id",
                (owner, library, not words),
            ).fetchall()
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
                "INSERT INTO threads VALUES (:id, :owner, :library, :title, :created, :updated, :pinned)",
                asdict(thread),
            )

    def set_thread(self, id: str, title: str | None = None, pinned: bool | None = None) -> None:
        """Give a conversation another title, or pin it, or both."""
        with self.open() as db:
            db.execute(
                "UPDATE threads SET title = coalesce(?, title), pinned = coalesce(?, pinned) WHERE id = ?",
                (title, pinned, id),
            )

    def delete_threads(self, ids: list[str]) -> None:
        """Delete conversations with all their turns."""
        with self.open() as db:
            db.executemany("DELETE FROM threads WHERE id = ?", [(id,) for id in ids])

    def turns(self, thread: str) -> list[Turn]:
        """Return the turns of a conversation, in order."""
        with self.open() as db:
            rows = db.execute(f"{_TURNS} WHERE thread = ? ORDER BY n", (thread,)).fetchall()
        return [_turn(row) for row in rows]

    def add_turn(
        self,
        thread: str,
        run: str,
        graph: str,
        question: str,
        title: str,
        pictures: Sequence[bytes] = (),
        context: dict[str, Any] | None = None,
    ) -> int:
        """Begin a turn and return its number; the first one names an untitled conversation."""
        with self.open() as db:
            db.execute("BEGIN IMMEDIATE")
            n = int(db.execute("SELECT coalesce(max(n), 0) + 1 FROM turns WHERE thread = ?", (thread,)).fetchone()[0])
            db.execute(
                "INSERT INTO turns (thread, n, run, graph, question, status, created, context) "
                "VALUES (?, ?, ?, ?, ?, 'running', ?, ?)",
                (thread, n, run, graph, question, now(), _json(context)),
            )
            db.executemany(
                "INSERT INTO pictures VALUES (?, ?, ?, ?)",
                [(thread, n, at, jpeg) for at, jpeg in enumerate(pictures, 1)],
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
        waiting: dict[str, Any] | None = None,
    ) -> None:
        """Record what became of a turn; `waiting` is what a run that waits for consent needs to go on."""
        with self.open() as db:
            db.execute(
                "UPDATE turns SET status = ?, answer = ?, problem = ?, trail = ?, waiting = ? "
                "WHERE thread = ? AND n = ?",
                (status, _json(answer), _json(problem), _json(trail), _json(waiting), thread, n),
            )

    def judge(self, thread: str, n: int, verdict: dict[str, Any] | None) -> bool:
        """Keep what a reader said of an answer; tells whether there is that turn."""
        with self.open() as db:
            given = (_json(verdict), thread, n)
            return bool(db.execute("UPDATE turns SET verdict = ? WHERE thread = ? AND n = ?", given).rowcount)

    def judged(self, owner: str, library: str) -> list[tuple[str, Turn]]:
        """Return the turns of an owner's conversations with a library that were judged, each with its thread."""
        with self.open() as db:
            rows = db.execute(
                f"{_TURNS} WHERE verdict IS NOT NULL AND thread IN (SELECT id FROM threads WHERE owner = ? AND "
                "library = ?) ORDER BY created, n",
                (owner, library),
            ).fetchall()
        return [(row["thread"], _turn(row)) for row in rows]

    def drop_turns(self, thread: str, n: int) -> None:
        """Delete turn `n` of a conversation and those after it."""
        with self.open() as db:
            db.execute("DELETE FROM turns WHERE thread = ? AND n >= ?", (thread, n))

    def picture(self, thread: str, turn: int, n: int) -> bytes | None:
        """Return a picture that came with a question, a JPEG file."""
        with self.open() as db:
            row = db.execute(
                "SELECT jpeg FROM pictures WHERE thread = ? AND turn = ? AND n = ?", (thread, turn, n)
            ).fetchone()
        return bytes(row["jpeg"]) if row else None

    def take_over(self) -> list[tuple[Thread, Turn, dict[str, Any] | None]]:
        """Return the turns that a server which is gone left unfinished.

        With one that waits for consent comes what its run needs to go on, as `set_turn` was given it.
        """
        with self.open() as db:
            rows = db.execute(f"{_TURNS} WHERE status IN ('running', 'waiting')").fetchall()
            threads = {row["id"]: Thread(**row) for row in db.execute("SELECT * FROM threads")}
        return [(threads[r["thread"]], _turn(r), r["waiting"] and json.loads(r["waiting"])) for r in rows]


_TURNS = """SELECT *, (SELECT count(*) FROM pictures p WHERE p.thread = turns.thread AND p.turn = turns.n) AS pictures
FROM turns"""


def _bring_up_to_date(db: sqlite3.Connection, path: Path) -> None:
    """Give a file the tables of this version, all in one transaction; two processes may begin at once."""
    db.execute("BEGIN IMMEDIATE")
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version > len(_SCHEMAS):
        raise LibraryError(f"{path} was written by a newer Ragweave", "upgrade this one, or use another RAGWEAVE_HOME")
    for schema in _SCHEMAS[version:]:
        for statement in filter(str.strip, schema.split(";")):
            db.execute(statement)
    db.execute(f"PRAGMA user_version = {len(_SCHEMAS)}")


def _json(value: dict[str, Any] | list[dict[str, Any]] | None) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _turn(row: sqlite3.Row) -> Turn:
    answer, failed, trail, context, verdict = (
        json.loads(row[k]) if row[k] else None for k in ("answer", "problem", "trail", "context", "verdict")
    )
    plain = {k: row[k] for k in ("n", "run", "graph", "question", "status", "created", "pictures")}
    return Turn(**plain, answer=answer, problem=failed, trail=trail or [], context=context, verdict=verdict)
