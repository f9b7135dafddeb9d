"""One read-only statement over one table, in a child process with limits of time, memory and rows."""

from __future__ import annotations

import asyncio
import json
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragweave.corpora.store.tables import KeptTable
from ragweave.corpora.tables import statement as sql
from ragweave.corpora.tables.keep import MOST_ROWS
from ragweave.models.errors import InputError

MOST_RESULT = 100
"""Rows of a result."""
MOST_STATEMENT = 2_000
"""Characters of a statement."""
_MEMORY_MB = 1_024
"""Memory of the process, its address space counted."""
_SECONDS = 5.0
"""Seconds that a statement may take, reading the table not counted."""
_LOADING = 20.0
"""Seconds that reading a table may take in addition."""
_CHILD = Path(__file__).with_name("child.py")
_ALLOWED = "write one SELECT over the columns that are listed"


@dataclass(frozen=True, slots=True)
class TableResult:
    """What a statement gave.

    Attributes:
        statement: as it was run.
        condition: what is behind its WHERE, or "".
        columns: the heads of the result.
        rows: its rows, at most MOST_RESULT.
        more: there are further rows, which are left out.
        counted: rows of the table that the condition matched; None if the statement does not say.
        places: numbers of source rows, from 1, the first of them.
        total: rows of the table.
    """

    statement: str
    condition: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool
    counted: int | None
    places: tuple[int, ...]
    total: int


async def query(
    table: KeptTable, parts: Sequence[bytes], statement: str, name: str = "t", seconds: float = _SECONDS
) -> TableResult:
    """Run a statement over the rows of a table, which it calls `name`.

    `parts` are the packed rows, `statement` is one SELECT, which may take `seconds` at most.

    Raises:
        InputError: the table is too large, or the statement is refused, wrong, or takes too long.
    """
    if table.refused or table.count > MOST_ROWS:
        raise InputError(
            f"A table of {table.count:,} rows cannot be queried: the most is {MOST_ROWS:,} rows",
            "split its file",
        )
    statement = _plain_select(statement)
    parted = sql.anatomy(statement, name)
    request = {
        "table": name,
        "columns": [c.name for c in table.columns],
        "kinds": [c.kind for c in table.columns],
        "statement": statement,
        "matched": parted.matched if parted else "",
        "numbers": parted.numbers if parted else "",
        "rows": MOST_RESULT,
        "seconds": seconds,
        "memory_mb": _MEMORY_MB,
    }
    reply = await asyncio.to_thread(_run, request, parts, seconds + _LOADING)
    if "error" in reply:
        raise _refusal(reply, table, name, seconds)
    condition = " ".join(parted.condition.split()) if parted else ""
    columns, rows = tuple(reply["columns"]), tuple(map(tuple, reply["rows"]))
    places = tuple(reply["places"])
    return TableResult(
        statement, condition, columns, rows, reply["more"], reply["counted"], places, table.count
    )


def _plain_select(statement: str) -> str:
    """Return a statement without what follows its end; refuse one that is too long or no SELECT."""
    statement = sql.trimmed(statement)
    if len(statement) > MOST_STATEMENT:
        raise InputError(f"The statement has more than {MOST_STATEMENT:,} characters", "write a shorter one")
    first = next(sql.tokens(statement), None)
    if first is None or first.said not in ("select", "with"):
        raise InputError("The statement is no SELECT, which is refused", _ALLOWED)
    return statement


def _run(request: dict[str, Any], parts: Sequence[bytes], seconds: float) -> dict[str, Any]:
    sent = json.dumps(request).encode() + b"\n"
    sent += b"".join([struct.pack(">Q", len(part)) + part for part in parts])
    command = (sys.executable, "-I", "-S", str(_CHILD))
    try:
        ended = subprocess.run(command, input=sent, capture_output=True, timeout=seconds, env={})
    except subprocess.TimeoutExpired:
        return {"error": "time"}
    try:
        reply: dict[str, Any] = json.loads(ended.stdout)
    except ValueError:  # it was ended from outside: by a limit, or for want of memory
        return {"error": "memory"}
    return reply


def _refusal(reply: dict[str, Any], table: KeptTable, name: str, seconds: float) -> InputError:
    kind, what = reply["error"], reply.get("what", "")
    if kind == "time":
        return InputError(f"The statement was stopped after {seconds:g} seconds", "ask for less at once")
    if kind == "memory":
        return InputError(f"The statement takes more than {_MEMORY_MB} MiB of memory", "ask for less at once")
    if kind == "refused":
        return InputError(f"The statement asks for {what}, which is refused", _ALLOWED)
    names = ["row", *[column.name for column in table.columns]]
    columns = ", ".join(names[:40])
    return InputError(f"The statement cannot be run ({what})", f"the table is {name}({columns})")
