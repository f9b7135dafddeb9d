"""What is certain of a table is worked out, and where notation, unit, column or rows are not, nothing is."""

from __future__ import annotations

import pytest

from ragweave.minds.small.tables.compute import compute
from ragweave.models.table import tables
from ragweave.tests.support.tables import said


@pytest.mark.parametrize(
    ("cells", "question", "answer"),
    [
        ("1.200 980 2.450", "What are the total sales?", "Sales: 1,200 + 980 + 2,450 = 4,630 (rows 1 to 3)."),
        ("1.200 980 2.450", "Which month has the highest sales?", "Mai: Sales 2,450, the highest of 3 rows."),
        ("1,200 0,300 2,450", "What are the total sales?", "Sales: 1.200 + 0.300 + 2.450 = 3.950 (rows 1 to 3)."),
        ("0.125 1.250 2.375", "What are the total sales?", "Sales: 0.125 + 1.250 + 2.375 = 3.750 (rows 1 to 3)."),
        (
            "1013.250 1001 999.875",
            "Which month has the highest sales?",
            "Jan: Sales 1,013.250, the highest of 3 rows.",
        ),
        ("1,200 980 2,450", "What are the total sales?", "Sales: 1,200 + 980 + 2,450 = 4,630 (rows 1 to 3)."),
        # 1.200 and 2.450 are thousands or no more than two: which is more is certain, and nothing else.
        ("1.200 1.980 2.450", "What are the total sales?", ""),
        ("1.200 1.980 2.450", "What are the average sales?", ""),
        ("1.200 1.980 2.450", "Which months have sales over 100?", ""),
        ("1.200 1.980 2.450", "Which month has the highest sales?", "Mai: Sales 2.450, the highest of 3 rows."),
        ("1.200 1.980 2.450", "What were the sales in Mai?", "Mai: Sales 2.450."),
        ("101.325 100 99.875", "Which month has the highest sales?", ""),
    ],
)
def test_numbers_are_worked_out_where_their_notation_is_known(cells: str, question: str, answer: str) -> None:
    rows = "\n".join(f"{month} | {cell}" for month, cell in zip(("Jan", "Feb", "Mai"), cells.split(), strict=True))
    assert said(question, f"Month | Sales\n{rows}") == answer


def test_the_language_tells_a_notation_that_the_numbers_leave_open() -> None:
    text = "Month | Sales\nJan | 1.200\nFeb | 2.450"
    for language, total in (("de", "1,200 + 2,450 = 3,650"), ("en", "1.200 + 2.450 = 3.650")):
        (table,) = tables([text], [language])
        found = compute("What are the total sales?", table, "", lambda term: 1.0)
        assert found is not None and total in found.text


PARCELS = "Parcel | Weight\nBooks | 1.500 kg\nWine | 2.250 kg\nTea | 750 g"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which parcels weigh more than 10 kg?", ""),
        ("Which parcel has the most weight?", "Wine: Weight 2.250 kg, the highest of 3 rows."),
        (
            "What is the difference in weight between Books and Wine?",
            "Weight: 2.250 − 1.500 = 0.750 kg (Wine against Books).",
        ),
    ],
)
def test_numbers_of_another_unit_do_not_tell_the_notation_by_their_size(question: str, answer: str) -> None:
    (table,) = tables([PARCELS], ["en"])
    found = compute(question, table, "", lambda term: 1.0)
    assert (found.text if found else "") == answer


GEAR = """Item | Weight | Length | Price
Anchor | 12 kg | 1.2 m | €120.00
Buoy | 800 g | 45 cm | £30.00
Chain | 25 kg | 30 m | €98.00
Dinghy | 0.1 t | 3 m | $900.00
"""
HALL = "Hall: Size 20 seats, the highest of 2 rows."
DAM = "Dam: Power 3 MW, the highest of 2 rows."
FLOUR = "Flour | Weight (g) | Price | Milled\nrye | 1,000 | 5.80 € | 2 days\noats | 90 | 0.95 € | 1 week\n"


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        (GEAR, "Which item is the heaviest?", "Dinghy: Weight 0.1 t, the highest of 4 rows."),
        (GEAR, "Which item is the lightest?", "Buoy: Weight 800 g, the lowest of 4 rows."),
        (GEAR, "What is the longest item?", "Chain: Length 30 m, the highest of 4 rows."),
        (GEAR, "How many items are longer than 2 m?", "2 of 4 rows with Length > 2 m: Chain; Dinghy."),
        (GEAR, "Which items weigh more than 10 kg?", "Anchor; Chain; Dinghy (Weight > 10 kg)."),
        (GEAR, "Which item is the most expensive?", ""),
        (GEAR, "Which items cost more than 100 euros?", ""),
        (GEAR, "What is the total weight?", ""),
        (FLOUR, "Which flours weigh more than 0.5 kg?", "rye."),
        (FLOUR, "Which flours cost more than 2 euros?", "rye."),
        (FLOUR, "Which flours cost more than 2 dollars?", ""),
        ("Film | Minutes\nLark | 92\nTern | 120", "Which films are longer than 1.7 hours?", "Tern."),
        ("Room | Size\nHall | 20 m²\nLoft | 1 seat", "Which room has the largest size?", ""),
        ("Room | Size\nHall | 20 seats\nLoft | 1 seat", "Which room has the largest size?", HALL),
        ("City | Guests\nUlm | 12k\nBonn | 980", "Which city has the most guests?", ""),
        ("Device | Power\nDam | 3 MW\nSensor | 40 mW", "Which device has the most power?", DAM),
        ("Chip | Clock\nA7 | 3 MHz\nB2 | 40 mHz", "Which chip has the highest clock?", ""),
    ],
)
def test_amounts_in_different_units_are_compared_only_where_that_is_certain(
    text: str, question: str, answer: str
) -> None:
    assert said(question, text) == answer
