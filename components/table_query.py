"""A statement over a table as a document: run, put into words, cited with the rows that it rests on."""

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
"""Statements of one turn."""
CORPUS = "table"
"""Corpus of a row of evidence that is a result."""
LIBRARY = "The library's list of files"
_PLACES = 20
"""Source rows that are kept with a result."""
_CELL = 200
"""Characters of a cell of a result."""
_LEFT_OUT = 80
"""Characters of the line that says that rows are left out."""
_BAR = " | "
_NONE = "No row matches. Texts are compared letter by letter; LIKE does not tell small letters from capitals."


Ask = Callable[[RunContext, Knowledge], Awaitable[Outcome[Decision]]]


async def with_results(
    run: RunContext, known: Knowledge, ask: Ask, results: list[Evidence]
) -> tuple[Outcome[Decision], Knowledge]:
    """Ask a reasoner, run each statement that it sends, and ask on with the result; a turn has MOST of them.

    Returns:
        Its last decision, and what it knew then: results are rows, strips and rounds as what was searched is.
        They are added to `results` before the reasoner goes on.
    """
    made = await ask(run, replace(known, statements=left(known.hops)))
    while (asked := made.value).statement and left(known.hops) and not run.meter.exhausted:
        row = await result(run, known, asked)
        results.append(row)
        hops = [*known.hops]
        if hops:
            line = f"{asked.table}: {asked.statement}"
            hops[-1] = Hop(
                **{**hops[-1], "learnt": asked.learnt, "missing": asked.missing, "next": line, "by": made.by}
            )
        known = replace(
            known,
            hops=[*hops, hop_of(known, row)],
            rows=[*known.rows, row],
            strips=[*known.strips, as_strip(row)],
        )
        made = await ask(run, replace(known, statements=left(known.hops)))
    return made, known


async def result(run: RunContext, known: Knowledge, asked: Decision) -> Evidence:
    """Run a statement that a model asked for; return its result, or why there is none, as a row of evidence."""
    library, number = await run.library(), asked.table.removeprefix("Table ")
    line = f"{asked.table}: {asked.statement}"
    try:
        if number == files.NAME:
            found = await files.library_table(library, (await within(run)).sources)
            return await _row(library, known, line, asked.statement, files.NAME, *found, "")
        at = int(number) - 1
        item = asked.shown[at] if 0 <= at < len(asked.shown) else ""
        held = named(known.tables.get(item, ()))
        if not held:
            raise InputError(f"Document {number} shows no table", "name a document with a table")
        name = next((n for n in held if n == table_of(asked.statement).lower()), "")
        if not name:
            raise InputError(
                "The statement reads no table of this document", f"its tables are {', '.join(held)}"
            )
        table, parts = await asyncio.to_thread(read_table, library, held[name].key)
        return await _row(library, known, line, asked.statement, name, table, parts, item)
    except RagweaveError as error:
        return _made(
            known, line, "No result", f"{error.what}. {error.remedy}.", {"kind": "model"}, asked.table
        )


def read_table(library: Library, key: int) -> tuple[KeptTable, list[bytes]]:
    """Return a table and its packed rows.

    Raises:
        InputError: it is gone.
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
        "rows": [[cut(v) for v in row] for row in found.rows],
        "more": found.more,
        "places": await _places(library, table, found, parts),
        "item": first,
        "notes": _notes(table, found.statement),
    }
    computed = _fitting(computed)
    title = LIBRARY if opened is None else opened.title
    place: Locator = {"kind": "model"} if opened is None else opened.locator
    made = _made(known, line, title, told(computed), place, f"{table.source} {table.key} {statement}")
    return Evidence(**{**made, "computed": computed})


def _fitting(computed: Computed) -> Computed:
    """Return a result with as many of its rows as a document of the prompt has room for."""
    rows, left = (
        list[list[str | int | float | None]](),
        TEXT_LIMIT - len(told(Computed(**{**computed, "rows": []}))),
    )
    left -= _LEFT_OUT
    for row in computed["rows"]:
        left -= len(_BAR.join(map(plain, row))) + 1
        if left < 0:
            break
        rows.append(row)
    return Computed(
        **{**computed, "rows": rows, "more": computed["more"] or len(rows) < len(computed["rows"])}
    )


def _made(known: Knowledge, line: str, title: str, text: str, place: Locator, of: str) -> Evidence:
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
    """Return the places of the first rows of a result: in their file, and in an item that shows them."""
    wanted = list(dict.fromkeys(found.places))[:_PLACES]
    lines = await asyncio.to_thread(_in_file, wanted, parts)
    items = await where(library, table, wanted)
    out: list[SourceRow] = []
    for row in wanted:
        (line, page), (item, chars) = lines.get(row, (0, 0)), items.get(row, ("", []))
        out.append({"row": row, "line": line, "page": page, "item": item, "chars": chars})
    return out


def _in_file(wanted: Sequence[int], parts: Sequence[bytes]) -> dict[int, tuple[int, int]]:
    """Return line and page of rows, by their numbers."""
    out: dict[int, tuple[int, int]] = {}
    before = 0
    for part in parts:
        rows = store.unpacked(part)
        out |= {
            n: (rows[n - before - 1][0], rows[n - before - 1][1])
            for n in wanted
            if before < n <= before + len(rows)
        }
        before += len(rows)
        if len(out) == len(wanted):
            break
    return out


def _notes(table: KeptTable, statement: str) -> list[str]:
    """Return what is odd about the columns that a statement reads."""
    said = {t.said.strip('"`[]') for t in tokens(statement)}
    return [f"{c.name}: {c.note}" for c in table.columns if c.note and c.name in said and not _lists(c.note)]


def _lists(note: str) -> bool:
    return note.startswith("one of ")


def cut(value: Any) -> str | int | float | None:
    """Return a cell of a result, not longer than is kept."""
    if isinstance(value, str):
        return clip(value, _CELL)
    return value if value is None or isinstance(value, int | float) else str(value)


def told(computed: Computed) -> str:
    """Return a result as a model reads it: the statement, the rows counted, the condition, columns and rows."""
    counted, total = computed["counted"], computed["total"]
    rests = f"{counted:,} of {total:,} rows" if counted is not None else f"rows of {total:,}, nested"
    condition = f", where {computed['condition']}" if computed["condition"] else ""
    lines = [f"Result of: {computed['statement']}", f"Counted: {rests}{condition}"]
    lines += [f"Note: {note}" for note in computed["notes"]]
    lines += [_NONE] if counted == 0 else []
    lines.append(_BAR.join(computed["columns"]))
    lines += [_BAR.join(map(plain, row)) for row in computed["rows"]]
    if computed["more"]:
        lines.append(f"More rows are left out: these are the first {len(computed['rows'])}.")
    return "\n".join(lines)


def hop_of(known: Knowledge, row: Evidence) -> Hop:
    """Return the round in which a statement was run."""
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
    """Return how many statements may still be asked."""
    return MOST - sum(hop["corpora"] == [CORPUS] for hop in hops)
