"""Store files for questions: those of `/v1/files`, and those of conversations of the web app.

They are in the server's tables, so that each of its processes can read them. A file belongs to one caller.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

from ragweave.corpora.settings import corpora_settings
from ragweave.models.errors import InputError
from ragweave.serve.database import Database, sent
from ragweave.serve.problems import NotFound, Refused
from ragweave.serve.uploads import safe_name

FILE_MB = 32
"""Size of the largest file that is stored, in MiB."""
MOST_FILES = 200
"""Files that one caller may store."""
MOST_MB = 256
"""Total size of the files that one caller may store, in MiB."""
DAYS = 7
"""Days after which a file without a conversation is deleted."""
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class KeptFile:
    """The description of a file; `ends` is the time of its deletion, None for a file of a conversation."""

    id: str
    owner: str
    name: str
    purpose: str
    size: int
    created: float
    ends: float | None
    thread: str | None = None


class KeptFiles:
    """The stored files of all callers; async code calls its methods through `asyncio.to_thread`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(
        self,
        owner: str,
        name: str,
        data: bytes,
        purpose: str = "user_data",
        seconds: float = 0,
        thread: str = "",
    ) -> KeptFile:
        """Store a file for some seconds, or as long as a conversation exists.

        Raises:
            InputError: it is empty, too large, or has a name that is never read.
            Refused: the caller has too many files.
        """
        check_size(name, data)
        now = time.time()
        ends = None if thread else now + (seconds or DAYS * _DAY)
        id = f"file-{secrets.token_hex(12)}"
        row = KeptFile(id, owner, safe_name(name), purpose, len(data), now, ends, thread or None)
        columns = [*asdict(row), "data"]
        values = ", ".join(f":{column}" for column in columns)
        with self._database.writing() as db:
            sent(db, "DELETE FROM files WHERE ends < :now", now=now)
            taken = list(sent(db, "SELECT size FROM files WHERE owner = :owner", owner=owner).scalars())
            if len(taken) >= MOST_FILES or sum(taken) + len(data) > MOST_MB << 20:
                what = f"a caller may keep {MOST_FILES} files of {MOST_MB} MiB together"
                raise Refused(413, what, "delete some of yours: DELETE /v1/files/ID").named(
                    "file_quota_exceeded", files=MOST_FILES, size=MOST_MB
                )
            sent(db, f"INSERT INTO files ({', '.join(columns)}) VALUES ({values})", **asdict(row), data=data)
        return row

    def all(self, owner: str, thread: str | None = None) -> list[KeptFile]:
        """Return the files of a caller, the oldest first; with `thread`, those of one conversation."""
        where = f"{_ITS_OWN} AND (:thread = '' OR thread = :thread)"
        return self._read(f"{where} ORDER BY created, id", owner=owner, thread=thread or "")

    def get(self, owner: str, id: str) -> KeptFile:
        """Return the description of a file of a caller, or raise NotFound."""
        found = self._read(f"{_ITS_OWN} AND id = :id", owner=owner, id=id)
        if found:
            return found[0]
        raise NotFound(f"no file {id[:80]!r} is kept here", "it may have expired: send it again").named(
            "uploaded_file_not_found", id=id[:80]
        )

    def _read(self, condition: str, **values: str) -> list[KeptFile]:
        with self._database.reading() as db:
            rows = sent(db, f"SELECT {_COLUMNS} FROM files WHERE {condition}", now=time.time(), **values)
            return [KeptFile(**row) for row in rows.mappings()]

    def with_data(self, owner: str, id: str) -> tuple[KeptFile, bytes]:
        """Return a file of a caller with its content, or raise NotFound."""
        file = self.get(owner, id)
        with self._database.reading() as db:
            found = sent(db, "SELECT data FROM files WHERE id = :id", id=id).scalar()
        return file, bytes(found or b"")

    def delete(self, owner: str, id: str) -> None:
        """Delete a file of a caller, or raise NotFound."""
        self.get(owner, id)
        with self._database.writing() as db:
            sent(db, "DELETE FROM files WHERE id = :id", id=id)

    def bind(self, owner: str, ids: Sequence[str], thread: str) -> None:
        """Attach files to a conversation: they are used for each of its questions and deleted with it."""
        change = "UPDATE files SET thread = :thread, ends = NULL WHERE id = :id AND owner = :owner"
        with self._database.writing() as db:
            for id in ids:
                sent(db, change, thread=thread, id=id, owner=owner)


def check_size(name: str, data: bytes) -> None:
    """Raise `InputError` if a file is empty or too large."""
    limit = min(FILE_MB, corpora_settings().max_file_mb)
    if not data:
        raise InputError(f"the file {name[:80]!r} is empty", "send one with content").named(
            "file_empty", name=name[:80]
        )
    if len(data) > limit << 20:
        remedy = "index it into the library, or send a part of it"
        raise InputError(f"{name[:80]!r} is larger than {limit} MiB", remedy).named(
            "question_file_too_large", name=name[:80], limit=limit
        )


_COLUMNS = ", ".join([field.name for field in fields(KeptFile)])
_ITS_OWN = "owner = :owner AND (ends IS NULL OR ends > :now)"
"""Condition that selects the files of a caller that have not expired."""
