"""Receipts, invoices and forms: `python benchmarks/receipts.py [--work FOLDER] [--show]`.

Sixty pictures in six layouts are drawn with the fonts of the system, ten of each, from ten made-up businesses that have
several papers each. Two fields of each are asked for, the paper told by business and date, by business and month, or
by its number; of every third the price of a good, or what is not on it. Right: the answer holds the value, or nothing
is answered where there is none; wrong: it was answered, and does not. Halves by layout: `a` has the
first three, `b` the others.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from printed import answered, run

from ragweave.models.calendar import ENGLISH

FONT, BOLD, MONO = "DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf"
MONTHS = [month.title() for month in ENGLISH[:12]]
PLACES = (
    ("Harbour Bakery", "4 Quay Street, Lowmouth", "01632 960 114"),
    ("Tilden Hardware", "81 Forge Lane, Castle Arden", "01632 960 220"),
    ("Blue Lantern Bistro", "12 Canal Row, Lowmouth", "01632 960 377"),
    ("Ashgrove Electric", "200 Mill Road, Ashgrove", "01632 960 403"),
    ("Merrow Books", "7 Church Walk, Merrow", "01632 960 518"),
    ("Castle Arden Dental", "33 Station Parade, Castle Arden", "01632 960 644"),
    ("Fennel and Sons", "19 Market Place, Merrow", "01632 960 702"),
    ("Northgate Garage", "5 Ring Road, Northgate", "01632 960 855"),
    ("Pinewood Lodge", "1 Forest Drive, Ashgrove", "01632 960 931"),
    ("Quick Cycle Repairs", "64 Bridge Street, Northgate", "01632 960 076"),
)
GOODS = "bread nails soup cable atlas filling cheese tyres night chain flour hinges salad meter novel brush".split()


@dataclass(frozen=True)
class Paper:
    """One paper with its values as they are printed; dates as (day, month, year)."""

    name: str
    address: str
    phone: str
    number: str
    day: tuple[int, int, int]
    due: tuple[int, int, int]
    goods: tuple[tuple[str, str], ...]
    net: str
    tax: str
    total: str
    sign: str

    def money(self, value: str) -> str:
        """Return an amount as this paper prints it."""
        return f"{self.sign}{value}"


def papers() -> list[Paper]:
    """Make the sixty papers, the same at every run."""
    rng, out = random.Random(19), []
    for n in range(60):
        name, address, phone = PLACES[n % 10]
        day = (rng.randint(1, 28), n // 10 * 2 + rng.randint(1, 2), rng.choice((2023, 2024)))
        due = (day[0], day[1] % 12 + 1, day[2] + (day[1] == 12))
        goods = tuple((rng.choice(GOODS), rng.randint(150, 9000)) for _ in range(rng.randint(2, 4)))
        net = sum(price for _, price in goods)
        tax = round(net * 0.2)
        shown = [f"{v / 100:.2f}" for v in (net, tax, net + tax)]
        rows = tuple((good, f"{price / 100:.2f}") for good, price in goods)
        out.append(Paper(name, address, phone, f"{rng.randint(10000, 99999)}", day, due, rows, *shown, "£€$"[n % 3]))
    return out


def date(day: tuple[int, int, int], way: int = 0) -> str:
    """Write a date in one of three ways."""
    d, m, y = day
    return (f"{d} {MONTHS[m - 1]} {y}", f"{d:02}.{m:02}.{y}", f"{y}-{m:02}-{d:02}")[way]


def draw(paper: Paper, layout: int, to: Path) -> None:
    """Draw a paper in one of six layouts."""
    from PIL import Image, ImageDraw, ImageFont

    wide, tall = ((520, 760), (1000, 1200), (1000, 700), (900, 900), (560, 820), (1100, 760))[layout]
    image = Image.new("RGB", (wide, tall), "white")
    pen = ImageDraw.Draw(image)

    def put(x: float, y: float, text: str, size: int = 22, font: str = FONT, anchor: str = "la") -> None:
        pen.text((x, y), text, fill="black", font=ImageFont.truetype(font, size), anchor=anchor)

    y = 40.0
    if layout == 0:  # a till
        for text in (paper.name.upper(), paper.address, f"Tel {paper.phone}"):
            put(wide / 2, y, text, 22, MONO, "ma")
            y += 34
        y += 20
        rows = [*paper.goods, ("SUBTOTAL", paper.net), ("VAT 20%", paper.tax), ("TOTAL", paper.money(paper.total))]
        for left, right in rows:
            put(40, y, left, 22, MONO)
            put(wide - 40, y, right, 22, MONO, "ra")
            y += 36
        put(40, y + 20, f"Receipt no: {paper.number}", 22, MONO)
        put(40, y + 56, f"{date(paper.day, 1)} 14:32", 22, MONO)
    elif layout == 1:  # a letter with a block on the right
        put(60, 50, paper.name, 34, BOLD)
        put(60, 100, paper.address)
        put(60, 132, paper.phone)
        put(60, 240, "INVOICE", 36, BOLD)
        for n, (a, b) in enumerate(
            [("Invoice no.", paper.number), ("Date", date(paper.day)), ("Due date", date(paper.due))]
        ):
            put(560, 240 + 40 * n, a, 22)
            put(760, 240 + 40 * n, b, 22)
        y = 460
        for left, right in [*paper.goods]:
            put(60, y, left)
            put(940, y, paper.money(right), 22, FONT, "ra")
            y += 44
        for left, right in [("Net", paper.net), ("VAT 20 %", paper.tax), ("Total due", paper.total)]:
            put(640, y + 40, left, 22, BOLD)
            put(940, y + 40, paper.money(right), 22, BOLD, "ra")
            y += 44
    elif layout == 2:  # a form: small labels over their values
        put(50, 40, paper.name, 30, BOLD)
        cells = [
            ("Invoice number", paper.number),
            ("Date of issue", date(paper.day, 2)),
            ("Payable by", date(paper.due, 2)),
            ("Address", paper.address),
            ("Telephone", paper.phone),
            ("For", ", ".join(good for good, _ in paper.goods)),
            ("Amount before tax", paper.money(paper.net)),
            ("Tax", paper.money(paper.tax)),
            ("Amount due", paper.money(paper.total)),
        ]
        for n, (label, value) in enumerate(cells):
            x, y = 50 + 310 * (n % 3), 130 + 170 * (n // 3)
            pen.rectangle((x, y, x + 300, y + 140), outline="gray")
            put(x + 14, y + 14, label, 18)
            put(x + 14, y + 60, value, 20 if len(value) > 22 else 24)
    elif layout == 3:  # dotted leaders
        put(50, 40, f"{paper.name} - Statement", 30, BOLD)
        rows = [
            ("Customer service", paper.phone),
            ("Office", paper.address),
            ("Statement number", paper.number),
            ("Statement date", date(paper.day)),
            ("Pay before", date(paper.due)),
            *((f"Charge for {good}", paper.money(price)) for good, price in paper.goods),
            ("Charges without tax", paper.money(paper.net)),
            ("Sales tax", paper.money(paper.tax)),
            ("Balance to pay", paper.money(paper.total)),
        ]
        for n, (label, value) in enumerate(rows):
            put(50, 130 + 46 * n, label)
            put(850, 130 + 46 * n, value, 22, FONT, "ra")
            left, right = 60 + 13 * len(label), 840 - 13 * len(value)
            put(left, 130 + 46 * n, "." * max(0, int((right - left) / 8)), 18)
    elif layout == 4:  # a restaurant's
        for text in (paper.name, *paper.address.split(", "), paper.phone, f"Check #{paper.number}", date(paper.day)):
            put(wide / 2, y, text, 24, FONT, "ma")
            y += 36
        y += 16
        for good, price in paper.goods:
            put(60, y, f"1 x {good}")
            put(wide - 60, y, price, 22, FONT, "ra")
            y += 36
        for left, right in [("Sum", paper.net), ("incl. service", "0.00"), ("Tax", paper.tax)]:
            put(60, y, left)
            put(wide - 60, y, right, 22, FONT, "ra")
            y += 36
        put(60, y + 10, "AMOUNT", 28, BOLD)
        put(wide - 60, y + 10, paper.money(paper.total), 28, BOLD, "ra")
    else:  # heads of columns over their values
        put(60, 40, paper.name, 32, BOLD)
        put(60, 90, f"{paper.address} | {paper.phone}", 20)
        for row, cells in enumerate(
            [
                [("Bill no.", paper.number), ("Issued", date(paper.day, 1)), ("Due", date(paper.due, 1))],
                [(good.capitalize(), price) for good, price in paper.goods],
                [("Subtotal", paper.net), ("Tax (20%)", paper.tax), ("Grand total", paper.money(paper.total))],
            ]
        ):
            for n, (label, value) in enumerate(cells):
                put(60 + 260 * n, 180 + 170 * row, label, 22, BOLD)
                put(60 + 260 * n, 225 + 170 * row, value, 22)
    image.save(to)


@dataclass(frozen=True)
class Question:
    """One question, the layout and number of its paper, the field, and what the value may look like."""

    text: str
    layout: int
    paper: int
    field: str
    answers: tuple[str, ...]


ASK = {
    "total": ("What was the total on {it}?", "How much did I have to pay on {it}?", "How much is {it} for?"),
    "tax": ("How much tax is on {it}?", "What was the VAT on {it}?", "How much of {it} was tax?"),
    "address": ("What is the address on {it}?", "Which address does {it} give?", "Where is the business of {it}?"),
    "phone": ("What phone number is on {it}?", "Which telephone number does {it} give?", "What is the phone on {it}?"),
    "due": ("When is {it} due?", "By when must {it} be paid?", "What is the due date of {it}?"),
    "number": ("What is the number of {it}?",) * 3,
}
KINDS = ("receipt", "invoice", "invoice", "statement", "receipt", "bill")


def asked() -> list[Question]:
    """Return two questions for each paper, and a third one for some."""
    rng, out, all_papers = random.Random(7), [], papers()
    for n, p in enumerate(all_papers):
        layout = n // 10
        dues = ["due"] if layout in (1, 2, 3, 5) else []
        fields = [*rng.sample(["total", "tax"], 1), rng.choice(["address", "phone", "number", "total", "tax", *dues])]
        if fields[0] == fields[1]:
            fields[1] = "address"
        alone = sum(o.name == p.name and o.day[1:] == p.day[1:] for o in all_papers) == 1
        for k, field in enumerate(fields):
            kind = KINDS[layout]
            ways = [f"the {kind} from {p.name} of {date(p.day)}", f"{kind} {p.number}"]
            if alone:
                ways.append(f"the {p.name} {kind} of {MONTHS[p.day[1] - 1]} {p.day[2]}")
            it = ways[0] if field == "number" else ways[(n + k) % len(ways)]
            value = {"total": p.total, "tax": p.tax, "phone": p.phone, "number": p.number}.get(field, "")
            answers = (value,)
            if field == "address":
                answers = (p.address.split(",")[0],)
            elif field == "due":
                answers = tuple(date(p.due, way) for way in range(3))
            out.append(Question(ASK[field][n % 3].format(it=it), layout, n, field, answers))
    for n in range(0, 60, 3):
        p, kind = all_papers[n], KINDS[n // 10]
        it, goods = f"the {kind} from {p.name} of {date(p.day)}", dict(p.goods)
        good = next((g for g in goods if [x for x, _ in p.goods].count(g) == 1), "")
        if n % 2 and good:
            # The form prints no prices.
            field, answers = ("absent", ()) if n // 10 == 2 else ("item", (goods[good],))
            out.append(Question(f"How much did the {good} cost on {it}?", n // 10, n, field, answers))
        else:
            absent = ("tip", "delivery charge", "discount", "deposit")[n // 2 % 4]
            out.append(Question(f"How much was the {absent} on {it}?", n // 10, n, "absent", ()))
    return out


def plain(text: str) -> str:
    """Return a text in the form in which values are compared: letters and digits."""
    return "".join(c for c in text.lower() if c.isalnum())


def draw_all(folder: Path) -> None:
    """Draw the papers that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for n, paper in enumerate(papers()):
        if not (to := folder / f"scan-{n:03}.png").exists():
            draw(paper, n // 10, to)


async def measure(folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Draw and index the papers, ask all questions, and return the shares."""
    from ragweave.corpora.ingest.run import index

    await asyncio.to_thread(draw_all, folder / "receipts")
    await index([folder / "receipts"], "receipts")
    rows = []
    for q in asked():
        answer = await answered(q.text, "receipts")
        said = plain(" ".join(s.text for s in answer.sentences))
        right = any(plain(a) in said for a in q.answers) if q.answers else answer.abstained
        cited = [Path(c.locator.get("file", "")).stem for c in answer.citations[:1]] == [f"scan-{q.paper:03}"]
        boxed = bool(answer.citations) and "bbox" in answer.citations[0].locator
        rows.append((q, right, not right and not answer.abstained, cited, boxed))
        if given.show:
            marks = "".join("-+"[b] for b in (right, cited))
            print(f"{marks} {q.layout} {q.field} {q.paper:03} {q.text} {q.answers}\n      {answer.text}")
    out: dict[str, Any] = {"questions": len(rows)}

    def shares(name: str, kept: list[Any]) -> None:
        for k, key in enumerate(("right", "wrong", "right paper first", "box cited"), 1):
            out[f"{name}{key}"] = sum(r[k] for r in kept) / (len(kept) or 1)

    shares("", rows)
    shares("a ", [r for r in rows if r[0].layout < 3])
    shares("b ", [r for r in rows if r[0].layout >= 3])
    for field in (*ASK, "item", "absent"):
        kept = [r for r in rows if r[0].field == field]
        out[f"{field} right of {len(kept)}"] = sum(r[1] for r in kept) / (len(kept) or 1)
    return out


if __name__ == "__main__":
    run(__doc__, measure)
