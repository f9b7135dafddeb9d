"""Run statements over tables, and turn their results into evidence with the rows behind them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from ragweave.components.ask import Outcome
from ragweave.components.evidence import TEXT_LIMIT, Computed, Evidence, Hop, SourceRow
from ragweave.components.knowledge import Decision, Knowledge
from ragweave.components.passages import as_strip
from ragweave.components.run_context import RunContext, within
from ragweave.components.tables import named, plain, where
from ragweave.corpora.store import tables as store
from ragweave.corpora.store.library import Library
from ragweave.corpora.store.tables import KeptTable
from ragweave.corpora.tables import library as files
from ragweave.corpora.tables.query import TableResult, query
from ragweave.corpora.tables.statement import table_of, tokens
from ragweave.corpora.types import Locator, digest
from ragweave.models.errors import InputError, RagweaveError
from ragweave.models.text import clip

MOST = 4
"""Statements that one turn may run."""
CORPUS = "table"
"""Corpus of evidence that is the result of a statement."""
LIBRARY = "The library's list of files"
_PLACES = 20
"""Source rows that a result keeps."""
_CELL = 200
"""Characters that a cell of a result keeps."""
_LEFT_OUT = 80
"""Characters reserved for the line about rows that are left out."""
_BAR = " | "
_NONE = "No row matches. Texts are compared letter by letter; LIKE does not tell small letters from capitals."


Ask = Callable[[RunContext, Knowledge], Awaitable[Outcome[Decision]]]


async def with_results(
    run: RunContext, known: Knowledge, ask: Ask, results: list[Evidence]
) -> tuple[Outcome[Decision], Knowledge]:
    """Ask a reasoner, run the statement that it sends, and ask again with the result, at most MOST times.

    Returns:
        The last decision, and what the reasoner knew then: results are added as rows, strips and rounds. Each
        result is appended to `results` before the reasoner is asked again.
    """
    made = await ask(run, replace(known, statements=left(known.hops)))
    while made.value.statement and left(known.hops) and not run.meter.exhausted:
        row = await result(run, known, made.value)
        results.append(row)
        known = replace(
            known,
            hops=[*_with_statement(known.hops, made), hop_of(known, row)],
            rows=[*known.rows, row],
            strips=[*known.strips, as_strip(row)],
        )
        made = await ask(run, replace(known, statements=left(known.hops)))
    return made, known


def _with_statement(hops: Sequence[Hop], made: Outcome[Decision]) -> list[Hop]:
    """Return the rounds with a decision to run a statement noted in the last one."""
    if not hops:
        return []
    asked = made.value
    last = Hop(**hops[-1])
    last["learnt"] = asked.learnt
    last["missing"] = asked.missing
    last["next"] = _line(asked)
    last["by"] = made.by
    return [*hops[:-1], last]


def _line(asked: Decision) -> str:
    """Return a statement with its table, as the trace shows it."""
    return f"{asked.table}: {asked.statement}"


async def result(run: RunContext, known: Knowledge, asked: Decision) -> Evidence:
    """Run the statement of a decision, and return its result, or why there is none, as evidence."""
    library = await run.library()
    line = _line(asked)
    number = asked.table.removeprefix("Table ")
    try:
        if number == files.NAME:
            table, parts = await files.library_table(library, (await within(run)).sources)
            return await _row(library, known, line, asked.statement, files.NAME, table, parts, "")
        item = _shown_item(asked, number)
        name, key = _table_read(known, asked, number, item)
        table, parts = await asyncio.to_thread(read_table, library, key)
        return await _row(library, known, line, asked.statement, name, table, parts, item)
    except RagweaveError as error:
        reason = f"{error.what}. {error.remedy}."
        return _made(known, line, "No result", reason, {"kind": "model"}, asked.table)


def _shown_item(asked: Decision, number: str) -> str:
    """Return the id of the document with a number, or "" if none was shown under it."""
    index = int(number) - 1
    return asked.shown[index] if 0 <= index < len(asked.shown) else ""


def _table_read(known: Knowledge, asked: Decision, number: str, item: str) -> tuple[str, int]:
    """Return the name and key of the table that a statement reads.

    Raises:
        InputError: the document shows no table, or the statement reads none of its tables.
    """
    held = named(known.tables.get(item, ()))
    if not held:
        raise InputError(f"Document {number} shows no table", "name a document with a table")
    wanted = table_of(asked.statement).lower()
    if not wanted or wanted not in held:
        raise InputError("The statement reads no table of this document", f"its tables are {', '.join(held)}")
    return wanted, held[wanted].key


def read_table(library: Library, key: int) -> tuple[KeptTable, list[bytes]]:
    """Return a table and its packed rows.

    Raises:
        InputError: the library has no such table any more.
    """
    with library.held.catalog.reading(library.id) as connection:
        table = store.described(connection, key)
        if table is None:
            raise InputError("The table is not in the library any more", "search again")
        return table, store.parts_of(connection, key)


async def _row(
    library: Library,
    known: Knowledge,
    line: str,
    statement: str,
    name: str,
    table: KeptTable,
    parts: Sequence[bytes],
    item: str,
) -> Evidence:
    """Run a statement over a table, and return its result as evidence that opens at the table."""
    found = await query(table, parts, statement, name)
    first = next((s.item for s in table.stretches), item)
    opened = (await library.items([first])).get(first) if first else None
    computed: Computed = {
        "statement": found.statement,
        "table": table.key,
        "name": name,
        "condition": found.condition,
        "counted": found.counted,
        "total": found.total,
        "columns": list(found.columns),
        "rows": list(map(_cut_row, found.rows)),
        "more": found.more,
        "places": await _places(library, table, found, parts),
        "item": first,
        "notes": _notes(table, found.statement),
    }
    computed = _fitting(computed)
    title = LIBRARY if opened is None else opened.title
    place: Locator = {"kind": "model"} if opened is None else opened.locator
    made = _made(known, line, title, as_text(computed), place, f"{table.source} {table.key} {statement}")
    return Evidence(**{**made, "computed": computed})


def _cut_row(row: Sequence[Any]) -> list[str | int | float | None]:
    """Return a row of a result with its cells cut."""
    return [cut(value) for value in row]


def _fitting(computed: Computed) -> Computed:
    """Return a result with as many of its rows as evidence has room for."""
    rows: list[list[str | int | float | None]] = []
    without_rows = Computed(**{**computed, "rows": rows})
    left = TEXT_LIMIT - len(as_text(without_rows)) - _LEFT_OUT
    for row in computed["rows"]:
        left -= len(_BAR.join(map(plain, row))) + 1
        if left < 0:
            break
        rows.append(row)
    more = computed["more"] or len(rows) < len(computed["rows"])
    return Computed(**{**computed, "rows": rows, "more": more})


def _made(known: Knowledge, line: str, title: str, text: str, place: Locator, of: str) -> Evidence:
    """Return evidence for a statement; `of` and the line decide its id."""
    return {
        "id": f"table-{digest(line, of)}",
        "corpus": CORPUS,
        "origin": "library",
        "title": title,
        "text": clip(text, TEXT_LIMIT),
        "locator": place,
        "query": line,
        "hop": known.hops[-1]["n"] if known.hops else 1,
        "score": 1.0,
        "relevance": 1.0,
        "date": "",
    }


async def _places(
    library: Library, table: KeptTable, found: TableResult, parts: Sequence[bytes]
) -> list[SourceRow]:
    """Return where the first rows of a result are: in their file, and in an item that shows them."""
    wanted = list(dict.fromkeys(found.places))[:_PLACES]
    lines = await asyncio.to_thread(_in_file, wanted, parts)
    items = await where(library, table, wanted)
    out: list[SourceRow] = []
    for row in wanted:
        line, page = lines.get(row, (0, 0))
        item, chars = items.get(row, ("", []))
        out.append({"row": row, "line": line, "page": page, "item": item, "chars": chars})
    return out


def _in_file(wanted: Sequence[int], parts: Sequence[bytes]) -> dict[int, tuple[int, int]]:
    """Return the line and page of rows, by the number of the row."""
    out: dict[int, tuple[int, int]] = {}
    before = 0
    for part in parts:
        rows = store.unpacked(part)
        for number in wanted:
            if before < number <= before + len(rows):
                row = rows[number - before - 1]
                out[number] = (row[0], row[1])
        before += len(rows)
        if len(out) == len(wanted):
            break
    return out


def _notes(table: KeptTable, statement: str) -> list[str]:
    """Return the notes about irregular values in the columns that a statement reads."""
    words = set()
    for token in tokens(statement):
        words.add(token.said.strip('"`[]'))
    notes = []
    for column in table.columns:
        is_list_of_values = column.note.startswith("one of ")
        if column.note and column.name in words and not is_list_of_values:
            notes.append(f"{column.name}: {column.note}")
    return notes


def cut(value: Any) -> str | int | float | None:
    """Return a cell of a result, cut to the length that is kept."""
    if isinstance(value, str):
        return clip(value, _CELL)
    if value is None or isinstance(value, int | float):
        return value
    return str(value)


def as_text(computed: Computed) -> str:
    """Return a result as a model reads it: statement, row counts, condition, columns and rows."""
    counted, total = computed["counted"], computed["total"]
    rests = f"{counted:,} of {total:,} rows" if counted is not None else f"rows of {total:,}, nested"
    condition = f", where {computed['condition']}" if computed["condition"] else ""
    lines = [f"Result of: {computed['statement']}", f"Counted: {rests}{condition}"]
    for note in computed["notes"]:
        lines.append(f"Note: {note}")
    if counted == 0:
        lines.append(_NONE)
    lines.append(_BAR.join(computed["columns"]))
    for row in computed["rows"]:
        lines.append(_BAR.join(map(plain, row)))
    if computed["more"]:
        lines.append(f"More rows are left out: these are the first {len(computed['rows'])}.")
    return "\n".join(lines)


def hop_of(known: Knowledge, row: Evidence) -> Hop:
    """Return the round of a run that a result of a statement adds."""
    return {
        "n": row["hop"],
        "query": row["query"],
        "also": [],
        "corpora": [CORPUS],
        "evidence": [row["id"]],
        "action": "",
        "learnt": "",
        "missing": "",
        "next": "",
        "by": "",
    }


def left(hops: Sequence[Hop]) -> int:
    """Return how many more statements the turn may run."""
    statements = 0
    for hop in hops:
        if hop["corpora"] == [CORPUS]:
            statements += 1
    return MOST - statements
