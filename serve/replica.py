"""This server among those that share its tables: which of the others have ended.

Each holds an advisory lock of the database by its id, which the database lets go of when its connection ends. In a
home of files there is one server, so that every other id is of one that has ended.
"""

from __future__ import annotations

import secrets
from contextlib import ExitStack

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import postgres


class Replica:
    """One server; its methods block, and are called from one thread at a time."""

    def __init__(self) -> None:
        self.id = secrets.token_hex(8)
        url = corpora_settings().database
        self._server = postgres.server(url) if url else None
        self._lock = ExitStack()
        self._missed: set[str] = set()

    def beat(self) -> None:
        """Take the lock, also anew where it was lost with its connection."""
        if self._server is not None and not self._server.held(_name(self.id)):
            self._lock.close()
            self._lock.enter_context(self._server.lock(_name(self.id), 0, lambda holder: None))

    def ended(self, others: set[str]) -> set[str]:
        """Return which of other servers have ended.

        One counts as such that was missed twice: after a restart of the database its servers need a moment.
        """
        if self._server is None:
            return others
        missed = {id for id in others if not self._server.held(_name(id))}
        gone, self._missed = missed & self._missed, missed
        return gone

    def close(self) -> None:
        """Let go of the lock."""
        self._lock.close()


def _name(id: str) -> str:
    return f"server {id}"
