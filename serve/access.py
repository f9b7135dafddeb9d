"""Check which libraries a caller may see and what the caller may do there.

A library that the caller may not see gives the same NotFound as one that does not exist.
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
"""Id of the caller on a server without keys: the owner of the machine."""
Role = Literal["read", "write", "own"]
"""The right of a caller in its libraries.

`read`: ask and open. `write`: also add files, and remove its own. `own`: also remove any file.
"""
ROLES: tuple[Role, ...] = ("read", "write", "own")
"""The roles in ascending order; each one includes the rights of those before it."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of requests.

    `libraries` are ids; None means all. `key` is the id of the caller's key, `name` the name of that key. An
    owner of all libraries may also create, rename and delete them, see the paths of files, and set up models.
    """

    id: str = OWNER
    libraries: frozenset[str] | None = None
    key: str = ""
    role: Role = "own"
    name: str = ""

    @property
    def owns_all(self) -> bool:
        """Whether the caller owns all libraries, including future ones."""
        return self.libraries is None and self.role == "own"

    def sees(self, library: str) -> bool:
        """Return whether the caller may use a library, by id."""
        return self.libraries is None or library in self.libraries

    def may(self, role: Role) -> bool:
        """Return whether the caller has a role or a higher one."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def require(self, role: Role) -> None:
        """Refuse a caller with a lower role."""
        if not self.may(role):
            raise Refused(
                403,
                f"this key has the role {self.role!r}, and this takes {role!r}",
                f"ask whoever runs the server for `ragweave keys edit {self.key} --role {role}`",
            ).named("role_insufficient", role=self.role, role2=role, id=self.key)

    def require_all(self) -> None:
        """Refuse a caller that does not own all libraries."""
        if self.libraries is not None:
            raise Refused(
                403, "this key is bound to its libraries", "use a key that was made for all libraries"
            ).named("key_limited_to_libraries")
        self.require("own")


async def current_caller(request: Request) -> Caller:  # async, so that it needs no thread
    """Return the caller that the guard has authenticated."""
    caller: Caller = request.state.caller
    return caller


CallerNow = Annotated[Caller, Depends(current_caller)]


async def current_writer(caller: CallerNow) -> Caller:
    """Return the caller if it may add files."""
    caller.require("write")
    return caller


WriterNow = Annotated[Caller, Depends(current_writer)]


async def visible(caller: Caller) -> list[LibraryRow]:
    """Return the libraries that a caller may see, sorted by name."""
    rows = []
    for row in await asyncio.to_thread(lambda: stores().catalog.libraries()):
        if caller.sees(row.id):
            rows.append(row)
    return rows


async def library_named(caller: CallerNow, library: str) -> LibraryRow:
    """Return a library by name."""
    name = check_name(library)
    return await _only(caller, "name", name, f"There is no library named {name!r}")


async def library_by_id(caller: CallerNow, library: str) -> LibraryRow:
    """Return a library by id."""
    return await _only(caller, "id", library, "There is no such library")


NamedLibrary = Annotated[LibraryRow, Depends(library_named)]
"""The library that the query parameter `library` names."""
LibraryOfId = Annotated[LibraryRow, Depends(library_by_id)]
"""The library whose id is `library` in the path."""


async def _only(caller: Caller, column: str, value: str, missing: str) -> LibraryRow:
    key = "library_name_unknown" if column == "name" else "library_not_found"
    for row in await visible(caller):
        if getattr(row, column) == value:
            return row
    raise NotFound(missing, "list the libraries, and name one of them").named(key, name=value)


async def usual_for(caller: Caller) -> str:
    """Return the library of requests that name none, or "" if there is none.

    This is the default library, or the only library of the caller's key. A key without access to the default
    library does not learn its name.
    """
    usual = run_settings().library
    if caller.libraries is None:
        return usual
    names = [row.name for row in await visible(caller)]
    if len(names) == 1:
        return names[0]
    return usual if usual in names else ""


async def library_for(caller: Caller, name: str | None) -> LibraryRow:
    """Return the library that a request names, or the usual one of the caller."""
    usual = await usual_for(caller)
    if not name and not usual:
        raise NotFound("no library is named", "list the libraries, and name one of them").named(
            "library_not_named"
        )
    try:
        return await library_named(caller, name or usual)
    except NotFound:
        if caller.libraries is not None or (name or usual) != usual:
            raise
        # Nothing has been indexed yet, so the error says how to begin.
        raise NotFound(
            f"nothing is in the library {usual!r} yet",
            "drop files on the page of this server, or run `ragweave index FOLDER`",
        ).named("library_empty", usual=usual) from None
