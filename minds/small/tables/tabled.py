"""Answer from one table by working it out: a cell, rows, a count, a sum, a mean, the most or least, a difference.

What is done is read off the question's words by rule, over columns whose kinds are known; the answer shows the figures
and names the rows. Where the question does not say for certain which column or rows it means, nothing is answered here.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from ragweave.corpora.types import Item
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk, idf_of
from ragweave.minds.evidence import Strip
from ragweave.minds.page import Page
from ragweave.minds.passages import strip_at
from ragweave.minds.small.tables.compute import Worked, compute
from ragweave.models.table import Table, tables
from ragweave.models.tables import is_row
from ragweave.models.text import terms

SOURCES = 4
"""Files whose tables are tried: those of the best evidence that shows a row."""
MOST_ITEMS = 1_500
"""Paragraphs of a file that is read whole for its tables; a larger one would take seconds."""
_VERSION = re.compile(r"(?:^|[\s_.-])v(?:ersion)?[\s_.-]?(\d{1,3})(?=$|[\s_.-])", re.I)
_CORRECTED = re.compile(r"corrected|revised|amended|updated|final|korrigiert|corrig", re.I)
WORKBOOKS = (".xlsx", ".xlsm")
_CITED = 6
"""Rows that are cited one by one; of more, the stretch from the first to the last of each text."""


@dataclass(frozen=True)
class _Found:
    """A table with the items that it stands in."""

    table: Table
    items: Sequence[Item]
    beside: frozenset[str]
    """Terms of the file that it stands in."""

    @property
    def about(self) -> str:
        """What says of what the table is: its title, headings, file and folder, and the line before it."""
        first = self.items[self.table.rows[0].text]
        file = PurePath(str(first.locator.get("file", "")))
        return " ".join([first.title, *first.heading, file.stem, file.parent.name, self.table.before])

    @property
    def version(self) -> int:
        """Which version of others of its name it says to be in the name of its file: 0 where it says none."""
        stem = PurePath(str(self.items[0].locator.get("file", ""))).stem
        numbered = _VERSION.search(stem)
        return (int(numbered[1]) if numbered else 0) + bool(_CORRECTED.search(stem))


@dataclass(frozen=True)
class Blank:
    """A cell that a question asks for and that holds nothing: its row, what names the row, and how that is told."""

    row: Strip
    names: frozenset[str]
    text: str

    def fills(self, strip: Strip, said: str, told: str) -> bool:
        """Tell whether what is said in a strip, as it is told, may fill it: it names the row and is none."""
        beside = strip["locator"].get("file") == self.row["locator"].get("file") and is_row(said)
        return not beside and self.names <= set(terms(f"{told} {strip['title']}"))


async def tabled(desk: Desk, brief: Brief, page: Page) -> bool | Blank:
    """Show what one table of the evidence gives when it is asked like a table.

    Return whether it gave anything, or the cell that should tell and is blank.
    """
    found = await _tables(desk, brief)
    if not found:
        return False
    best = await asyncio.to_thread(_best, brief.question, found, await idf_of(desk, brief.question))
    if best is None:
        return False
    source, worked = best
    if worked.blank:
        return Blank(_rests(source, worked, brief.question)[0], worked.blank, worked.text)
    page.show(worked.text, "verified", _rests(source, worked, brief.question), 1.0)
    return True


async def _tables(desk: Desk, brief: Brief) -> list[_Found]:
    """Return the tables of the files that the best evidence with a row comes from, whole."""
    rows = sorted(brief.rows.values(), key=lambda e: (-e["relevance"], e["id"]))
    ids = [e["id"] for e in rows if e["origin"] == "library" and " | " in e["text"]]
    if not ids:
        return []
    library = await desk.library()
    known = await library.source_of(ids)
    sources = list(dict.fromkeys(known[i].id for i in ids if i in known and known[i].items <= MOST_ITEMS))[:SOURCES]
    out: list[_Found] = []
    for source in sources:
        items = await library.items_of(source, "paragraph")
        texts, sections = [i.text for i in items], [i.heading for i in items]
        # The figures of a workbook are written with a point, whatever the language of its words.
        workbook = next(known[i].path for i in ids if known[i].id == source).lower().endswith(WORKBOOKS)
        languages = ["en" if workbook else i.language for i in items]
        made = await asyncio.to_thread(tables, texts, languages, sections)
        beside = frozenset(terms(" ".join(i.text for i in items))) if made else frozenset()
        out += [_Found(t, items, beside) for t in made]
    return out


def _best(question: str, found: Sequence[_Found], idf: Callable[[str], float]) -> tuple[_Found, Worked] | None:
    """Return the table that the question fits best with what it gives; of equal ones the newer.

    A blank cell counts where no table gives anything.
    """
    worked = [(f, w) for f in found if (w := compute(question, f.table, f.about, idf, f.beside)) is not None]
    dated = [((f.items[0].date.isoformat() if f.items[0].date else "", f.version), f, w) for f, w in worked]
    best = max(dated, key=lambda row: (not row[2].blank, row[2].fit, row[0]), default=None)
    return None if best is None else (best[1], best[2])


def _rests(found: _Found, worked: Worked, question: str) -> list[Strip]:
    """Return the rows that were used as strips, each narrowed to itself."""
    used = sorted({(r.text, r.start, r.end) for r in worked.rows})
    if len(used) > _CITED:
        texts = dict.fromkeys(t for t, _, _ in used)
        used = [(n, min(a for t, a, _ in used if t == n), max(b for t, _, b in used if t == n)) for n in texts]
    return [strip_at(found.items[n], a, b, question) for n, a, b in used]
