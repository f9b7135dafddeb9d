"""Make six tables of 200 to 20,000 rows, the same in each run, and compute the answers to 40 questions."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

SHOPS = ("Bell", "Harrow Foods", "Tarn Fuel", "Quillon Books", "Muros Garden", "Pell Pharmacy")
TOWNS = ("Pell", "Tarn", "Muros", "Halden", "Selwyck", "Corvane")
STUFFS = ("oak", "brass", "steel", "linen")
STATIONS = ("Nordkai", "Südbrücke", "Mühlwehr", "Altwasser")
Row = dict[str, Any]


def day(chance: random.Random, year: int) -> date:
    """Return some day of a year."""
    return date(year, 1, 1) + timedelta(chance.randrange(365))


def spend(chance: random.Random) -> list[Row]:
    """Return 3,000 payments of a household."""
    kinds = ("food", "fuel", "books", "garden", "health")
    rows: list[Row] = []
    for _ in range(3_000):
        row: Row = {"day": day(chance, 2025)}
        row["shop"] = chance.choice(SHOPS)
        row["kind"] = chance.choice(kinds)
        row["amount"] = chance.randrange(100, 250_000) / 100
        rows.append(row)
    return rows


def bookings(chance: random.Random) -> list[Row]:
    """Return 648 bookings of cabins."""
    names = ("Reef", "Marwen", "Ostrander", "Vell")
    rows: list[Row] = []
    for _ in range(648):
        row: Row = {"day": day(chance, 2026)}
        row["cabin"] = f"Cabin {chance.randrange(1, 13)}"
        row["guest"] = f"{chance.choice('ABCDEFGH')}. {chance.choice(names)}"
        row["nights"] = chance.randrange(1, 15)
        row["paid"] = chance.choice(("yes", "yes", "no"))
        row["price"] = chance.randrange(40, 900)
        rows.append(row)
    return rows


def readings(chance: random.Random) -> list[Row]:
    """Return 20,000 readings of water, one of 400 without a value."""
    rows: list[Row] = []
    for _ in range(20_000):
        row: Row = {"day": day(chance, 2024)}
        row["station"] = chance.choice(STATIONS)
        row["nitrate"] = None if chance.randrange(400) == 0 else chance.randrange(10, 900) / 10
        row["level"] = chance.randrange(80, 4_000) / 100
        rows.append(row)
    return rows


def stock(chance: random.Random) -> list[Row]:
    """Return 400 articles of a store."""
    rows: list[Row] = []
    for n in range(1, 401):
        row: Row = {"article": f"{n:05}"}
        row["name"] = f"{chance.choice(STUFFS)} {chance.choice(('hook', 'lamp', 'frame'))} {n}"
        row["pieces"] = chance.randrange(0, 400)
        row["price"] = chance.randrange(100, 90_000) / 100
        row["town"] = chance.choice(TOWNS)
        rows.append(row)
    return rows


def staff(chance: random.Random) -> list[Row]:
    """Return 200 people of a firm."""
    rows: list[Row] = []
    for n in range(1, 201):
        row: Row = {"name": f"Employee {n:03}"}
        row["team"] = chance.choice(("Boats", "Kitchen", "Office", "Workshop"))
        row["since"] = day(chance, chance.randrange(1998, 2026))
        row["hours"] = chance.choice((20, 25, 30, 38.5))
        row["pay"] = chance.randrange(1_900, 6_800)
        rows.append(row)
    return rows


def parcels(chance: random.Random) -> list[Row]:
    """Return 1,200 parcels, whose file has no headers."""
    rows: list[Row] = []
    for _ in range(1_200):
        row: Row = {"town": chance.choice(TOWNS)}
        row["day"] = day(chance, 2025)
        row["kilos"] = chance.randrange(1, 320) / 10
        rows.append(row)
    return rows


TABLES: dict[str, Callable[[random.Random], list[Row]]] = {
    "spend.csv": spend,
    "bookings.xlsx": bookings,
    "messwerte.csv": readings,
    "stock.html": stock,
    "staff.docx": staff,
    "parcels.csv": parcels,
}


def rows_of() -> dict[str, list[Row]]:
    """Return the rows of each table."""
    return {name: make(random.Random(name)) for name, make in TABLES.items()}


def write(folder: Path, rows: dict[str, list[Row]]) -> None:
    """Write the tables as files, each as its program would."""
    text = "Date,Shop,Kind,Amount\n"
    for r in rows["spend.csv"]:
        text += f'{r["day"]:%d/%m/%Y},{r["shop"]},{r["kind"]},"{r["amount"]:,.2f}"\n'
    (folder / "spend.csv").write_text(text, encoding="utf-8")
    text = "Datum;Station;Nitrat (mg/l);Pegel (m)\n"
    for r in rows["messwerte.csv"]:
        text += ";".join(_german(r)) + "\n"
    (folder / "messwerte.csv").write_text(text, encoding="utf-8")
    text = ""
    for r in rows["parcels.csv"]:
        text += f"{r['town']},{r['day'].isoformat()},{r['kilos']}\n"
    (folder / "parcels.csv").write_text(text, encoding="utf-8")
    (folder / "stock.html").write_text(_page(rows["stock.html"]), encoding="utf-8")
    _workbook(folder / "bookings.xlsx", rows["bookings.xlsx"])
    _document(folder / "staff.docx", rows["staff.docx"])


def _page(rows: list[Row]) -> str:
    """Return a page with the table of the store."""
    table = "<tr><th>Article</th><th>Name</th><th>Pieces</th><th>Price</th><th>Town</th></tr>"
    for r in rows:
        table += f"<tr><td>{r['article']}</td><td>{r['name']}</td><td>{r['pieces']}</td>"
        table += f"<td>€{r['price']:,.2f}</td><td>{r['town']}</td></tr>\n"
    return f"<h1>Stock</h1><table>{table}</table>"


def _german(r: Row) -> list[str]:
    value = "k. A." if r["nitrate"] is None else f"{r['nitrate']:.1f}".replace(".", ",")
    return [f"{r['day']:%d.%m.%Y}", r["station"], value, f"{r['level']:.2f}".replace(".", ",")]


def _workbook(path: Path, rows: list[Row]) -> None:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Bookings 2026"
    sheet.append(["Arrival", "Cabin", "Guest", "Nights", "Paid", "Price"])
    for r in rows:
        sheet.append([*r.values()])
    book.save(path)


def _document(path: Path, rows: list[Row]) -> None:
    """Write a document of Word that holds a heading and a table, by its parts."""
    import zipfile

    table = _table_row(["Name", "Team", "Since", "Hours a week", "Pay"])
    for r in rows:
        table += _table_row([r["name"], r["team"], f"{r['since']:%d %B %Y}", str(r["hours"]), str(r["pay"])])
    head = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Staff list</w:t></w:r></w:p>'
    of, to = "application/vnd.openxmlformats-", "http://schemas.openxmlformats.org/"
    rels, main = f"{of}package.relationships+xml", f"{of}officedocument.wordprocessingml.document.main+xml"
    kind = f"{to}officeDocument/2006/relationships/officeDocument"
    parts = {
        "[Content_Types].xml": (
            f'<Types xmlns="{to}package/2006/content-types">'
            f'<Default Extension="rels" ContentType="{rels}"/>'
            f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>'
        ),
        "_rels/.rels": (
            f'<Relationships xmlns="{to}package/2006/relationships">'
            f'<Relationship Id="r1" Type="{kind}" Target="word/document.xml"/></Relationships>'
        ),
        "word/document.xml": (
            f'<w:document xmlns:w="{to}wordprocessingml/2006/main">'
            f"<w:body>{head}<w:tbl>{table}</w:tbl></w:body></w:document>"
        ),
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)


def _table_row(texts: list[str]) -> str:
    """Return a row of a table of Word."""
    cells = ""
    for text in texts:
        cells += f"<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"
    return f"<w:tr>{cells}</w:tr>"


class Rows:
    """Rows of a table, with the few sums and counts that the questions need."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows

    def where(self, test: Callable[[Row], bool]) -> Rows:
        """Return the rows that a test accepts."""
        return Rows(list(filter(test, self.rows)))

    def of(self, name: str, value: object) -> Rows:
        """Return the rows with a value in a column."""
        return self.where(lambda r: r[name] == value)

    def over(self, name: str, least: float) -> Rows:
        """Return the rows with more than a number in a column."""
        return self.where(lambda r: r[name] is not None and r[name] > least)

    def month(self, number: int) -> Rows:
        """Return the rows of a month."""
        return self.where(lambda r: r["day"].month == number)

    def values(self, name: str) -> list[Any]:
        """Return a column; a day is written as year, month and day."""
        values: list[Any] = []
        for r in self.rows:
            values.append(f"{r[name]:%Y-%m-%d}" if name == "day" else r[name])
        return values

    def total(self, name: str) -> Any:
        """Return the sum of a column."""
        return sum(self.values(name))

    def mean(self, name: str) -> float:
        """Return the mean of a column."""
        return float(self.total(name) / len(self.rows))

    def by(self, name: str) -> dict[str, Rows]:
        """Return the rows by their values in a column."""
        groups: dict[str, Rows] = {}
        for r in self.rows:
            groups.setdefault(r[name], Rows([])).rows.append(r)
        return groups

    def __len__(self) -> int:
        return len(self.rows)


