"""Ledgers, meters, rotas and lists as people keep them, asked as people ask."""

from __future__ import annotations

import pytest

from ragweave.minds.small.tables.ask import Asked
from ragweave.tests.support.tables import said

LEDGER = """Day | Shop | What | Amount (EUR)
2025-03-04 | Tool Barn | paint | 84.50
2025-03-09 | Corner | weekly shop | 61.20
2025-03-16 | Corner | weekly shop | 58.75
2025-04-02 | Volt | washing machine | 589.00
2025-04-06 | Corner | weekly shop | 72.10
"""
METERS = """Month | Electricity (kWh) | Water (m³)
January 2025 | 312 | 9
February 2025 | 287 | 8
March 2025 | 265 | 10
April 2025 | 241 | 9
"""
ROTA = """Week | Cook | Washing up | Dish
14 | Nils | Priya | fish pie
15 | Priya | Tomas | dal
16 | Tomas | Nils | pizza
17 | Nils | Tomas | risotto
"""
LAPS = """Loop | Minutes | Shoes
lake | 92 | grey
lake | 89 | blue
hill | 41 | blue
"""
STORE = """Type | Diameter mm | Count | Place
A suction | 110 | 8 | Heron
B | 75 | 28 | Heron
B | 75 | 14 | tower
C | 52 | 31 | Wagtail
"""
MONTHS = """month | year | sauna visits
April | 2026 | 280
May | 2026 | 301
June | 2026 | 388
July | 2026 | 540
August | 2026 | 99
"""
GALA = """Event | Winner | Second
Breaststroke | Edwin Lark | Ansel Pike
Crawl | Ada Holt | Ben Ives
"""
BEDS = """Room | Beds | Price per night | Bath
Heron | 6 | 24 € | shared
Otter | 2 | 61 € | own
Swift | 1 | 48 € | own
"""


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        (
            LEDGER,
            "How much did we spend at the Corner?",
            "Amount: 61.20 + 58.75 + 72.10 = 192.05 EUR (rows 2, 3, 5; Corner).",
        ),
        (LEDGER, "How much did we spend at the Corner in April?", "weekly shop, 2025-04-06: Amount 72.10 EUR."),
        (
            LEDGER,
            "What was the most expensive thing we bought?",
            "washing machine: Amount 589.00 EUR, the highest of 5 rows.",
        ),
        (LEDGER, "Where did we buy the washing machine?", "washing machine: Shop Volt."),
        (LEDGER, "When did we buy the washing machine?", "2025-04-02."),
        (METERS, "Which month had the highest water use?", "March 2025: Water 10 m³, the highest of 4 rows."),
        (
            METERS,
            "How many kWh did we use from January to March?",
            "Electricity: 312 + 287 + 265 = 864 kWh (rows 1 to 3).",
        ),
        (ROTA, "Who cooks in week 16?", "Week 16: Cook Tomas."),
        (ROTA, "How often does Nils cook?", "2 of 4 rows with Nils: Week 14; Week 17."),
        (LAPS, "What is the fastest time for the lake?", "lake, blue: Minutes 89, the lowest of 2 rows."),
        (
            MONTHS,
            "How many sauna visits were there altogether from May to July 2026?",
            "sauna visits: 301 + 388 + 540 = 1,229 (rows 2 to 4; May, June, July).",
        ),
        (GALA, "Who came second in the breaststroke?", "Breaststroke: Second Ansel Pike."),
        (BEDS, "Which rooms have their own bath?", "Otter; Swift (own)."),
    ],
)
def test_a_ledger_is_asked_as_people_ask_it(text: str, question: str, answer: str) -> None:
    assert said(question, text) == answer


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (LEDGER, "How many kWh did we use in March 2025?"),
        (ROTA, "How many eggs are in the dal?"),
        (ROTA, "Who cooks in week 18?"),
        (BEDS, "How much does the Heron cost per week?"),
        (BEDS, "Which room has a balcony?"),
        (GALA, "What is the trade of the man who came second in the breaststroke?"),
    ],
)
def test_what_a_table_does_not_measure_is_not_worked_out(text: str, question: str) -> None:
    assert said(question, text) == ""


def test_an_inventory_is_counted_by_its_column_and_a_log_by_its_rows() -> None:
    assert said("How many B hoses have we got?", STORE, "hoses") == "Count: 28 + 14 = 42 (rows 2, 3; B)."
    log = "Day | Type | Count\n2025-03-04 | B | 2\n2025-03-09 | C | 1\n2025-03-16 | B | 1\n"
    assert said("How many B orders are there?", log, "orders").startswith("2 of 3 rows")


def test_may_is_the_month_also_beside_the_verb() -> None:
    assert Asked("How much may we spend in May?").months == {5}
    assert Asked("How much may we spend?").months == frozenset()
    rain = "Month | Rain (mm)\nMarch | 70\nApril | 50\nMay | 45\n"
    for question, answer in (
        ("How much rain may fall in April?", "April: Rain 50 mm."),
        ("How much rain fell in April and May?", "Rain: 50 + 45 = 95 mm (rows 2, 3; April, May)."),
        ("how much rain in the april and the may", "Rain: 50 + 45 = 95 mm (rows 2, 3; April, May)."),
        ("How much was the May rain?", "May: Rain 45 mm."),
        ("May rain?", "May: Rain 45 mm."),
    ):
        assert said(question, rain, "weather") == answer
