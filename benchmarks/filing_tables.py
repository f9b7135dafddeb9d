r"""Measure how tables of filings in PDFs are read.

    python benchmarks/filing_tables.py [--sets 12] [--first 0] [--show] [FILE.pdf ...]

Writes PDFs in the layout of quarterly reports, with tables whose cells are known, and prints how many tables
are found, how many cells are in their row under their headers, how many found tables are none, and the CPU
time of a page. The number of a set seeds its layout: sizes, leading, rules, signs in columns of their own,
leaders, indents, spanning headers, labels of two lines, tables across pages; between the tables come prose in
one and two columns, lists and contents. The tables of each FILE are counted too, and printed with `--show`.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from ragweave.corpora.blocks import Block
from ragweave.corpora.formats.pdf import parse
from ragweave.tests.support.pdfs import Rule, Run, pdf_bytes, width

LEFT, RIGHT, TOP, BOTTOM = 54.0, 541.0, 780.0, 60.0
PROSE = (
    "The company recognises revenue when control of goods passes to its customers, in an amount that reflects"
    " what it expects to receive. Services are billed in advance and earned evenly over their term."
    " Management reviews these estimates each quarter, and changes are recorded in the period in which they"
    " become known. Demand in the first half was below that of the year before, while prices of freight and"
    " steel fell again towards its end."
)
LABELS = (
    "Products|Services|Cost of sales|Research and development|Selling, general and administrative|Other"
    " income, net|Provision for income taxes|Inventories|Accounts receivable, net|Vendor"
    " receivables|Goodwill|Deferred revenue|Commercial paper|Term debt|Depreciation and"
    " amortization|Share-based compensation|Purchases of securities|Dividends paid|Restructuring"
    " charges|Interest expense|Americas|Europe|Greater"
    " China|Japan|Wearables|Freight|Marketing|Licences|Leased assets|Prepaid expenses|Accrued payroll|Pension"
    " obligations|Hedging reserve"
).split("|")
LONG = (
    "Cash, cash equivalents, and restricted cash and cash equivalents, beginning balances of the period",
    "Proceeds from the issuance of common stock under employee purchase plans, net of shares withheld",
    (
        "Increase in accounts receivable from the sale of goods that had not been shipped at the date of"
        " signature"
    ),
)
STATEMENT = (
    "CONDENSED CONSOLIDATED STATEMENTS OF OPERATIONS (Unaudited)",
    "(In millions, except per-share amounts)",
)
"""Lines that are centred over the longer tables."""
CHANCES = {
    "spanning": 0.6,
    "wrapped": 0.5,
    "ruled": 0.5,
    "again": 0.4,
    "sections": 0.5,
    "signs": 0.7,
    "leaders": 0.3,
    "hung": 0.4,
    "percent": 0.2,
}
"""How often a table has each feature of layout."""
Expected = set[tuple[str, str, str]]
"""Cells of a table: the label of the row, the headers of the column, the value."""


@dataclass
class Sheet:
    """A document that is being set."""

    draw: random.Random
    pages: list[list[Run]] = field(default_factory=lambda: [[]])
    rules: list[list[Rule]] = field(default_factory=lambda: [[]])
    y: float = TOP
    expected: list[Expected] = field(default_factory=list)

    def put(self, x: float, text: str, size: float, font: str = "F1") -> None:
        """Set a text at the present height."""
        self.pages[-1].append((round(x, 2), round(self.y, 2), size, font, text))

    def room(self, points: float) -> bool:
        """Begin a page if so much does not fit, and return whether one was begun."""
        if self.y - points > BOTTOM:
            return False
        self.pages.append([])
        self.rules.append([])
        self.y = TOP
        return True

    def prose(self, left: float = LEFT, right: float = RIGHT, size: float = 10, most: int = 99) -> None:
        """Set a paragraph."""
        words = PROSE.split()
        start = self.draw.randrange(0, 40)
        line: list[str] = []
        for word in words[start : start + most]:
            if width(" ".join([*line, word]), size) > right - left:
                self.room(size * 1.2)
                self.put(left, " ".join(line), size)
                self.y -= size * 1.2
                line = []
            line.append(word)
        self.put(left, " ".join(line), size)
        self.y -= size * 2.2


def value(draw: random.Random) -> str:
    """Draw an amount as statements write it."""
    amount = f"{draw.randrange(2, 90_000):,}"
    return draw.choice([amount] * 6 + [f"({amount})", "—"])


class Table:
    """A table that is being set: labels, and columns of amounts under one or two lines of heads."""

    def __init__(self, sheet: Sheet, columns: int, style: dict[str, object]) -> None:
        self.sheet, self.columns, self.style = sheet, columns, style
        self.size = float(str(style["size"]))
        self.pitch = self.size * float(str(style["lead"]))
        self.font = "F3" if style["courier"] else "F1"
        self.label_right = LEFT + (0.62 if columns == 2 else 0.4) * (RIGHT - LEFT)
        self.step = (RIGHT - self.label_right) / columns
        self.rights = [self.label_right + self.step * (n + 1) - 6 for n in range(columns)]
        self.indent = 10.0 if style["sections"] else 0.0
        self.over: list[str] = []
        """Heads that span two columns each."""
        self.dates = [str(2023 - n) for n in range(columns)]
        self.heads = self.dates
        if style["spanning"] and columns in (2, 4):
            self.over = ["Three Months Ended", "Nine Months Ended"][: columns // 2]
            self.dates = ["September 30, 2023", "October 1, 2022"] * (columns // 2)
            self.heads = [f"{self.over[n // 2]} {date}" for n, date in enumerate(self.dates)]
        self.found: Expected = set()

    def rule(self) -> None:
        """Draw a line below the last row if the style has rules."""
        if self.style["ruled"]:
            self.sheet.rules[-1].append((LEFT, RIGHT, self.sheet.y + self.pitch - 3))

    def head_lines(self) -> None:
        """Set the heads of the columns; dates are broken into two lines if they are too wide."""
        sheet, size = self.sheet, self.size
        for n, text in enumerate(self.over):
            middle = (self.rights[2 * n] - self.step + self.rights[2 * n + 1]) / 2
            sheet.put(middle - width(text, size, "F2") / 2, text, size, "F2")
        sheet.y -= self.pitch if self.over else 0
        is_close = width(self.dates[0], size, "F2") > self.step - 8
        is_broken = bool(self.over) and (bool(self.style["wrapped"]) or is_close)
        for right, date in zip(self.rights, self.dates, strict=True):
            parts = date.rsplit(" ", 1) if is_broken else [date]
            for down, part in enumerate(parts):
                sheet.y -= down * size * 1.2
                sheet.put(right - width(part, size, "F2"), part, size, "F2")
                sheet.y += down * size * 1.2
        sheet.y -= self.pitch + is_broken * size * 1.2
        self.rule()

    def label(self, text: str) -> str:
        """Set the label of a row, or a long one by chance; return the label."""
        sheet, size, font, left = self.sheet, self.size, self.font, LEFT + self.indent
        if sheet.draw.random() < 0.12 and self.columns < 5:
            text, line = sheet.draw.choice(LONG), [""]
            for word in text.split():
                if width(" ".join([*line, word]), size, font) > self.label_right - left - 14:
                    sheet.room(self.pitch)
                    sheet.put(left, " ".join(line).strip(), size, font)
                    sheet.y -= size * 1.2
                    line = []
                line.append(word)
            sheet.put(left + 6, " ".join(line), size, font)
            return text
        dots = 0
        if self.style["leaders"]:
            dots = int((self.label_right - 20 - left - width(text, size, font)) / width(" .", size, font))
        sheet.put(left, text + " ." * dots, size, font)
        return text

    def amounts(self, label: str, signed: bool) -> None:
        """Set the amounts of a row, and note them."""
        sheet, size, font = self.sheet, self.size, self.font
        for column, right in enumerate(self.rights):
            text = value(sheet.draw)
            hung = width(")", size, font) if text.endswith(")") and self.style["hung"] else 0
            if signed:
                sheet.put(right - self.step + 12, "$", size, font)
            percent = ""
            if self.style["percent"] and column == self.columns - 1:
                text, percent = f"{sheet.draw.randrange(-40, 90)}", "%"
                sheet.put(right + 2, "%", size, font)
            sheet.put(right - width(text, size, font) + hung, text, size, font)
            self.found.add((label, self.heads[column], f"{text}{percent}"))
        sheet.y -= self.pitch


def table(sheet: Sheet, columns: int, rows: int, style: dict[str, object]) -> None:
    """Set a table with two lines of heads or one, and note the cells that a reader should find."""
    draw = sheet.draw
    made = Table(sheet, columns, style)
    sheet.room(8 * made.pitch + 24)
    for line in STATEMENT if rows > 10 else ():
        sheet.put((LEFT + RIGHT - width(line, made.size)) / 2, line, made.size)
        sheet.y -= made.size * 1.3
    made.head_lines()
    for n, label in enumerate(draw.sample(LABELS, min(rows, len(LABELS)))):
        if sheet.room(made.pitch * 2) and style["again"]:
            made.head_lines()
        if n in (0, rows // 2) and style["sections"]:
            section = draw.choice(["Current assets:", "NET SALES", "Operating expenses:"])
            sheet.put(LEFT, section, made.size, made.font)
            sheet.y -= made.pitch
        label = made.label(label)
        made.amounts(label, signed=n in (0, rows - 1) and bool(style["signs"]))
    made.rule()
    sheet.expected.append(made.found)
    sheet.y -= made.pitch * float(str(style["after"]))


def document(seed: int) -> Sheet:
    """Set a report whose layout is drawn from a number."""
    draw = random.Random(seed)
    sheet = Sheet(draw)
    sheet.put(LEFT, "Contents", 14, "F2")
    sheet.y -= 24
    for n, label in enumerate(draw.sample(LABELS, 8), 1):
        dots = int((RIGHT - 30 - LEFT - width(f"Item {n}. {label}", 10)) / width(" .", 10))
        sheet.put(LEFT, f"Item {n}. {label}" + " ." * dots + f" {3 * n}", 10)
        sheet.y -= 14
    sheet.y -= 20
    for columns, rows in draw.sample([(2, 14), (4, 12), (2, 40), (5, 6), (3, 8), (2, 5), (4, 5)], 7):
        sheet.prose()
        style: dict[str, object] = {
            "size": draw.choice([7.5, 8, 9, 10]),
            "lead": draw.choice([1.2, 1.35, 1.6, 1.9]),
            "after": draw.choice([0.8, 1.5]),
            "courier": draw.random() < 0.15 and columns < 4,
        }
        for name, chance in CHANCES.items():
            style[name] = draw.random() < chance
        table(sheet, columns, rows, style)
    sheet.room(300)
    sheet.y = min(sheet.y, TOP)
    top = sheet.y
    sheet.prose(LEFT, 285)
    sheet.y = top
    sheet.prose(310, RIGHT)
    sheet.y -= 30
    for n in range(1, 5):
        sheet.put(LEFT, f"{n}." if seed % 2 else "\u2022", 10)
        sheet.put(LEFT + 24, PROSE[40 * n : 40 * n + 38].strip(), 10)
        sheet.y -= 14
    return sheet


def cells(block: Block) -> Expected:
    """Return the cells of a table that was read, each under the heads of its column."""
    lines = [line.split(" | ") for line in block.text.split("\n")]
    heads = lines[0] if block.level else [""] * len(lines[0])
    found: Expected = set()
    for label, *row in lines[block.level :]:
        for head, cell in zip(heads[1:], row, strict=False):
            if cell:
                found.add((label, head, cell.replace("$", "").replace(" ", "")))
    return found


def main() -> None:
    """Write, read, compare, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, default=12)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("files", nargs="*", type=Path)
    given = parser.parse_args()
    made = Compared(given.show)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(given.first, given.first + given.sets):
            sheet = document(seed)
            path = Path(folder) / f"{seed}.pdf"
            path.write_bytes(pdf_bytes(sheet.pages, rules=sheet.rules))
            made.add(seed, sheet, *read_tables(path))
    if given.sets:
        made.report()
    for path in given.files:
        read, seconds = read_tables(path)
        print(f"{path.name}: {len(read)} tables, {1000 * seconds:.0f} ms")
        if given.show:
            for block in read:
                print(f"--- page {block.page}, {block.level} line of heads\n{block.text}")


