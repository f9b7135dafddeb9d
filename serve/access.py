"""Who asks, by which key, which libraries they may see, and how much they may ask at once.

What a caller may not see is not there: a NotFound reads the same as that of what does not exist. A key is 256 random
bits, kept as a hash, bound to libraries, and revocable at any time.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Request

from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.corpora.store.stores import stores
from ragweave.graphs.settings import run_settings
from ragweave.models.errors import InputError
from ragweave.serve.database import sent
from ragweave.serve.problems import NotFound, Refused
from ragweave.serve.store import Store, now, packed

PREFIX = "rw_"
"""Begins every key."""
OWNER = "owner"
"""Whoever needs no key, or holds one for all libraries: the person whose machine it is."""


@dataclass(frozen=True, slots=True)
class Caller:
    """One party behind requests.

    `libraries` are ids; None means all, and the right to make and delete libraries. `key` is the id of the key it sent.
    """

    id: str = OWNER
    libraries: frozenset[str] | None = None
    key: str = ""

    def sees(self, library: str) -> bool:
        """Whether it may use the library of that id."""
        return self.libraries is None or library in self.libraries

    def require_all(self) -> None:
        """Refuse a caller that is bound to libraries."""
        if self.libraries is not None:
            raise Refused(403, "this key is bound to its libraries", "use a key that was made for all libraries")


async def current_caller(request: Request) -> Caller:  # async, so that it takes no thread
    """Return the caller that the guard let in."""
    caller: Caller = request.state.caller
    return caller


CallerNow = Annotated[Caller, Depends(current_caller)]


async def visible(caller: Caller) -> list[LibraryRow]:
    """Return the libraries that a caller may see, by name."""
    rows = await asyncio.to_thread(lambda: stores().catalog.libraries())
    return [row for row in rows if caller.sees(row.id)]


async def library_named(caller: CallerNow, library: str) -> LibraryRow:
    """Return a library by name."""
    name = check_name(library)
    return await _only(caller, "name", name, f"There is no library named {name!r}")


async def library_by_id(caller: CallerNow, library: str) -> LibraryRow:
    """Return a library by id."""
    return await _only(caller, "id", library, "There is no such library")


NamedLibrary = Annotated[LibraryRow, Depends(library_named)]
"""The one that a query names as `library`."""
LibraryOfId = Annotated[LibraryRow, Depends(library_by_id)]
"""The one whose id stands in the path as `library`."""


async def _only(caller: Caller, column: str, value: str, missing: str) -> LibraryRow:
    for row in await visible(caller):
        if getattr(row, column) == value:
            return row
    raise NotFound(missing, "list the libraries, and name one of them")


async def usual_for(caller: Caller) -> str:
    """Return the library of a request that names none: the default one, or the only one that the key opens, or "".

    What the default one is called, a key that does not open it is not told.
    """
    usual = run_settings().library
    if caller.libraries is None:
        return usual
    names = [row.name for row in await visible(caller)]
    return names[0] if len(names) == 1 else usual if usual in names else ""


async def library_for(caller: Caller, name: str | None) -> LibraryRow:
    """Return the library of a request; where it names none, the usual one of the caller."""
    usual = await usual_for(caller)
    if not name and not usual:
        raise NotFound("no library is named", "list the libraries, and name one of them")
    try:
        return await library_named(caller, name or usual)
    except NotFound:
        if caller.libraries is not None or (name or usual) != usual:
            raise
        # Whoever asks first, before anything was indexed, gets told what to do.
        raise NotFound(
            f"nothing is in the library {usual!r} yet",
            "drop files on the page of this server, or run `ragweave index FOLDER`",
        ) from None


class Slots:
    """Places for answers under way, and the `seconds` that one may take; all doors of the server share them."""

    def __init__(self, total: int, seconds: float) -> None:
        self._total = self._free = total
        self.seconds = seconds
        self.draining = False
        """The server is about to stop: none is given any more."""
        self.ended = False
        """The server stops now: the answers of requests under way are broken off."""
        self._limits: set[asyncio.Timeout] = set()

    @property
    def taken(self) -> int:
        """How many are taken."""
        return self._total - self._free

    def take(self) -> None:
        """Take a place, to be given back with `give`."""
        if self.draining:
            raise Refused(503, "this server is being stopped", "try again in a moment", "draining", after=2)
        if self._free < 1:
            raise Refused(429, "too many answers are under way", "try again in a moment", after=2)
        self._free -= 1

    def give(self) -> None:
        """Give a place back."""
        self._free += 1

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold a place."""
        self.take()
        try:
            yield
        finally:
            self.give()

    @asynccontextmanager
    async def limited(self, until: float) -> AsyncIterator[None]:
        """Wait until a time of the loop, or until the server stops; a TimeoutError says that it is past."""
        async with asyncio.timeout_at(0 if self.ended else until) as limit:
            self._limits.add(limit)
            try:
                yield
            finally:
                self._limits.discard(limit)

    def end(self) -> None:
        """Break off what waits within `limited`."""
        self.ended = True
        for limit in self._limits:
            if not limit.expired():
                limit.reschedule(0)


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
        self.store = store

    def create(self, name: str, libraries: tuple[str, ...] | None) -> tuple[Key, str]:
        """Make a key and return it with its secret, which cannot be had again."""
        if libraries is not None and not libraries:
            raise InputError("a key needs a library", "name one, or make a key for all")
        secret = PREFIX + secrets.token_urlsafe(32)
        key = Key(secrets.token_hex(4), name, libraries, now(), "", "")
        given = {"id": key.id, "name": name, "hash": hashed(secret), "libraries": packed(libraries), "at": key.created}
        with self.store.writing() as db:
            sent(db, "INSERT INTO keys VALUES (:id, :name, :hash, :libraries, :at, NULL, NULL)", **given)
        return key, secret

    def all(self) -> list[Key]:
        """Return every key, revoked ones as well, the oldest first."""
        with self.store.reading() as db:
            rows = sent(db, "SELECT * FROM keys ORDER BY created, id").mappings().all()
        return [Key(r["id"], r["name"], _libraries(r), r["created"], r["revoked"] or "", r["used"] or "") for r in rows]

    def revoke(self, id: str) -> None:
        """End a key; from now on no request with it is answered."""
        change = "UPDATE keys SET revoked = :at WHERE id = :id AND revoked IS NULL"
        with self.store.writing() as db:
            done = sent(db, change, at=now(), id=id).rowcount
        if not done:
            raise InputError(f"there is no working key with the id {id!r}", "`ragweave keys list` names them")

    def locked(self) -> bool:
        """Whether there has ever been a key."""
        with self.store.reading() as db:
            return sent(db, "SELECT 1 FROM keys LIMIT 1").scalar() is not None

    def caller(self, secret: str) -> Caller | None:
        """Return whose key that is; None for one that is wrong or revoked."""
        at = now()[:16]
        query = "SELECT * FROM keys WHERE hash = :hash AND revoked IS NULL"
        with self.store.reading() as db:
            row = sent(db, query, hash=hashed(secret)).mappings().one_or_none()
        if row is None:
            return None
        if (row["used"] or "")[:16] != at:
            with self.store.writing() as db:
                sent(db, "UPDATE keys SET used = :at WHERE id = :id", at=at, id=row["id"])
        libraries, id = _libraries(row), row["id"]
        return Caller(key=id) if libraries is None else Caller(f"key {id}", frozenset(libraries), id)


def _libraries(row: Mapping[Any, Any]) -> tuple[str, ...] | None:
    return None if row["libraries"] is None else tuple(json.loads(row["libraries"]))


def hashed(secret: str) -> str:
    """Return what is kept of a key or a link; a fast hash is enough for 256 random bits, there is nothing to guess."""
    return hashlib.sha256(secret.encode()).hexdigest()