def truths(rows: dict[str, list[Row]]) -> list[Any]:
    """Return the answer to each question, in their order: a number, a text, or a set of them."""
    return [
        *_of_spend(Rows(rows["spend.csv"])),
        *_of_bookings(Rows(rows["bookings.xlsx"])),
        *_of_readings(Rows(rows["messwerte.csv"])),
        *_of_stock(Rows(rows["stock.html"])),
        *_of_staff(Rows(rows["staff.docx"])),
        *_of_parcels(Rows(rows["parcels.csv"])),
    ]


def _of_spend(s: Rows) -> list[Any]:
    shops = s.by("shop")
    return [
        s.of("shop", "Bell").total("amount"),
        s.total("amount"),
        len(s.of("kind", "fuel")),
        max(s.values("amount")),
        max(shops, key=lambda shop: shops[shop].total("amount")),
        s.month(3).total("amount"),
        set(s.of("shop", "Bell").over("amount", 2_450).values("day")),
        len(s.of("shop", "Lidgate")),
        len(shops),
    ]


def _of_bookings(b: Rows) -> list[Any]:
    return [
        b.total("nights"),
        len(b.of("paid", "no")),
        b.of("paid", "no").total("price"),
        max(b.of("cabin", "Cabin 7").values("nights")),
        b.mean("price"),
        len(b.month(7).of("cabin", "Cabin 3")),
        set(b.over("price", 895).values("guest")),
        min(b.of("cabin", "Cabin 12").values("day")),
        len(b.of("cabin", "Cabin 13")),
    ]


