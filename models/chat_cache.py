"""Cache replies on disk, so that a repeated request costs nothing."""

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
    """A table of replies by the hash of their request; its cost does not grow with its size.

    Prompts are never stored. If the file cannot be used, the cache stays empty and the file unchanged.
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
            # Row numbers grow with each write, so the lowest numbers are the oldest replies.
            self._db.execute(
                "DELETE FROM replies WHERE rowid <= (SELECT max(rowid) FROM replies) - ?", (_MOST_ROWS,)
            )
        except (sqlite3.Error, OSError) as exc:
            self._give_up(exc)

    def get(self, key: str) -> str | None:
        """Return the reply of a key, or None."""
        rows = self._run("SELECT reply FROM replies WHERE key = ?", key)
        return str(rows[0][0]) if rows else None

    def put(self, key: str, reply: str) -> None:
        """Store a reply and replace an older one."""
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
    """The cached replies of one chat model.

    Args:
        role: role in the records of the meter.
        model: name of the model.
        host: host of its server.
        home: home folder of the cache; None: no reply is cached.
    """

    def __init__(self, role: str, model: str, host: str, home: Path | None) -> None:
        self._role, self._model, self._host, self._home = role, model, host, home
        self.fresh = False
        """Whether cached replies are ignored; new ones replace them."""

    async def get(self, asked: ModelRequest, form: str) -> str | None:
        """Return the cached reply of a request, or None."""
        if self._home is None or self.fresh:
            return None
        home, key = self._home, asked.key(self._model, self._host, form)
        return await asyncio.to_thread(lambda: reply_cache(home).get(key))

    def used(self, asked: ModelRequest, kept: str) -> str:
        """Record the use of a cached reply, and return it."""
        asked.meter.record(Spend(asked.node, self._role, self._model, 0, 1, 0, 0, 0.0, 0.0))
        return kept

    async def put(
        self, asked: ModelRequest, form: str, reply: ChatReply, read: str, good: bool = True
    ) -> str:
        """Cache the parsed text of a whole and good reply; return it in any case."""
        if self._home is not None and read and good and not (reply.cut or reply.partial):
            home, key = self._home, asked.key(self._model, self._host, form)
            await asyncio.to_thread(lambda: reply_cache(home).put(key, read))
        return read
