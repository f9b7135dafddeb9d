"""Detect which of the servers and workers that share tables have ended.

Each one holds a lock named by its id. A database releases the lock when the connection ends; in the home
folder, the operating system releases it when the process ends.
"""

from __future__ import annotations

import secrets
from contextlib import ExitStack

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import locks, postgres

SERVER = "server"
"""Prefix of the lock name of a server."""


class Replica:
    """One server. The methods block; call them from one thread at a time."""

    def __init__(self) -> None:
        self.id = secrets.token_hex(8)
        settings = corpora_settings()
        self._home = settings.home
        self._server = postgres.server(settings.database) if settings.database else None
        self._lock = ExitStack()
        self._missed: set[str] = set()

    def beat(self) -> None:
        """Take the lock, again if it was lost with its connection."""
        if not self._held(self.id):
            self._lock.close()
            name = f"{SERVER} {self.id}"
            database, home = self._server, self._home
            lock = database.lock(name, 0, lambda holder: None) if database else locks.owned(home, name)
            self._lock.enter_context(lock)

    def ended(self, others: set[str]) -> set[str]:
        """Return which of the other servers have ended.

        With a database, a server counts as ended if its lock is missing in two calls in a row, because
        servers need a moment to reconnect after a restart of the database.
        """
        missed = set()
        for id in others:
            if not self._held(id):
                missed.add(id)
        missed_before, self._missed = self._missed, missed
        return missed & missed_before if self._server else missed

    def close(self) -> None:
        """Release the lock."""
        self._lock.close()

    def _held(self, id: str) -> bool:
        name = f"{SERVER} {id}"
        return self._server.held(name) if self._server else locks.is_held(self._home, name)