def _of_readings(m: Rows) -> list[Any]:
    known = m.where(lambda r: r["nitrate"] is not None)
    return [
        max(known.values("nitrate")),
        known.of("station", "Mühlwehr").mean("nitrate"),
        len(known.over("nitrate", 50)),
        len(m.of("station", "Südbrücke")),
        min(m.values("level")),
        len(known.over("nitrate", 89).of("station", "Nordkai")),
        len(m) - len(known),
        max(m.month(2).values("level")),
    ]


def _of_stock(a: Rows) -> list[Any]:
    towns = a.by("town")
    worth = 0
    for r in a.rows:
        worth += r["pieces"] * r["price"]
    return [
        a.total("pieces"),
        worth,
        max(a.rows, key=lambda r: r["price"])["name"],
        set(a.of("pieces", 0).values("article")),
        len(a.of("town", "Halden")),
        max(towns, key=lambda town: towns[town].mean("price")),
    ]


def _of_staff(p: Rows) -> list[Any]:
    return [
        p.total("pay"),
        len(p.of("team", "Kitchen")),
        min(p.rows, key=lambda r: r["since"])["name"],
        p.of("team", "Office").total("hours"),
        set(p.over("pay", 6_600).values("name")),
    ]


def _of_parcels(k: Rows) -> list[Any]:
    towns = k.by("town")
    return [
        k.total("kilos"),
        max(towns, key=lambda town: towns[town].total("kilos")),
        len(k.of("town", "Pell").over("kilos", 30)),
    ]
