"""Tell whether anybody has committed to a library since it was last looked at, without reading it."""

from __future__ import annotations

import itertools
import os
import sqlite3
import threading
from pathlib import Path

from ragweave.corpora.store.folders import catalog_of
from ragweave.models.errors import LibraryNotFound

Version = tuple[int, int]
"""Number of the connection that looked, and SQLite's `data_version` there: another one after each commit."""


class Watch:
    """A connection to each catalog of a home that never writes, and so sees the commits of all others."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._open: dict[str, tuple[int, int, sqlite3.Connection]] = {}
        self._numbers = itertools.count()
        self._lock = threading.Lock()

    def version(self, library: str) -> Version:
        """Return the version of a library; some ten microseconds.

        A catalog that cannot be asked has another version each time: reading it says what is wrong.

        Raises:
            LibraryNotFound: it was deleted.
        """
        path = catalog_of(self._home, library)
        try:
            file = os.stat(path).st_ino
        except OSError as error:
            self._close(library)
            raise LibraryNotFound("The library was deleted", "open another, or index it again") from error
        with self._lock:
            try:
                number, known, connection = self._open.get(library) or self._opened(library, path, file)
                if known != file:  # another file has taken its place
                    connection.close()
                    number, _, connection = self._opened(library, path, file)
                return number, connection.execute("PRAGMA data_version").fetchone()[0]
            except sqlite3.Error:
                self._open.pop(library, None)
                return next(self._numbers), 0

    def close(self) -> None:
        """Close every connection."""
        for library in [*self._open]:
            self._close(library)

    def _opened(self, library: str, path: Path, file: int) -> tuple[int, int, sqlite3.Connection]:
        connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
        self._open[library] = next(self._numbers), file, connection
        return self._open[library]

    def _close(self, library: str) -> None:
        with self._lock:
            if (held := self._open.pop(library, None)) is not None:
                held[2].close()
