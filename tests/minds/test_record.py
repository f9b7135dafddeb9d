"""Values of receipts and invoices by label and place, and which paper is meant."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.app.api import aask
from ragweave.corpora.ingest.readers import Readers
from ragweave.corpora.ingest.run import index
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.types import Item, Span
from ragweave.minds.context import Context
from ragweave.minds.small.answer import record
from ragweave.minds.small.answer.record import FIELDS, cells, goods, value_of
from ragweave.models.ocr import Line
from ragweave.models.text import content_terms
from ragweave.tests.nodes.test_pictures import drawn

Box = tuple[float, float, float, float]


def paper(*lines: tuple[str, Box]) -> Item:
    text, spans = "", []
    for told, box in lines:
        spans.append(Span(len(text), len(text) + len(told), bbox=box))
        text += told + "\n"
    place = {"kind": "image", "file": "scan.png"}
    return Item("i", "image", "s", "scan", text, place, spans=tuple(spans))  # type: ignore[arg-type]


def box(x: float, y: float, wide: float = 100) -> Box:
    return x, y, x + wide, y + 20


INVOICE = paper(
    ("Harbour Bakery", box(10, 10)),
    ("4 Quay Street, Lowmouth", box(10, 40)),
    ("Tel 01632 960 114", box(10, 70)),
    ("Invoice no.", box(300, 100)),
    ("20417", box(500, 100)),
    ("Due date", box(300, 130)),
    ("2 May 2023", box(500, 130)),
    ("bread", box(10, 200)),
    ("7.40", box(500, 200)),
    ("Subtotal", box(300, 260)),
    ("£7.40", box(500, 260)),
    ("VAT 20 %", box(300, 290)),
    ("£1.48", box(500, 290)),
    ("Total due", box(300, 320)),
    ("£8.88", box(500, 320)),
)


def told(question: str, item: Item = INVOICE) -> str | None:
    field = next(f for f in FIELDS if f.asked.search(question))
    found = value_of(field, cells(item))
    return found and found[0]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What was the total?", "Total due: £8.88"),
        ("How much VAT was it?", "VAT 20 %: £1.48"),
        ("When is it due?", "Due date: 2 May 2023"),
        ("Which address does it give?", "4 Quay Street, Lowmouth"),
        ("What phone number is on it?", "Tel: 01632 960 114"),
        ("What is the number of it?", "Invoice no: 20417"),
    ],
)
def test_a_value_stands_beside_its_label(question: str, value: str) -> None:
    assert told(question) == value


def test_a_value_stands_below_its_label_where_nothing_is_beside_it() -> None:
    form = paper(("Amount due", box(10, 10)), ("Tax", box(310, 10)), ("£9.00", box(10, 60)), ("£1.50", box(310, 60)))
    assert told("What is the total?", form) == "Amount due: £9.00"
    assert told("How much tax?", form) == "Tax: £1.50"


def test_a_label_and_its_value_may_be_one_line() -> None:
    line = paper(("Sales tax ........ 4.20 EUR", box(10, 10)), ("24.01.2023 14:32", box(10, 40)))
    assert told("How much tax is on it?", line) == "Sales tax: 4.20 EUR"
    assert told("What was the total?", line) is None  # a date is no amount


def lines(*told: str) -> Item:
    return paper(*((text, box(10, 10 + 30 * n, 300)) for n, text in enumerate(told)))


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the total?", "Total: 115.00"),
        ("How much is it for?", "Total: 115.00"),
        ("What is the amount paid?", "Amount paid: 15.00"),
        ("How much was paid?", "Amount paid: 15.00"),
        ("What is the amount due?", "Balance due: 100.00"),
        ("How much is to be paid?", "Balance due: 100.00"),
    ],
)
def test_of_a_paper_that_was_paid_in_part_the_total_and_what_was_paid_have_their_own_labels(
    question: str, value: str
) -> None:
    part = lines(*"Subtotal 100.00|VAT 20.00|Total 115.00|Amount paid 15.00|Balance due 100.00".split("|"))
    assert told(question, part) == value
    after = lines("Total 115.00", "Payment received: EUR 15.00", "Total due 100.00")
    assert told("What is the total?", after) == "Total: 115.00"


def test_a_head_of_a_column_is_not_the_total_of_a_paper_that_says_what_is_due() -> None:
    table = paper(
        ("Total", box(300, 10)),
        ("40.00", box(300, 40)),
        ("60.00", box(300, 70)),
        ("Amount due", box(10, 160)),
        ("100.00", box(300, 160)),
    )
    assert told("What is the total?", table) == "Amount due: 100.00"


@pytest.mark.parametrize("question", ["How much was paid?", "What is the amount paid?", "How much did I have to pay?"])
def test_what_was_paid_is_the_total_of_a_paper_without_a_line_for_it(question: str) -> None:
    assert told(question) == "Total due: £8.88"
    assert told(question, lines("PAID", "Net 10.00", "Total 12.00")) == "Total: 12.00"  # a stamp


def test_what_was_bought_is_told_by_its_line() -> None:
    field = goods(["bread"], cells(INVOICE))
    assert field is not None
    found = value_of(field, cells(INVOICE))
    assert found is not None and found[0] == "bread: 7.40"
    assert [c.text for c in found[1]] == ["bread", "7.40"]
    assert goods(["cheese"], cells(INVOICE)) is None


@pytest.mark.parametrize(
    ("wanted", "price"),
    [
        ("espresso of Cafe Lumen", "Espresso: 2.50"),
        ("double espresso", "Espresso double: 3.90"),
        ("cake", "Cake: 4.10"),
    ],
)
@pytest.mark.parametrize("apart", [False, True])
def test_the_price_is_that_of_the_line_with_fewest_other_words(wanted: str, price: str, apart: bool) -> None:
    rows = [
        ("Cafe Lumen", ""),
        ("Espresso", "2.50"),
        ("Espresso double", "3.90"),
        ("Cafe cake", "4.20"),
        ("Cake", "4.10"),
    ]
    read = lines(*(f"{good} {amount}".strip() for good, amount in rows))
    if apart:
        at = enumerate(text for row in rows for text in row)
        read = paper(*((text, box(10 + n % 2 * 300, 10 + n // 2 * 30)) for n, text in at if text))
    field = goods(content_terms(wanted), cells(read))
    assert field is not None
    found = value_of(field, cells(read))
    assert found is not None and found[0] == price


@pytest.mark.parametrize(
    ("words", "fits"),
    [
        ("Harbour Bakery 2 May 2023", True),
        ("Harbour Bakery May 2023", True),
        ("Harbour Bakery 2023-05-02", True),
        ("Harbour Bakery 3 May 2023", False),
        ("20417", True),
        ("20418", False),
        ("Tilden Hardware", False),
    ],
)
def test_dates_and_numbers_tell_which_paper(words: str, fits: bool) -> None:
    assert (record._fit(words, INVOICE, {}) == 1.0) is fits


def test_what_the_paper_lacks_is_told_by_a_text_that_speaks_of_it_by_its_number() -> None:
    mail = {
        "id": "m",
        "corpus": "paragraph",
        "title": "mail",
        "locator": {},
        "origin": "library",
        "query": "",
        "hop": 1,
    }
    texts = (
        "Invoice 20417 is enclosed. Please pay by 9 June 2023.",
        "Invoice 20418 is late. Please pay by 1 May 2023.",
    )
    rows = {str(n): {**mail, "text": text, "relevance": 0.0} for n, text in enumerate(reversed(texts))}
    found = record._beside("invoice 20417", FIELDS[0], SimpleNamespace(rows=rows))  # type: ignore[arg-type]
    assert found is not None and found["text"] == "Please pay by 9 June 2023."
    assert record._beside("invoice 30000", FIELDS[0], SimpleNamespace(rows=rows)) is None  # type: ignore[arg-type]


class Till:
    """Reads the same receipt on every picture."""

    name = "till"
    told = ("Cafe Lumen", "Receipt 4471", "Due date: 3 May 2024", "Cake 4.10", "Total 10.50")

    def lines(self, image: Any) -> list[Line]:
        return [Line(text, box(20, 10 + 30 * n), 0.98) for n, text in enumerate(self.told)]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is the total of the receipt of Cafe Lumen?", "Total: 10.50"),
        ("How much was the cake on the receipt of Cafe Lumen?", "Cake: 4.10"),
        ("What is the total of the Cafe Lumen receipt of 3 May 2024?", "Total: 10.50"),
    ],
)
async def test_a_paper_that_lies_in_two_places_is_one_paper(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str, value: str
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "r3.png").write_bytes(drawn(200))
    (folder / "trip.md").write_text("# Bridge\n\n![Figure 1. Cafe bill](r3.png)\n", encoding="utf-8")
    monkeypatch.setattr("ragweave.corpora.images.reader.ocr", Till)
    monkeypatch.setattr(Readers, "read", lambda self, path, *more: prepare(Path(path), *more))
    await index([folder])
    answer = await aask(question, context=Context(mind="small"))
    assert [s.text for s in answer.sentences] == [value]
    (citation,) = answer.citations
    assert {Path(p["file"]).name for p in (citation.locator, *citation.also)} == {"r3.png", "trip.md"}
