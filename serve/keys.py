"""Manage API keys, and the sessions of browsers that logged in with a key.

A key has 256 random bits and is stored as a hash. Each key is a caller of its own. Its id never changes, so
it keeps its conversations. A session is random, too, expires, and has the rights of its key.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, Literal

from sqlalchemy import Connection

from ragweave.models.errors import InputError, StorageError
from ragweave.serve.access import OWNER, Caller, Role
from ragweave.serve.database import sent
from ragweave.serve.store import Store, now, packed

PREFIX = "rw_"
"""Prefix of each key."""
SESSION_SECONDS = 30 * 86_400
"""Lifetime of a session, in seconds."""


@dataclass(frozen=True, slots=True)
class Key:
    """The properties of a key, without its secret.

    `conversations` and `sessions` are the numbers of its conversations and of browsers logged in with it.
    """

    id: str
    name: str
    role: Role
    libraries: tuple[str, ...] | None
    created: str
    revoked: str
    used: str
    conversations: int = 0
    sessions: int = 0


_ALL = """SELECT k.*,
    (SELECT count(*) FROM threads t WHERE t.owner = 'key ' || k.id) AS conversations,
    (SELECT count(*) FROM sessions s WHERE s.key = k.id AND s.ends > :at) AS sessions
    FROM keys k ORDER BY k.created, k.id"""


class Keys:
    """The keys in a store. After the first key was created, each request needs a key."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def create(
        self, name: str, libraries: tuple[str, ...] | None, role: Role | None = None
    ) -> tuple[Key, str]:
        """Create a key and return it with its secret, which is not stored.

        The default role is `own` for all libraries and `write` for some. If the first key owns all libraries,
        it receives the conversations from before there were keys.
        """
        _check_libraries(libraries)
        secret = PREFIX + secrets.token_urlsafe(32)
        role = role or ("own" if libraries is None else "write")
        key = Key(secrets.token_hex(4), _check_name(name), role, libraries, now(), "", "")
        given: dict[str, Any] = {"id": key.id, "name": key.name, "hash": hashed(secret), "role": role}
        given |= {"libraries": packed(libraries), "at": key.created}
        columns = "id, name, hash, libraries, created, role"
        with self.store.writing() as db:
            first = sent(db, "SELECT 1 FROM keys LIMIT 1").scalar() is None
            sent(
                db,
                f"INSERT INTO keys ({columns}) VALUES (:id, :name, :hash, :libraries, :at, :role)",
                **given,
            )
            if first and libraries is None and role == "own":
                _hand_over(db, OWNER, caller_id(key.id))
        return key, secret

    def all(self) -> list[Key]:
        """Return all keys including revoked ones, oldest first."""
        with self.store.reading() as db:
            rows = sent(db, _ALL, at=time.time()).mappings().all()
        return [_key(row) for row in rows]

    def edit(
        self,
        id: str,
        name: str | None = None,
        role: Role | None = None,
        libraries: tuple[str, ...] | Literal[True] | None = None,
    ) -> None:
        """Change the name, role or libraries (True: all) of a key; None leaves a property unchanged."""
        if isinstance(libraries, tuple):
            _check_libraries(libraries)
        changes: dict[str, Any] = {}
        if name is not None:
            changes["name"] = _check_name(name)
        if role is not None:
            changes["role"] = role
        if libraries is not None:
            changes["libraries"] = None if libraries is True else packed(libraries)
        if not changes:
            raise InputError("nothing is to be changed", "give --name, --role, --library or --all").named(
                "no_key_change"
            )
        with self.store.writing() as db:
            sets = ", ".join([f"{column} = :{column}" for column in changes])
            _need(sent(db, f"UPDATE keys SET {sets} WHERE id = :id", id=id, **changes).rowcount, id)

    def rotate(self, id: str) -> str:
        """Replace the secret of a key and return the new one; the sessions of the key end.

        A revoked key works again.
        """
        secret = PREFIX + secrets.token_urlsafe(32)
        with self.store.writing() as db:
            change = "UPDATE keys SET hash = :hash, revoked = NULL WHERE id = :id"
            _need(sent(db, change, hash=hashed(secret), id=id).rowcount, id)
            sent(db, "DELETE FROM sessions WHERE key = :id", id=id)
        return secret

    def revoke(self, id: str) -> None:
        """Revoke a key and end its sessions; its conversations are kept."""
        change = "UPDATE keys SET revoked = :at WHERE id = :id AND revoked IS NULL"
        with self.store.writing() as db:
            _need(sent(db, change, at=now(), id=id).rowcount, id)
            sent(db, "DELETE FROM sessions WHERE key = :id", id=id)

    def hand_over(self, id: str, to: str) -> int:
        """Move the conversations of a key, or of `owner`, to another key, and return their number."""
        with self.store.writing() as db:
            for key in [to] if id == OWNER else [id, to]:
                _need(sent(db, "SELECT 1 FROM keys WHERE id = :id", id=key).scalar(), key)
            return _hand_over(db, OWNER if id == OWNER else caller_id(id), caller_id(to))

    def left_by_owner(self) -> int:
        """Return the number of conversations from before there were keys, which belong to no key."""
        with self.store.reading() as db:
            return int(
                sent(db, "SELECT count(*) FROM threads WHERE owner = :owner", owner=OWNER).scalar_one()
            )

    def locked(self) -> bool:
        """Return whether a key was ever created."""
        with self.store.reading() as db:
            return sent(db, "SELECT 1 FROM keys LIMIT 1").scalar() is not None

    def caller(self, secret: str) -> Caller | None:
        """Return the caller of a key, or None if the key is wrong or revoked."""
        return self._found("hash = :hash", hash=hashed(secret))

    def caller_of_session(self, secret: str) -> Caller | None:
        """Return the caller of a session, or None if the session is wrong, expired or ended."""
        open_now = "id = (SELECT key FROM sessions WHERE hash = :hash AND ends > :now)"
        return self._found(open_now, hash=hashed(secret), now=time.time())

    def log_in(self, secret: str) -> str | None:
        """Start a session with a key and return its secret, or None if the key is wrong or revoked."""
        caller = self.caller(secret)
        if caller is None:
            return None
        session, at = secrets.token_urlsafe(32), time.time()
        with self.store.writing() as db:
            sent(db, "DELETE FROM sessions WHERE ends <= :at", at=at)
            row = {"hash": hashed(session), "key": caller.key, "ends": at + SESSION_SECONDS}
            sent(db, "INSERT INTO sessions (hash, key, ends) VALUES (:hash, :key, :ends)", **row)
        return session

    def log_out(self, session: str) -> None:
        """End a session."""
        with self.store.writing() as db:
            sent(db, "DELETE FROM sessions WHERE hash = :hash", hash=hashed(session))

    def log_out_all(self, id: str) -> int:
        """End the sessions of a key, which stays valid, and return their number."""
        with self.store.writing() as db:
            _need(sent(db, "SELECT 1 FROM keys WHERE id = :id", id=id).scalar(), id)
            return sent(db, "DELETE FROM sessions WHERE key = :id", id=id).rowcount

    def _found(self, which: str, **given: Any) -> Caller | None:
        at = now()[:16]
        with self.store.reading() as db:
            query = f"SELECT * FROM keys WHERE {which} AND revoked IS NULL"
            row = sent(db, query, **given).mappings().one_or_none()
        if row is None:
            return None
        if (row["used"] or "")[:16] != at:
            # A full disk refuses this, and lets readers in all the same.
            with suppress(StorageError), self.store.writing() as db:
                sent(db, "UPDATE keys SET used = :at WHERE id = :id", at=at, id=row["id"])
        libraries = _libraries(row)
        opens = None if libraries is None else frozenset(libraries)
        return Caller(caller_id(row["id"]), opens, row["id"], row["role"], row["name"])


