"""The mark `computed`: the statement of a result is run again, and a sentence is compared with what it gives.

Every number of the sentence must be one of the result, of the rows counted, or of the statement; no model is
asked. If the sentence names rows of the result, its numbers must be those of the row named before them, or
all of the row named behind them.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.evidence import Computed, Evidence
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
_SHORT = 3
"""Characters of the shortest text of a result by which a sentence names a row."""


async def mark_computed(run: RunContext, builder: AnswerBuilder, rows: Mapping[str, Evidence]) -> None:
    """Mark the sentences that wait, cite a result and are held by it; the others go on waiting.

    Args:
        run: lends the library.
        builder: holds the answer, and shows the marks.
        rows: evidence of the turn, by id.
    """
    same: dict[str, bool] = {}
    for n, sentence in enumerate(builder.sentences, 1):
        cited = (
            {c.id for c in builder.citations if c.n in sentence.citations}
            if sentence.support == "pending"
            else ()
        )
        for row in (rows[i] for i in cited if i in rows and "computed" in rows[i]):
            if row["id"] not in same:
                same[row["id"]] = await is_same(run, row["computed"])
            if same[row["id"]] and holds(sentence.text, row["computed"]):
                builder.remark(n, "computed", [(as_strip(row), row["text"])])
                break


async def is_same(run: RunContext, computed: Computed) -> bool:
    """Run the statement of a result again, and tell whether it gives the same."""
    library = await run.library()
    try:
        if computed["name"] == files.NAME:
            table, parts = await files.library_table(library, (await within(run)).sources)
        else:
            table, parts = await asyncio.to_thread(read_table, library, computed["table"])
        found = await query(table, parts, computed["statement"], computed["name"])
    except RagweaveError:
        return False
    before = [list(map(plain, r)) for r in computed["rows"]]
    after = [list(map(plain, map(cut, r))) for r in found.rows[: len(before)]]
    return after == before and found.counted == computed["counted"]


def holds(sentence: str, computed: Computed) -> bool:
    """Tell whether all numbers of a sentence are those of a result, each of the row that it names."""
    rows = [[plain(value) for value in row] for row in computed["rows"]]
    common = [computed["total"], computed["counted"], len(rows) if len(rows) > 1 else None]
    free = [str(n) for n in common if n is not None] + [
        _without_texts(computed["statement"]),
        *_texts(computed["statement"]),
    ]
    low = sentence.casefold()
    places = [
        (low.find(cell.casefold()), n) for n, row in enumerate(rows) for cell in row if _names(cell, low)
    ]
    said = [m for m in _NUMBER.finditer(_DAY.sub(_blank, sentence)) if not _within(m.start(), rows, low)]
    days = _DAY.findall(sentence)
    flat = "\n".join([*free, *(cell for row in rows for cell in row)])
    if any(day not in flat for day in days) or not (said or days or places):
        return False
    if len({n for _, n in places}) < 2:
        own = rows if not places else [rows[places[0][1]]]
        return all(_is_in(m.group(), [*free, *(cell for row in own for cell in row)]) for m in said)
    return any(_by_side(said, sorted(places), rows, free, before) for before in (True, False))


def _by_side(
    said: Sequence[re.Match[str]],
    places: Sequence[tuple[int, int]],
    rows: Sequence[Sequence[str]],
    free: Sequence[str],
    before: bool,
) -> bool:
    """Tell whether each number is one of the row that is named last before it, or else first behind it."""
    for m in said:
        if _is_in(m.group(), free):
            continue
        near = (
            [n for at, n in places if at < m.start()][-1:]
            if before
            else [n for at, n in places if at > m.start()][:1]
        )
        if not near or not _is_in(m.group(), rows[near[0]]):
            return False
    return True


def _names(cell: str, low: str) -> bool:
    """Tell whether a sentence names a row by the text of one of its cells."""
    return len(cell) >= _SHORT and bool(re.search(r"[^\W\d_]", cell)) and cell.casefold() in low


def _within(at: int, rows: Iterable[Sequence[str]], low: str) -> bool:
    """Tell whether a number is part of the text of a cell that the sentence says, as in a name."""
    for cell in (cell for row in rows for cell in row if _names(cell, low)):
        start = low.find(cell.casefold())
        while start >= 0:
            if start <= at < start + len(cell):
                return True
            start = low.find(cell.casefold(), start + 1)
    return False


def _blank(m: re.Match[str]) -> str:
    return " " * len(m.group())


def _texts(statement: str) -> list[str]:
    """Return the texts that a condition compares with."""
    return re.findall(r"'((?:[^']|'')*)'", statement)


def _without_texts(statement: str) -> str:
    """Return a statement without its texts, and without how many rows it wants at most."""
    return re.sub(r"'(?:[^']|'')*'|\blimit\s+\d+", " ", statement, flags=re.I)


def _is_in(said: str, cells: Iterable[str]) -> bool:
    """Tell whether a number is one of some texts, at the decimals that it is said with."""
    known = [value for cell in cells for m in _NUMBER.finditer(cell) for value, _ in _values(m.group())]
    return any(abs(round(other, places) - value) < 1e-9 for value, places in _values(said) for other in known)


def _values(said: str) -> list[tuple[float, int]]:
    """Return what a number may mean, with its decimals: a point or comma before three digits may do either."""
    bare = re.sub(r"['’\u00a0\u202f ]", "", said.replace("−", "-").replace("–", "-")).rstrip(".,")
    found = []
    if _GROUPED.fullmatch(said.strip().rstrip(".,")):
        found.append((bare.replace(".", "").replace(",", ""), 0))
    for mark, other in ((".", ","), (",", ".")):
        whole, _, decimals = bare.replace(other, "").partition(mark)
        if bare.count(mark) <= 1 and bare.find(other) <= (bare.find(mark) if mark in bare else len(bare)):
            found.append((f"{whole}.{decimals or 0}", len(decimals)))
    return [(float(text), places) for text, places in found if re.fullmatch(r"-?\d+(?:\.\d+)?", text)]