def read_tables(path: Path) -> tuple[list[Block], float]:
    """Return the tables that are read from a file, and the CPU seconds that it took."""
    begun = time.process_time()
    read = [block for block in parse(path).blocks if block.kind == "table"]
    return read, time.process_time() - begun


class Compared:
    """Counts what was read of the tables that were set."""

    def __init__(self, show: bool) -> None:
        self.show = show
        self.tables = self.expected = self.right = self.wanted = self.false = self.pages = 0
        self.seconds = 0.0

    def add(self, seed: int, sheet: Sheet, read: list[Block], seconds: float) -> None:
        """Compare the tables that were read with those of a report."""
        self.seconds += seconds
        self.pages += len(sheet.pages)
        self.expected += len(sheet.expected)
        found = list(map(cells, read))
        anywhere: Expected = set().union(*found)
        for want in sheet.expected:
            best = max(found, key=lambda one: len(one & want), default=set())
            self.wanted += len(want)
            self.right += len(want & anywhere)
            self.tables += len(best & want) >= 0.8 * len(want)
            missing = sorted(want - best)
            if self.show and missing:
                print(f"set {seed}: {len(missing)} of {len(want)} cells not found, such as {missing[:3]}")
        wanted: Expected = set().union(*sheet.expected)
        for block, one in zip(read, found, strict=True):
            if one.isdisjoint(wanted):
                self.false += 1
                if self.show:
                    print(f"set {seed}, page {block.page}: no table\n{block.text[:300]}")

    def report(self) -> None:
        """Print the counts."""
        print(f"{'tables found':22}{self.tables} of {self.expected}")
        print(f"{'cells right':22}{self.right} of {self.wanted} ({self.right / self.wanted:.3f})")
        print(f"{'false tables':22}{self.false}")
        print(f"{'pages':22}{self.pages}, {1000 * self.seconds / self.pages:.1f} ms of processor each")


if __name__ == "__main__":
    main()
