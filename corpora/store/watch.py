"""Tell whether anybody has committed to a library since it was last looked at, without reading it."""

from __future__ import annotations

import itertools
import os
import sqlite3
import threading
import time
from pathlib import Path

from ragweave.corpora.store.folders import catalog_of, is_held
from ragweave.corpora.store.sqlite_file import OPENING
from ragweave.models.errors import LibraryNotFound

Version = tuple[int, int]
"""Number of the connection that looked, and SQLite's `data_version` there: another one after each commit."""


class CatalogWatch:
    """A connection to each catalog of a home that never writes, and so sees the commits of all others."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._open: dict[str, tuple[str, int, int, sqlite3.Cursor]] = {}
        self._numbers = itertools.count()
        self._refused = dict[str, float]()
        self._lock = threading.Lock()

    def version(self, library: str) -> Version:
        """Return the version of a library; some ten microseconds.

        A catalog that cannot be asked has another version each time: reading it says what is wrong.

        Raises:
            LibraryNotFound: it was deleted.
        """
        with self._lock:
            held = self._open.get(library)
            path = str(catalog_of(self._home, library)) if held is None else held[0]
            if time.monotonic() < self._refused.get(library, 0):
                return next(self._numbers), 0
            try:
                file = os.stat(path).st_ino
            except OSError as error:
                self._close(library)
                raise LibraryNotFound("The library was deleted", "open another, or index it again") from error
            try:
                if held is None or held[1] != file:  # else another file has taken its place
                    self._close(library)
                    opened = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
                    self._open[library] = held = path, file, next(self._numbers), opened.cursor()
                return held[2], held[3].execute("PRAGMA data_version").fetchone()[0]
            except sqlite3.Error as error:
                self._open.pop(library, None)
                if is_held(error):  # SQLite itself may have tried for ten seconds
                    self._refused[library] = time.monotonic() + OPENING
                return next(self._numbers), 0

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            for library in [*self._open]:
                self._close(library)

    def _close(self, library: str) -> None:
        held = self._open.pop(library, None)
        if held is not None:
            held[3].connection.close()
