"""Numbered steps that bring older tables up to today's, forwards only, each number in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from ragweave.models.errors import LibraryError

Step = str | Callable[[Connection], None]
"""What migrates tables from the number before: statements separated by semicolons, or a function."""


@dataclass(frozen=True, slots=True)
class History:
    """Version numbers of tables: `steps` has one step for each number above the `oldest` readable one."""

    oldest: int
    steps: Mapping[int, Step]

    @property
    def newest(self) -> int:
        """The number that this program writes."""
        return max(self.steps, default=self.oldest)

    def check(self, found: int, what: str) -> None:
        """Refuse tables that this program cannot read.

        Raises:
            LibraryError: they are newer than this program, or older than its oldest step.
        """
        if found > self.newest:
            raise LibraryError(
                f"{what} was written by a newer Ragweave (tables {found}, this one reads up to"
                f" {self.newest})",
                "upgrade Ragweave, or choose another RAGWEAVE_HOME; nothing was changed",
            )
        if found < self.oldest:
            reads = f"tables {found}, this one reads from {self.oldest}"
            raise LibraryError(f"{what} was written by an earlier Ragweave ({reads})", EARLIER)

    def bring_up(self, connection: Connection, found: int, what: str) -> None:
        """Migrate tables from number `found` to the newest in a write transaction; the caller stores it."""
        self.check(found, what)
        for number in range(found + 1, self.newest + 1):
            step = self.steps[number]
            if callable(step):
                step(connection)
            else:
                run_script(connection, step)


Fill = Callable[[Connection], None]
"""Writes what a new catalog begins with, within the transaction that makes it."""


def nothing(connection: Connection) -> None:
    """Write nothing into a new catalog."""


EARLIER = "set RAGWEAVE_HOME to a new folder, or move the old libraries away, and index the files again"
"""What to do with tables for which there is no step."""


def run_script(connection: Connection, script: str) -> None:
    """Send statements that are parted by semicolons; `BLOB` is the name of bytes on either engine."""
    if connection.dialect.name == "postgresql":
        script = script.replace("BLOB", "BYTEA")
    for statement in filter(str.strip, script.split(";")):
        connection.exec_driver_sql(statement)
