"""Set the mark `computed`: run the statement of a result again and compare a sentence with what it gives.

Every number of the sentence must be in the result, the row counts or the statement; no model is involved. If
the sentence names rows of the result, each number must be of the row named last before it, or each of the row
named first after it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.evidence import Computed, Evidence, Sentence
from ragweave.components.passages import as_strip
from ragweave.components.run_context import RunContext, within
from ragweave.components.table_query import cut, read_table
from ragweave.components.tables import plain
from ragweave.corpora.tables import library as files
from ragweave.corpora.tables.query import query
from ragweave.models.errors import RagweaveError

_NUMBER = re.compile(r"(?<![\w.,])[-−–]?\d[\d.,'’\u00a0\u202f ]*\d|(?<![\w.,])[-−–]?\d")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_GROUPED = re.compile(r"[-−–]?\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+")
_STRING = re.compile(r"'((?:[^']|'')*)'")
_STRING_OR_LIMIT = re.compile(r"'(?:[^']|'')*'|\blimit\s+\d+", re.I)
_SHORT = 3
"""Characters of the shortest cell by which a sentence can name a row."""


async def mark_computed(run: RunContext, builder: AnswerBuilder, rows: Mapping[str, Evidence]) -> None:
    """Mark the pending sentences that cite a result and agree with it; the others stay pending.

    Args:
        run: provides the library.
        builder: holds the answer and shows the marks.
        rows: evidence of the turn, by id.
    """
    verified: dict[str, bool] = {}
    for n, sentence in enumerate(builder.sentences, 1):
        if sentence.support != "pending":
            continue
        for row in _results(builder, sentence, rows):
            if row["id"] not in verified:
                verified[row["id"]] = await is_same(run, row["computed"])
            if verified[row["id"]] and holds(sentence.text, row["computed"]):
                builder.remark(n, "computed", [(as_strip(row), row["text"])])
                break


def _results(builder: AnswerBuilder, sentence: Sentence, rows: Mapping[str, Evidence]) -> list[Evidence]:
    """Return the results that a sentence cites."""
    found: dict[str, Evidence] = {}
    for citation in builder.citations:
        row = rows.get(citation.id)
        if row is not None and citation.n in sentence.citations and "computed" in row:
            found[citation.id] = row
    return list(found.values())


async def is_same(run: RunContext, computed: Computed) -> bool:
    """Run the statement of a result again and return whether it gives the same."""
    library = await run.library()
    try:
        if computed["name"] == files.NAME:
            table, parts = await files.library_table(library, (await within(run)).sources)
        else:
            table, parts = await asyncio.to_thread(read_table, library, computed["table"])
        found = await query(table, parts, computed["statement"], computed["name"])
    except RagweaveError:
        return False
    if found.counted != computed["counted"]:
        return False
    before = _plain_rows(computed["rows"])
    after: list[list[Any]] = []
    for row in found.rows[: len(before)]:
        after.append(list(map(cut, row)))
    return _plain_rows(after) == before


def _plain_rows(rows: Iterable[Iterable[Any]]) -> list[list[str]]:
    return [list(map(plain, row)) for row in rows]


def holds(sentence: str, computed: Computed) -> bool:
    """Return whether all numbers of a sentence are in a result, each in the row that the sentence names."""
    rows = _plain_rows(computed["rows"])
    free = _free_texts(computed)
    all_texts = [*free, *chain.from_iterable(rows)]
    folded = sentence.casefold()
    days = _DAY.findall(sentence)
    flat = "\n".join(all_texts)
    for day in days:
        if day not in flat:
            return False
    names = _names(rows, folded)
    numbers: list[re.Match[str]] = []
    for m in _NUMBER.finditer(_DAY.sub(_blank, sentence)):
        if not _is_in_name(m.start(), names, folded):
            numbers.append(m)
    if not (numbers or days or names):
        return False
    named_rows = {n for _, n in names}
    if len(named_rows) < 2:
        own = free + rows[named_rows.pop()] if named_rows else all_texts
        return all(_is_in(m.group(), own) for m in numbers)
    places: list[tuple[int, int]] = []
    for name, n in names:
        places.append((folded.find(name), n))
    places.sort()
    return _fits(numbers, places, rows, free, _last_before) or _fits(
        numbers, places, rows, free, _first_after
    )


def _free_texts(computed: Computed) -> list[str]:
    """Return the texts whose numbers any sentence about a result may state: counts and the statement."""
    statement = computed["statement"]
    counts = [computed["total"]]
    if computed["counted"] is not None:
        counts.append(computed["counted"])
    if len(computed["rows"]) > 1:
        counts.append(len(computed["rows"]))
    return [*map(str, counts), _without_strings(statement), *_STRING.findall(statement)]


def _names(rows: Sequence[Sequence[str]], folded: str) -> list[tuple[str, int]]:
    """Return the cells by which a case-folded sentence names rows, with the number of the row."""
    found: list[tuple[str, int]] = []
    for n, row in enumerate(rows):
        for cell in row:
            name = cell.casefold()
            if len(cell) >= _SHORT and re.search(r"[^\W\d_]", cell) and name in folded:
                found.append((name, n))
    return found


def _fits(
    numbers: Iterable[re.Match[str]],
    places: Sequence[tuple[int, int]],
    rows: Sequence[Sequence[str]],
    free: Sequence[str],
    row_of: Callable[[int, Sequence[tuple[int, int]]], int | None],
) -> bool:
    """Return whether each number is in a free text or in the row that belongs to its place.

    Args:
        numbers: numbers of the sentence.
        places: (offset, row) of the names of rows in the sentence, in order.
        rows: rows of the result.
        free: texts whose numbers may be anywhere.
        row_of: returns the row that belongs to an offset, or None.
    """
    for m in numbers:
        if _is_in(m.group(), free):
            continue
        row = row_of(m.start(), places)
        if row is None or not _is_in(m.group(), rows[row]):
            return False
    return True


def _last_before(at: int, places: Sequence[tuple[int, int]]) -> int | None:
    for offset, row in reversed(places):
        if offset < at:
            return row
    return None


def _first_after(at: int, places: Sequence[tuple[int, int]]) -> int | None:
    for offset, row in places:
        if offset > at:
            return row
    return None


def _is_in_name(at: int, names: Iterable[tuple[str, int]], folded: str) -> bool:
    """Return whether an offset lies within the name of a row, as a number in “Route 66” does."""
    for name, _ in names:
        start = folded.find(name)
        while start >= 0:
            if start <= at < start + len(name):
                return True
            start = folded.find(name, start + 1)
    return False


def _blank(m: re.Match[str]) -> str:
    return " " * len(m.group())


def _without_strings(statement: str) -> str:
    """Return a statement without its string literals and its row limit."""
    return _STRING_OR_LIMIT.sub(" ", statement)


def _is_in(number: str, texts: Iterable[str]) -> bool:
    """Return whether a number is in one of some texts, rounded to its own decimals."""
    known: list[float] = []
    for text in texts:
        for m in _NUMBER.finditer(text):
            for value, _ in _values(m.group()):
                known.append(value)
    for value, decimals in _values(number):
        for other in known:
            if abs(round(other, decimals) - value) < 1e-9:
                return True
    return False


def _values(number: str) -> list[tuple[float, int]]:
    """Return the values that a written number may have, with their decimals.

    A point or comma before three digits may separate thousands or decimals.
    """
    signed = number.replace("−", "-").replace("–", "-")
    bare = re.sub(r"['’\u00a0\u202f ]", "", signed).rstrip(".,")
    readings: list[tuple[str, int]] = []
    if _GROUPED.fullmatch(number.strip().rstrip(".,")):
        readings.append((bare.replace(".", "").replace(",", ""), 0))
    for mark, other in ((".", ","), (",", ".")):
        whole, _, decimals = bare.replace(other, "").partition(mark)
        mark_at = bare.find(mark) if mark in bare else len(bare)
        if bare.count(mark) <= 1 and bare.find(other) <= mark_at:
            readings.append((f"{whole}.{decimals or 0}", len(decimals)))
    values: list[tuple[float, int]] = []
    for text, decimals_read in readings:
        if re.fullmatch(r"-?\d+(?:\.\d+)?", text):
            values.append((float(text), decimals_read))
    return values
