"""Who asks, which libraries they may see, and what they may do there.

What a caller may not see is not there: a NotFound reads the same as that of what does not exist.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends, Request

from ragweave.components.run_settings import run_settings
from ragweave.corpora.store.catalog import LibraryRow, check_name
from ragweave.corpora.store.stores import stores
from ragweave.serve.problems import NotFound, Refused

OWNER = "owner"
"""Whoever asks while there is no key: the person whose machine it is."""
Role = Literal["read", "write", "own"]
"""What a caller may do in its libraries: ask and open; add files and remove those it added; remove any file."""
ROLES: tuple[Role, ...] = ("read", "write", "own")
"""The roles, each of which may do what those before it may."""


@dataclass(frozen=True, slots=True)
class Caller:
    """One party behind requests.

    `libraries` are ids; None means all. `key` is the id of the key it sent, `name` what that key is for. An
    owner of all libraries also makes, renames and deletes them, sees where files lie, and sets the models.
    """

    id: str = OWNER
    libraries: frozenset[str] | None = None
    key: str = ""
    role: Role = "own"
    name: str = ""

    @property
    def owns_all(self) -> bool:
        """Whether it owns all libraries, those included that are made later."""
        return self.libraries is None and self.role == "own"

    def sees(self, library: str) -> bool:
        """Whether it may use the library of that id."""
        return self.libraries is None or library in self.libraries

    def may(self, role: Role) -> bool:
        """Whether it may do what callers of a role may."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def require(self, role: Role) -> None:
        """Refuse a caller of a lesser role."""
        if not self.may(role):
            raise Refused(
                403,
                f"this key has the role {self.role!r}, and this takes {role!r}",
                f"ask whoever runs the server for `ragweave keys edit {self.key} --role {role}`",
            ).named("key_has_role_takes", role=self.role, role2=role, id=self.key)

    def require_all(self) -> None:
        """Refuse a caller that does not own all libraries."""
        if self.libraries is not None:
            raise Refused(
                403, "this key is bound to its libraries", "use a key that was made for all libraries"
            ).named("key_bound_libraries")
        self.require("own")


async def current_caller(request: Request) -> Caller:  # async, so that it takes no thread
    """Return the caller that the guard let in."""
    caller: Caller = request.state.caller
    return caller


CallerNow = Annotated[Caller, Depends(current_caller)]


async def current_writer(caller: CallerNow) -> Caller:
    """Return the caller if it may add files."""
    caller.require("write")
    return caller


WriterNow = Annotated[Caller, Depends(current_writer)]


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
    key = "no_library_of_name" if column == "name" else "no_such_library"
    for row in await visible(caller):
        if getattr(row, column) == value:
            return row
    raise NotFound(missing, "list the libraries, and name one of them").named(key, name=value)


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
        raise NotFound("no library is named", "list the libraries, and name one of them").named(
            "no_library_named"
        )
    try:
        return await library_named(caller, name or usual)
    except NotFound:
        if caller.libraries is not None or (name or usual) != usual:
            raise
        # Whoever asks first, before anything was indexed, gets told what to do.
        raise NotFound(
            f"nothing is in the library {usual!r} yet",
            "drop files on the page of this server, or run `ragweave index FOLDER`",
        ).named("nothing_in_library_yet", usual=usual) from None