def caller_id(key: str) -> str:
    """Return the id of the caller with a key."""
    return f"key {key}"


def hashed(secret: str) -> str:
    """Return the hash of a secret; a fast one suffices, because 256 random bits cannot be guessed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _hand_over(db: Connection, owner: str, to: str) -> int:
    sent(db, "UPDATE runs SET owner = :to WHERE owner = :owner", to=to, owner=owner)
    sent(db, "UPDATE files SET owner = :to WHERE owner = :owner", to=to, owner=owner)
    sent(db, "UPDATE added SET owner = :to WHERE owner = :owner", to=to, owner=owner)
    return sent(db, "UPDATE threads SET owner = :to WHERE owner = :owner", to=to, owner=owner).rowcount


def _need(found: Any, id: str) -> None:
    if not found:
        raise InputError(
            f"there is no working key with the id {id!r}", "`ragweave keys list` names them"
        ).named("key_not_found", id=id)


def _check_name(name: str) -> str:
    kept = " ".join(name.split())
    if not kept or len(kept) > 100 or not kept.isprintable():
        raise InputError(
            "the name of a key has 1 to 100 printable characters", "give the name of a person or program"
        ).named("invalid_key_name")
    return kept


def _check_libraries(libraries: tuple[str, ...] | None) -> None:
    if libraries is not None and not libraries:
        raise InputError("a key needs a library", "name one, or make a key for all").named(
            "key_needs_library"
        )


def _key(row: Mapping[Any, Any]) -> Key:
    found = {**row, "revoked": row["revoked"] or "", "used": row["used"] or "", "libraries": _libraries(row)}
    return Key(**{field.name: found[field.name] for field in fields(Key)})


def _libraries(row: Mapping[Any, Any]) -> tuple[str, ...] | None:
    return None if row["libraries"] is None else tuple(json.loads(row["libraries"]))
