r"""Questions of a first hour: `python benchmarks/first_hour.py make FOLDER | report`.

`make` sets the four quarterly reports of `first_hour/filings` as PDFs, which nobody filed, copies this
project's docs, and writes two sets, FOLDER/filings (24 questions) and FOLDER/docs (16). The arms of each set
are asked with

    python benchmarks/against_plain_rag.py ask ARM --set FOLDER/docs --each 40 --out OUT

for ARM agent, plain+corpora=paragraph (documents would leave it a window of each) and agent+mode=extractive.
Records lie in `records/first_hour`; `before` is the agent before what these questions brought to light was
mended. A reader's verdicts stand in `judged.tsv`: *useful* answers the question and holds nothing wrong;
*half* lacks a part, has it among much else, or bears a wrong mark; *useless* is the rest. `report` prints the
table, and names verdicts that the accepted values do not bear out.

A report is a text: `~` a line in large type, `-` a centred line, `#` a heading, `>` a row of the contents,
`|^` a line of heads, `|` a row of a table, `===` a page; the rest is running text.
"""

from __future__ import annotations

import argparse
import random
import shutil
from collections import Counter
from pathlib import Path

from against_plain_rag import read, verdicts
from filing_tables import BOTTOM, LEFT, RIGHT, Sheet

from ragweave.tests.support.pdfs import pdf_bytes, width

HERE = Path(__file__).resolve().parent
SET, RECORDS = HERE / "first_hour", HERE / "records" / "first_hour"
ARMS = {
    "agent": "LLM mode",
    "before": "LLM, before",
    "plain+corpora=paragraph": "plain RAG",
    "agent+mode=extractive": "extractive",
}
VERDICTS = ("useful", "half", "useless")


def wrapped(text: str, size: float, font: str, room: float) -> list[str]:
    """Break a text into lines that are no wider than `room` points."""
    lines = [""]
    for word in text.split():
        if lines[-1] and width(f"{lines[-1]} {word}", size, font) > room:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def set_text(sheet: Sheet, text: str, size: float, font: str = "F1", centred: bool = False) -> None:
    """Set a paragraph."""
    for line in wrapped(text, size, font, RIGHT - LEFT):
        sheet.room(size * 1.2)
        sheet.put(LEFT + (RIGHT - LEFT - width(line, size, font)) / 2 if centred else LEFT, line, size, font)
        sheet.y -= size * 1.2
    sheet.y -= size * 0.6


def set_row(sheet: Sheet, cells: list[str], head: bool) -> None:
    """Set a row: a label and amounts at the right, with their `$` in a column of its own; words stay at the left."""
    size, font, label = 8.0, "F2" if head else "F1", 235.0 if len(cells) < 5 else 190.0
    step = (RIGHT - LEFT - label) / (len(cells) - 1)
    lines = [wrapped(cells[0], size, font, label - 8)]
    lines += [wrapped(cell.lstrip("$"), size, font, step - 14) for cell in cells[1:]]
    sheet.room(size * 1.3 * max(map(len, lines)))
    top = sheet.y
    for n, cell in enumerate(lines):
        for down, line in enumerate(cell):
            sheet.y = top - down * size * 1.2
            right = LEFT + label + step * n
            figure = head or line[:1] in "(0123456789"
            sheet.put(
                right - width(line, size, font) if n and figure else right - step + 14 if n else LEFT,
                line,
                size,
                font,
            )
        if n and cells[n].startswith("$"):
            sheet.put(LEFT + label + step * (n - 1) + 14, "$", size, font)
    sheet.y = top - size * 1.2 * max(map(len, lines)) - 3
    if head:
        sheet.rules[-1].append((LEFT + label, RIGHT, sheet.y + 8))


def filing(text: str) -> bytes:
    """Set a report as a PDF."""
    sheet = Sheet(random.Random(0))
    for part in text.split("\n\n"):
        for line in part.splitlines():
            mark, _, said = line.partition(" ")
            if line.strip() == "===":
                sheet.room(sheet.y - BOTTOM + 1)
            elif mark in ("|", "|^"):
                cells = [cell.strip() for cell in said.strip().removesuffix("|").split("|")]
                if mark == "|^":
                    sheet.room(60)
                set_row(sheet, cells, mark == "|^")
            elif mark == ">":
                name, _, page = said.rpartition(">")
                sheet.put(RIGHT - width(page.strip(), 10), page.strip(), 10)
                set_text(sheet, name.strip(), 10)
            elif mark == "#":
                sheet.room(60)
                set_text(sheet, said, 11, "F2")
            elif mark in ("~", "-"):
                set_text(sheet, said, 15 if mark == "~" else 9, "F2" if mark == "~" else "F1", centred=True)
            else:
                set_text(sheet, line, 10)
        sheet.y -= 4
    for n, page in enumerate(sheet.pages, 1):
        page.append((RIGHT - 60, 36, 8, "F1", f"Form 10-Q | {n}"))
    return pdf_bytes(sheet.pages, rules=sheet.rules)


def make(folder: Path) -> None:
    """Write both sets."""
    for name in ("filings", "docs"):
        (folder / name / "library").mkdir(parents=True, exist_ok=True)
        shutil.copy(SET / f"{name}.jsonl", folder / name / "questions.jsonl")
    for text in sorted((SET / "filings").glob("*.txt")):
        (folder / "filings" / "library" / f"{text.stem}-10q.pdf").write_bytes(
            filing(text.read_text(encoding="utf-8"))
        )
    shutil.copy(HERE.parent / "README.md", folder / "docs" / "library")
    (folder / "docs" / "library" / "docs").mkdir(exist_ok=True)
    for page in (HERE.parent / "docs").glob("*.md"):
        shutil.copy(page, folder / "docs" / "library" / "docs")


def report() -> None:
    """Print the table, and where the accepted values tell another verdict."""
    lines = (RECORDS / "judged.tsv").read_text(encoding="utf-8").splitlines()
    judged = {(name, arm): verdict for name, arm, verdict, *_ in (line.split("\t") for line in lines)}
    print(f"{'useful, half, useless':22}" + "".join(f"{name:>14}" for name in ARMS.values()))
    for part in ("filings", "docs"):
        asked, cells, costs = read(SET / f"{part}.jsonl"), list[str](), list[str]()
        for arm in ARMS:
            rows = {r["id"].partition("/")[2]: r for r in read(RECORDS / part / f"{arm}.jsonl")}
            count = Counter(judged[q["id"], arm] for q in asked)
            cells.append(", ".join(str(count[v]) for v in VERDICTS))
            calls, told = (sum(r[k] for r in rows.values()) / len(rows) for k in ("calls", "tokens_in"))
            costs.append(f"{calls:.2f}, {told:,.0f}")
            for name, verdict in verdicts(rows, asked).items():
                if (verdict == "right") != (judged[name, arm] == "useful"):
                    print(f"  {name}, {ARMS[arm]}: {judged[name, arm]}, and {verdict} by the accepted values")
        print(f"{f'{part} ({len(asked)})':22}" + "".join(f"{c:>14}" for c in cells))
        print(f"{'  calls, tokens in':22}" + "".join(f"{c:>14}" for c in costs))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", choices=("make", "report"))
    parser.add_argument("folder", type=Path, nargs="?", default=Path("first_hour"))
    given = parser.parse_args()
    if given.task == "make":
        make(given.folder)
    else:
        report()
