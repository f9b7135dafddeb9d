"""The process that runs a statement: one table in memory, nothing else to read, and limits of everything.

Run as a script of its own, without the packages around it, so that it starts at once. On standard input
come a line of JSON (the request), then the packed rows, each part behind eight bytes of length; a line of
JSON goes out.
"""

from __future__ import annotations

import json
import re
import sqlite3
import struct
import sys
import time
import zlib
from typing import Any

FUNCTIONS = frozenset(
    "abs avg coalesce count date datetime group_concat ifnull iif instr julianday length like lower ltrim max"
    " min nullif replace round row_number rank dense_rank rtrim sign strftime substr substring sum time total"
    " trim typeof upper".split()
)
"""Functions that a statement may call: none of them makes a text that is longer than what it is given."""
_STEPS = 1_000
"""Instructions of SQLite between two looks at the clock."""
_LIMITS = {
    "SQLITE_LIMIT_LENGTH": 1_000_000,
    "SQLITE_LIMIT_SQL_LENGTH": 8_000,
    "SQLITE_LIMIT_COLUMN": 1_100,
    "SQLITE_LIMIT_EXPR_DEPTH": 60,
    "SQLITE_LIMIT_COMPOUND_SELECT": 10,
    "SQLITE_LIMIT_ATTACHED": 0,
    "SQLITE_LIMIT_LIKE_PATTERN_LENGTH": 200,
    "SQLITE_LIMIT_VARIABLE_NUMBER": 0,
    "SQLITE_LIMIT_WORKER_THREADS": 0,
}
_TYPES = {"integer": "INTEGER", "real": "REAL", "date": "TEXT", "text": "TEXT"}


def limit(memory_mb: int, seconds: float) -> None:
    """Limit this process: memory, processor time, no files, no processes."""
    try:
        import resource
    except ImportError:  # no such limits on this system; the parent looks at the clock
        return
    limits = {
        resource.RLIMIT_AS: memory_mb * 2**20,
        resource.RLIMIT_CPU: int(seconds) + 2,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 0,
    }
    for kind, most in limits.items():
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def loaded(request: dict[str, Any], parts: Any) -> sqlite3.Connection:
    """Return a connection whose only table is the one of the request."""
    connection = sqlite3.connect(":memory:")
    declared = ['"row" INTEGER']
    for name, kind in zip(request["columns"], request["kinds"], strict=True):
        declared.append(f'"{name}" {_TYPES[kind]}')
    table = request["table"]
    connection.execute(f'CREATE TABLE "{table}" ({", ".join(declared)})')
    marks = ", ".join("?" * len(declared))
    row = 0
    for part in parts:
        rows = json.loads(zlib.decompress(part))
        numbered = ((row + n, *values[2:]) for n, values in enumerate(rows, 1))
        connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', numbered)
        row += len(rows)
    connection.commit()
    return connection


def guard(connection: sqlite3.Connection, table: str, deadline: float) -> list[str]:
    """Restrict a connection to one SELECT over a table, until a time; return the list of refusals."""
    refusals: list[str] = []

    def allowed(action: int, one: str | None, two: str | None, base: str | None, _inner: str | None) -> int:
        if action == sqlite3.SQLITE_SELECT:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ and one == table:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ and not two:  # `count(*)` over a subquery
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and (two or "").lower() in FUNCTIONS:
            return sqlite3.SQLITE_OK
        named = {
            sqlite3.SQLITE_READ: f"the table {one}",
            sqlite3.SQLITE_FUNCTION: f"the function {two}",
            sqlite3.SQLITE_RECURSIVE: "a recursive query",
        }
        refusals.append(named.get(action, "anything but one SELECT"))
        return sqlite3.SQLITE_DENY

    connection.create_function("lower", 1, _lower, deterministic=True)
    connection.create_function("upper", 1, _upper, deterministic=True)
    connection.create_function("like", 2, _like, deterministic=True)
    for name, most in _LIMITS.items():
        connection.setlimit(getattr(sqlite3, name), most)
    connection.execute("PRAGMA query_only = ON")
    connection.set_authorizer(allowed)
    connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
    return refusals


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _like(pattern: Any, value: Any) -> Any:
    """Compare as LIKE does, small and capital letters of any script alike, in linear time."""
    if pattern is None or value is None:
        return None
    parts, text = str(pattern)[:200].casefold().split("%"), str(value).casefold()
    if len(parts) == 1:
        return int(len(parts[0]) == len(text) and _found(parts[0], text, 0) == 0)
    head, *middle, tail = parts
    if len(text) < len(head) + len(tail) or (head and _found(head, text[: len(head)], 0) != 0):
        return 0
    at, end = len(head), len(text) - len(tail)
    if tail and _found(tail, text[end:], 0) != 0:
        return 0
    for part in middle:
        found = _found(part, text[:end], at)
        if found < 0:
            return 0
        at = found + len(part)
    return 1


def _found(part: str, text: str, at: int) -> int:
    if "_" not in part:
        return text.find(part, at)
    found = re.compile(".".join(map(re.escape, part.split("_"))), re.S).search(text, at)
    return found.start() if found else -1


def answer(request: dict[str, Any], parts: Any) -> dict[str, Any]:
    """Return what the statement of a request gives, and the numbers of the rows that it rests on."""
    try:
        connection = loaded(request, parts)
        refusals = guard(connection, request["table"], time.monotonic() + request["seconds"])
    except MemoryError:
        return {"error": "memory"}
    try:
        cursor = connection.execute(request["statement"])
        if cursor.description is None:
            return {"error": "refused", "what": "anything but one SELECT"}
        rows = cursor.fetchmany(request["rows"] + 1)
        made: dict[str, Any] = {
            "columns": [d[0] for d in cursor.description],
            "more": len(rows) > request["rows"],
        }
        made["rows"] = [list(map(_plain, row)) for row in rows[: request["rows"]]]
        made["counted"], made["places"] = _counted(connection, request)
    except MemoryError:
        return {"error": "memory"}
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as error:
        return _error(error, refusals)
    return made


def _counted(connection: sqlite3.Connection, request: dict[str, Any]) -> tuple[int | None, list[int]]:
    """Return how many rows the condition matched, and the first numbers of rows behind the result."""
    if not request.get("matched"):
        return None, []
    count = connection.execute(f"SELECT count(*) FROM ({request['matched']})").fetchone()[0]
    places: list[int] = []
    for row in connection.execute(request["numbers"]).fetchmany(request["rows"]):
        if isinstance(row[0], int):
            places.append(row[0])
    return int(count), places


def _error(error: Exception, refusals: list[str]) -> dict[str, Any]:
    if refusals:
        return {"error": "refused", "what": refusals[0]}
    if "interrupted" in str(error):
        return {"error": "time"}
    return {"error": "wrong", "what": " ".join(str(error).split())[:300]}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if not isinstance(value, float) or value - value == 0 else None


def main() -> None:
    """Answer one request."""
    request = json.loads(sys.stdin.buffer.readline())
    limit(request["memory_mb"], request["seconds"])

    sys.stdout.write(json.dumps(answer(request, _parts(sys.stdin.buffer))))


def _parts(source: Any) -> Any:
    """Yield the parts of a table from a stream: each after its length in eight bytes."""
    head = source.read(8)
    while head:
        yield source.read(struct.unpack(">Q", head)[0])
        head = source.read(8)


if __name__ == "__main__":
    main()
