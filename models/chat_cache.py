"""Replies kept on disk, so that asking a model the same thing again costs nothing."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from functools import lru_cache
from pathlib import Path

from ragweave.models.chat_reply import ChatReply, ModelRequest
from ragweave.models.meter import Spend

logger = logging.getLogger(__name__)

_MOST_ROWS = 100_000


class ReplyCache:
    """A table from the hash of a request to its reply; reading and writing cost the same at any size.

    Prompts are never stored. A file that cannot be used is left alone and the cache stays empty.
    """

    def __init__(self, path: Path) -> None:
        self._lock, self._db = threading.Lock(), None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            self._db = sqlite3.connect(path, timeout=5, check_same_thread=False, isolation_level=None)
            self._db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL) STRICT"
            )
            # Rows are numbered in order of writing: dropping the lowest numbers drops the oldest replies.
            self._db.execute(
                "DELETE FROM replies WHERE rowid <= (SELECT max(rowid) FROM replies) - ?", (_MOST_ROWS,)
            )
        except (sqlite3.Error, OSError) as exc:
            self._give_up(exc)

    def get(self, key: str) -> str | None:
        """Return the reply kept for a key, or None."""
        rows = self._run("SELECT reply FROM replies WHERE key = ?", key)
        return str(rows[0][0]) if rows else None

    def put(self, key: str, reply: str) -> None:
        """Keep a reply, replacing an older one."""
        self._run("INSERT OR REPLACE INTO replies VALUES (?, ?)", key, reply)

    def _run(self, statement: str, *values: str) -> list[tuple[str]]:
        try:
            with self._lock:
                return self._db.execute(statement, values).fetchall() if self._db is not None else []
        except (sqlite3.Error, UnicodeError) as exc:
            self._give_up(exc)
            return []

    def _give_up(self, exc: Exception) -> None:
        logger.warning("model replies are not cached: %s", exc)
        if self._db is not None:
            self._db.close()
        self._db = None


@lru_cache(maxsize=4)
def reply_cache(home: Path) -> ReplyCache:
    """Return the cache of a home folder, opened once per process."""
    return ReplyCache(home / "cache" / "replies.db")


class KeptReplies:
    """The replies that are kept of one chat model.

    Args:
        role: under which its use is recorded.
        model: its name.
        host: its server.
        home: folder below which they are kept; None: nothing is.
    """

    def __init__(self, role: str, model: str, host: str, home: Path | None) -> None:
        self._role, self._model, self._host, self._home = role, model, host, home
        self.fresh = False
        """Whether no kept reply is taken; new ones are kept in their place."""

    async def get(self, asked: ModelRequest, form: str) -> str | None:
        """Return the reply that is kept for a request."""
        if self._home is None or self.fresh:
            return None
        home, key = self._home, asked.key(self._model, self._host, form)
        return await asyncio.to_thread(lambda: reply_cache(home).get(key))

    def used(self, asked: ModelRequest, kept: str) -> str:
        """Record that a kept reply is used; return it."""
        asked.meter.record(Spend(asked.node, self._role, self._model, 0, 1, 0, 0, 0.0, 0.0))
        return kept

    async def put(
        self, asked: ModelRequest, form: str, reply: ChatReply, read: str, good: bool = True
    ) -> str:
        """Keep what was read of a whole reply that is good; return it in any case."""
        if self._home is not None and read and good and not (reply.cut or reply.partial):
            home, key = self._home, asked.key(self._model, self._host, form)
            await asyncio.to_thread(lambda: reply_cache(home).put(key, read))
        return read
