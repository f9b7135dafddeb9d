"""Keep what was perceived of a recording during and after indexing: a small database and a folder of frames.

A row is the outcome of one stage for one piece of the recording. Its key is the content of the piece with the
parameters of the stage. After a kill, the next run repeats only the pieces in work, and another ASR engine
repeats only the speech.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ragweave.corpora.store.folders import STAGES, begin
from ragweave.corpora.store.folders import folder_of as folder_of_library
from ragweave.models.errors import SourceError


class Later(SourceError):
    """A recording cannot be indexed now, for a reason outside of it; its outcomes so far are kept."""


class Perceived:
    """The outcomes of the stages of one recording.

    Methods that write raise `Later` if the disk is full or the folder cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        with _disk_errors():
            (folder / "frames").mkdir(parents=True, exist_ok=True)
            self._database = _opened(folder / STAGES)

    def begin(self, path: str) -> None:
        """Note the path of the recording: a stopped run's outcomes are kept as long as that file exists."""
        with _disk_errors():
            begin(self.folder, path)

    def get(self, stage: str, key: str) -> Any:
        """Return an outcome, or None."""
        query = "SELECT value FROM done WHERE stage = ? AND key = ?"
        with self._lock, suppress(sqlite3.Error, ValueError):
            row = self._database.execute(query, (stage, key)).fetchone()
            return None if row is None else json.loads(row[0])
        return None

    def all(self, stage: str) -> dict[str, Any]:
        """Return all outcomes of a stage by their keys."""
        with self._lock, suppress(sqlite3.Error, ValueError):
            rows = self._database.execute("SELECT key, value FROM done WHERE stage = ?", (stage,)).fetchall()
            found: dict[str, Any] = {}
            for key, value in rows:
                found[key] = json.loads(value)
            return found
        return {}

    def put(self, stage: str, key: str, value: Any) -> None:
        """Keep an outcome; it is on the disk when this returns."""
        row = (stage, key, json.dumps(value, ensure_ascii=False))
        with self._lock, _disk_errors():
            self._database.execute("INSERT OR REPLACE INTO done VALUES (?, ?, ?)", row)

    def frame(self, name: str) -> Path | None:
        """Return the file of a frame, or None if it does not exist."""
        path = self.folder / "frames" / name
        return path if path.is_file() else None

    def put_frame(self, name: str, data: bytes) -> None:
        """Write a frame, completely or not at all."""
        path = self.folder / "frames" / name
        part = path.with_suffix(".part")
        if path.is_file():
            return
        with _disk_errors():
            try:
                part.write_bytes(data)
                os.replace(part, path)
            finally:
                with suppress(OSError):
                    part.unlink(missing_ok=True)

    def give_frames(self, names: Iterable[str], folder: Path) -> None:
        """Put frames into another folder as well; on one disk, as links."""
        with _disk_errors():
            for name in sorted(set(names)):
                found = self.frame(name)
                if found is None:
                    continue
                folder.mkdir(parents=True, exist_ok=True)
                try:
                    os.link(found, folder / name)
                except OSError:
                    shutil.copyfile(found, folder / name)

    def close(self) -> None:
        """Close the database."""
        self._database.close()


def _opened(path: Path) -> sqlite3.Connection:
    """Open a database; replace a damaged one, because all of its rows can be made again."""
    for _ in range(2):
        database = sqlite3.connect(path, timeout=30, check_same_thread=False, isolation_level=None)
        try:
            database.execute("PRAGMA synchronous = NORMAL")
            database.execute("PRAGMA journal_mode = TRUNCATE")
            database.execute(
                "CREATE TABLE IF NOT EXISTS done (stage TEXT, key TEXT, value TEXT, PRIMARY KEY (stage, key))"
                " STRICT"
            )
            return database
        except sqlite3.DatabaseError as error:
            database.close()
            if isinstance(error, sqlite3.OperationalError):
                raise
            path.unlink()
    raise sqlite3.DatabaseError(f"{path} cannot be made")


@contextmanager
def _disk_errors() -> Iterator[None]:
    """Turn errors of the disk into one sentence with a remedy."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Later(
            f"Its frames and transcripts cannot be stored ({why})",
            "make room on the disk of RAGWEAVE_HOME; the next run continues where this one ended",
        ) from error


def folder_of(home: Path, library: str, sha256: str) -> Path:
    """Return the folder of a recording by the digest of its bytes."""
    return folder_of_library(home, library) / "perceived" / sha256[:32]
