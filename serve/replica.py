"""This server, or worker of one, among those that share its tables: which of the others have ended.

Each holds a lock by its id: of the database, which lets go of it when its connection ends, or of the home,
which the operating system lets go of when its process ends.
"""

from __future__ import annotations

import secrets
from contextlib import ExitStack

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import locks, postgres

SERVER = "server"
"""What the name of its lock begins with."""


class Replica:
    """One server; its methods block, and are called from one thread at a time."""

    def __init__(self) -> None:
        self.id = secrets.token_hex(8)
        settings = corpora_settings()
        self._home = settings.home
        self._server = postgres.server(settings.database) if settings.database else None
        self._lock = ExitStack()
        self._missed: set[str] = set()

    def beat(self) -> None:
        """Take the lock, also anew where it was lost with its connection."""
        if not self._held(self.id):
            self._lock.close()
            name = f"{SERVER} {self.id}"
            database, home = self._server, self._home
            lock = database.lock(name, 0, lambda holder: None) if database else locks.owned(home, name)
            self._lock.enter_context(lock)

    def ended(self, others: set[str]) -> set[str]:
        """Return which of other servers have ended.

        Of those of a database one counts as such that was missed twice: after its restart they need a moment.
        """
        missed = {id for id in others if not self._held(id)}
        gone, self._missed = missed & self._missed if self._server else missed, missed
        return gone

    def close(self) -> None:
        """Let go of the lock."""
        self._lock.close()

    def _held(self, id: str) -> bool:
        name = f"{SERVER} {id}"
        return self._server.held(name) if self._server else locks.is_held(self._home, name)
