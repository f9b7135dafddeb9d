"""Six tables of 200 to 20,000 rows, the same in each run, and what 40 questions about them come to."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
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
    return [
        {
            "day": day(chance, 2025),
            "shop": chance.choice(SHOPS),
            "kind": chance.choice(kinds),
            "amount": chance.randrange(100, 250_000) / 100,
        }
        for _ in range(3_000)
    ]


def bookings(chance: random.Random) -> list[Row]:
    """Return 648 bookings of cabins."""
    return [
        {
            "day": day(chance, 2026),
            "cabin": f"Cabin {chance.randrange(1, 13)}",
            "guest": f"{chance.choice('ABCDEFGH')}. {chance.choice(('Reef', 'Marwen', 'Ostrander', 'Vell'))}",
            "nights": chance.randrange(1, 15),
            "paid": chance.choice(("yes", "yes", "no")),
            "price": chance.randrange(40, 900),
        }
        for _ in range(648)
    ]


def readings(chance: random.Random) -> list[Row]:
    """Return 20,000 readings of water, one of 400 without a value."""
    return [
        {
            "day": day(chance, 2024),
            "station": chance.choice(STATIONS),
            "nitrate": None if chance.randrange(400) == 0 else chance.randrange(10, 900) / 10,
            "level": chance.randrange(80, 4_000) / 100,
        }
        for _ in range(20_000)
    ]


def stock(chance: random.Random) -> list[Row]:
    """Return 400 articles of a store."""
    return [
        {
            "article": f"{n:05}",
            "name": f"{chance.choice(STUFFS)} {chance.choice(('hook', 'lamp', 'frame'))} {n}",
            "pieces": chance.randrange(0, 400),
            "price": chance.randrange(100, 90_000) / 100,
            "town": chance.choice(TOWNS),
        }
        for n in range(1, 401)
    ]


def staff(chance: random.Random) -> list[Row]:
    """Return 200 people of a firm."""
    return [
        {
            "name": f"Employee {n:03}",
            "team": chance.choice(("Boats", "Kitchen", "Office", "Workshop")),
            "since": day(chance, chance.randrange(1998, 2026)),
            "hours": chance.choice((20, 25, 30, 38.5)),
            "pay": chance.randrange(1_900, 6_800),
        }
        for n in range(1, 201)
    ]


def parcels(chance: random.Random) -> list[Row]:
    """Return 1,200 parcels, whose file has no heads."""
    return [
        {"town": chance.choice(TOWNS), "day": day(chance, 2025), "kilos": chance.randrange(1, 320) / 10}
        for _ in range(1_200)
    ]


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
    lines = [f'{r["day"]:%d/%m/%Y},{r["shop"]},{r["kind"]},"{r["amount"]:,.2f}"' for r in rows["spend.csv"]]
    (folder / "spend.csv").write_text("Date,Shop,Kind,Amount\n" + "\n".join(lines) + "\n", encoding="utf-8")
    lines = [";".join(_german(r)) for r in rows["messwerte.csv"]]
    heads = "Datum;Station;Nitrat (mg/l);Pegel (m)\n"
    (folder / "messwerte.csv").write_text(heads + "\n".join(lines) + "\n", encoding="utf-8")
    lines = [f"{r['town']},{r['day'].isoformat()},{r['kilos']}" for r in rows["parcels.csv"]]
    (folder / "parcels.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    cells = "".join(
        f"<tr><td>{r['article']}</td><td>{r['name']}</td><td>{r['pieces']}</td><td>€{r['price']:,.2f}</td>"
        f"<td>{r['town']}</td></tr>\n"
        for r in rows["stock.html"]
    )
    heads = "<tr><th>Article</th><th>Name</th><th>Pieces</th><th>Price</th><th>Town</th></tr>"
    (folder / "stock.html").write_text(f"<h1>Stock</h1><table>{heads}{cells}</table>", encoding="utf-8")
    _workbook(folder / "bookings.xlsx", rows["bookings.xlsx"])
    _document(folder / "staff.docx", rows["staff.docx"])


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

    def cell(text: str) -> str:
        return f"<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"

    heads = ["Name", "Team", "Since", "Hours a week", "Pay"]
    body = [
        heads,
        *([r["name"], r["team"], f"{r['since']:%d %B %Y}", str(r["hours"]), str(r["pay"])] for r in rows),
    ]
    table = "".join(f"<w:tr>{''.join(map(cell, row))}</w:tr>" for row in body)
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


def truths(rows: dict[str, list[Row]]) -> list[Any]:
    """Return what each question comes to, in their order: a number, a text, or a set of them; None is no row."""
    s, b, m = rows["spend.csv"], rows["bookings.xlsx"], rows["messwerte.csv"]
    a, p, k = rows["stock.html"], rows["staff.docx"], rows["parcels.csv"]
    by_shop, by_town, kilos = Counter[str](), defaultdict(list[float]), Counter[str]()
    for r in s:
        by_shop[r["shop"]] += r["amount"]
    for r in a:
        by_town[r["town"]].append(r["price"])
    for r in k:
        kilos[r["town"]] += r["kilos"]
    known = [r for r in m if r["nitrate"] is not None]
    return [
        sum(r["amount"] for r in s if r["shop"] == "Bell"),
        sum(r["amount"] for r in s),
        sum(r["kind"] == "fuel" for r in s),
        max(r["amount"] for r in s),
        max(by_shop, key=by_shop.__getitem__),
        sum(r["amount"] for r in s if r["day"].month == 3),
        {f"{r['day']:%Y-%m-%d}" for r in s if r["shop"] == "Bell" and r["amount"] > 2_450},
        sum(r["shop"] == "Lidgate" for r in s),
        len({r["shop"] for r in s}),
        sum(r["nights"] for r in b),
        sum(r["paid"] == "no" for r in b),
        sum(r["price"] for r in b if r["paid"] == "no"),
        max(r["nights"] for r in b if r["cabin"] == "Cabin 7"),
        sum(r["price"] for r in b) / len(b),
        sum(r["day"].month == 7 and r["cabin"] == "Cabin 3" for r in b),
        {r["guest"] for r in b if r["price"] > 895},
        min(f"{r['day']:%Y-%m-%d}" for r in b if r["cabin"] == "Cabin 12"),
        sum(r["cabin"] == "Cabin 13" for r in b),
        max(r["nitrate"] for r in known),
        sum(r["nitrate"] for r in known if r["station"] == "Mühlwehr")
        / sum(r["station"] == "Mühlwehr" for r in known),
        sum(r["nitrate"] > 50 for r in known),
        sum(r["station"] == "Südbrücke" for r in m),
        min(r["level"] for r in m),
        sum(r["nitrate"] > 89 and r["station"] == "Nordkai" for r in known),
        len(m) - len(known),
        max(r["level"] for r in m if r["day"].month == 2),
        sum(r["pieces"] for r in a),
        sum(r["pieces"] * r["price"] for r in a),
        max(a, key=lambda r: r["price"])["name"],
        {r["article"] for r in a if r["pieces"] == 0},
        sum(r["town"] == "Halden" for r in a),
        max(by_town, key=lambda town: sum(by_town[town]) / len(by_town[town])),
        sum(r["pay"] for r in p),
        sum(r["team"] == "Kitchen" for r in p),
        min(p, key=lambda r: r["since"])["name"],
        sum(r["hours"] for r in p if r["team"] == "Office"),
        {r["name"] for r in p if r["pay"] > 6_600},
        sum(r["kilos"] for r in k),
        max(kilos, key=kilos.__getitem__),
        sum(r["town"] == "Pell" and r["kilos"] > 30 for r in k),
    ]
