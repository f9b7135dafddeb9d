"""Measure questions for figures in quarterly reports that look alike.

    python benchmarks/filings.py [--half first|held] [-v]

Each half is eight reports of four companies (`filing_reports.py`), a library of its own, and 64 or 80
questions whose answer is a figure of one table. Nothing is tuned on the second half. The program prints how
often the figure is shown, how often on the cited page, how many citations are in the right file and how many
in another company's, and the same for the first three passages of `search`.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from pathlib import Path, PurePath
from typing import Any

from filing_reports import HALVES, Half, Question, write
from printed import emit, options, own_home

FIRST = 3
Place = tuple[str, int, str]
"""File, page, and the text that is shown of it."""


async def quoted(question: str, library: str) -> list[Place]:
    """Return the passages of an answer without a model."""
    from ragweave import Context
    from ragweave.app.api import aask

    answer = await aask(question, context=Context(library=library, mode="extractive"))
    cited = {c.n: c.locator for c in answer.citations}
    places = []
    for sentence in answer.sentences:
        if sentence.support == "quoted":
            place = cited[sentence.citations[0]]
            places.append((PurePath(place["file"]).name, place.get("page", 0), sentence.text))
    return places


async def searched(question: str, library: str) -> list[Place]:
    """Return the first passages of `search`."""
    from ragweave import Context
    from ragweave.app.api import asearch

    rows = await asearch(question, context=Context(library=library, mode="extractive"))
    places: list[Place] = []
    for row in rows[:FIRST]:
        locator = row["locator"]
        places.append((PurePath(locator["file"]).name, locator.get("page", 0), row["text"]))
    return places


def holds(text: str, figure: str) -> bool:
    """Return whether a text has a figure as a number of its own."""
    return re.search(rf"(?<![\d,]){re.escape(figure)}(?![\d,])", text) is not None


def counted(places: list[Place], q: Question, own: set[str]) -> Counter[str]:
    """Count what the passages shown for one question have; `own` are the files of its company."""
    count: Counter[str] = Counter()
    pages = [(file, page) for file, page, text in places if holds(text, q.figure)]
    count["shown"] = bool(pages)
    count["on its page"] = (q.file, q.page) in pages
    count["first"] = bool(places) and places[0][0] == q.file
    for file, _, _ in places:
        count["in the file"] += file == q.file
        count["of another company"] += file not in own
        count["passages"] += 1
    return count


async def measured(half: Half, asked: list[Question], verbose: bool) -> dict[str, Any]:
    """Ask the questions of a half and return its figures."""
    figures: dict[str, Any] = {}
    files: dict[str, set[str]] = {}
    for q in asked:
        files.setdefault(q.company, set()).add(q.file)
    for name, ask in (("ask", quoted), ("search", searched)):
        total: Counter[str] = Counter()
        for q in asked:
            places = await ask(q.text, half.name.replace(" ", "_"))
            found = counted(places, q, files[q.company])
            total += found
            if verbose and not found["on its page"]:
                print(f"\n{name}: {q.text}\n   {q.figure} in {q.file}, page {q.page}")
                for file, page, text in places:
                    print(f"   - {file} {page}: {' '.join(text.split())[:200]}")
        for what in ("shown", "on its page", "first"):
            figures[f"{half.name}, {name}: {what}"] = (
                f"{total[what]} of {len(asked)} ({total[what] / len(asked):.3f})"
            )
        for what in ("in the file", "of another company"):
            share = total[what] / max(1, total["passages"])
            figures[f"{half.name}, {name}: {what}"] = f"{total[what]} of {total['passages']} ({share:.3f})"
    return figures


def main() -> None:
    """Write and index each half in a home of its own, ask, print."""
    parser = options(__doc__)
    parser.add_argument("--half", choices=("first", "held"), help="only this half")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was not shown")
    parser.add_argument("--write", type=Path, help="keep the reports in this folder")
    given = parser.parse_args()
    figures: dict[str, Any] = {}
    with own_home() as home:
        from ragweave.app.api import index

        for half in HALVES:
            if given.half and not half.name.startswith(given.half):
                continue
            folder = (given.write or home) / half.name.replace(" ", "_")
            asked = write(half, folder)
            index([folder], half.name.replace(" ", "_"))
            named = asyncio.run(measured(half, asked, given.verbose))
            figures |= named
    emit(figures, given.json)


if __name__ == "__main__":
    main()
