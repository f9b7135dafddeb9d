"""API keys: 256 random bits, kept as a hash, bound to libraries, revocable at any time."""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from dataclasses import dataclass

from ragweave.models.errors import InputError
from ragweave.serve.access import OWNER, Caller
from ragweave.serve.store import Store, now

PREFIX = "rw_"


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key; the key itself is not."""

    id: str
    name: str
    libraries: tuple[str, ...] | None
    created: str
    revoked: str
    used: str


class Keys:
    """The keys in a store. Once there has been one, every request needs one."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def create(self, name: str, libraries: tuple[str, ...] | None) -> tuple[Key, str]:
        """Make a key and return it with its secret, which cannot be had again."""
        if libraries is not None and not libraries:
            raise InputError("a key needs a library", "name one, or make a key for all")
        secret = PREFIX + secrets.token_urlsafe(32)
        key = Key(secrets.token_hex(4), name, libraries, now(), "", "")
        with self._store.open() as db:
            db.execute(
                "INSERT INTO keys VALUES (?, ?, ?, ?, ?, NULL, NULL)",
                (key.id, name, _hash(secret), None if libraries is None else json.dumps(libraries), key.created),
            )
        return key, secret

    def all(self) -> list[Key]:
        """Return every key, revoked ones as well, the oldest first."""
        with self._store.open() as db:
            rows = db.execute("SELECT * FROM keys ORDER BY created, id").fetchall()
        return [Key(r["id"], r["name"], _libraries(r), r["created"], r["revoked"] or "", r["used"] or "") for r in rows]

    def revoke(self, id: str) -> None:
        """End a key; from now on no request with it is answered."""
        with self._store.open() as db:
            done = db.execute("UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL", (now(), id)).rowcount
        if not done:
            raise InputError(f"there is no working key with the id {id!r}", "`ragweave keys list` names them")

    def locked(self) -> bool:
        """Whether there has ever been a key."""
        with self._store.open() as db:
            return db.execute("SELECT 1 FROM keys LIMIT 1").fetchone() is not None

    def caller(self, secret: str) -> Caller | None:
        """Return whose key that is; None for one that is wrong or revoked."""
        at = now()[:16]
        with self._store.open() as db:
            row = db.execute("SELECT * FROM keys WHERE hash = ? AND revoked IS NULL", (_hash(secret),)).fetchone()
            if row is None:
                return None
            if (row["used"] or "")[:16] != at:
                db.execute("UPDATE keys SET used = ? WHERE id = ?", (at, row["id"]))
        libraries = _libraries(row)
        return Caller(OWNER) if libraries is None else Caller(f"key {row['id']}", frozenset(libraries))


def _libraries(row: sqlite3.Row) -> tuple[str, ...] | None:
    return None if row["libraries"] is None else tuple(json.loads(row["libraries"]))


def _hash(secret: str) -> str:
    # A fast hash is enough for 256 random bits: there is nothing to guess.
    return hashlib.sha256(secret.encode()).hexdigest()
