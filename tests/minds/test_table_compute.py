from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.minds.small.tables.compute import compute
from ragweave.models.table import tables
from ragweave.tests.support.tables import said

BAKERY = """Bread | Grain | Weight (g) | Price | Baked on | Vegan
Farmer's loaf | rye | 1,000 | 5.80 € | 2026-03-02 | yes
Seed roll | wheat | 90 | 0.95 € | 2026-03-02 | no
Walnut stick | wheat | 450 | 4.20 € | 2026-03-03 | yes
Black pumpernickel | rye | 500 | 3.60 € | 2026-04-01 | yes
Milk plait | wheat | 600 | 4.20 € | 2026-04-02 | no
"""
CLINIC = """Station | Q1 2025 | Q2 2025 | Q3 2025
Surgery | 1.240 | 1.310 | 1.275
Maternity | 806 | 790 | 1.002
Eyes | 415,5 | 398 | 402
"""
ROOMS = """Room | Floor | Seats | Projector
101 | 1 | 24 | yes
102 | 1 | 12 | no
201 | 2 | 80 | yes
305 | 3 | 12 | no
"""
ORDERS = """order | customer | placed | amount
A1 | Hagen | 2024-03-01T12:00:00Z | 120.50
A2 | Mori | 2024-05-17T08:31:00+01:00 | 80.00
A3 | Okafor | 2023-11-30T23:10:00Z | 45.25
"""
FIRINGS = """No. | Date | Programme | Fired by | kWh | Result
1 | 10.01.2026 | P2 | Hester Q. | 61 | good
2 | 7 March 2026 | P3 | Hester Q. | 81 | pinholes
3 | 03/06/2026 | P2 | Ansel B. | 64 | good
4 | 2025-10-24 | P2 | Ansel B. | 69 | good
"""
REPAIRS = """tagged | machine | mended | cost £ | Hours on saw [h] | Downtime [h]
2026-01-09 | Saw | 2026-03-20 | 86.00 | 600 | 3
14.03.2026 | Bandsaw | 2026-03-16 | 22.50 | 650 | 1.5
2026-06-22 | Sander |  |  | 700 | 0
2025-10-19 | Bandsaw | 2026-01-30 | 47.00 | 540 | 4
"""
MEMBERS = """tag | name | class | joined | last seen
0117 | Pia Thorn | Full | 2009-04-02 | 2026-11-18
0322 | Ivo Castle | Business | 2022-11-11 | 2026-11-20
0377 | Osric Tandy | Business | 2025-06-16 | 2026-11-12
"""
QUARTERS = """Quarter | Apples delivered (t) | Rejected (t)
Q1 2026 | 12.4 | 0.3
Q3 2026 | 48.6 | 1.9
"""
SPOOLS = """spool | material | colour | left (g) | supplier
F01 | PLA | black | 95 | Gossard
F04 | PETG | clear | 375 | Lumbard & Fisk
F05 | ABS | grey | 440 | Lumbard & Fisk
"""


def bakery(question: str) -> str:
    return said(question, BAKERY, "Price list of the bakery, breads 2026")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does the walnut stick cost?", "Walnut stick: Price 4.20 €."),
        ("How much does a Milk plait weigh?", "Milk plait: Weight 600 g."),
        ("Which bread is the cheapest?", "Seed roll: Price 0.95 €, the lowest of 5 rows."),
        ("What is the heaviest bread of the bakery?", "Farmer's loaf: Weight 1,000 g, the highest of 5 rows."),
        ("Which wheat bread is the heaviest?", "Milk plait: Weight 600 g, the highest of 3 rows."),
        ("How many breads are vegan?", "3 of 5 rows with Vegan: yes: Farmer's loaf; Walnut stick; Black pumpernickel."),
        ("Which breads are not vegan?", "Seed roll; Milk plait (Vegan: no)."),
        ("Which breads are made of rye?", "Farmer's loaf; Black pumpernickel (rye)."),
        ("What do the rye breads cost together?", "Price: 5.80 + 3.60 = 9.40 € (rows 1, 4; rye)."),
        (
            "What is the average price of the wheat breads?",
            "Price: (0.95 + 4.20 + 4.20) / 3 = 3.12 € (rows 2, 3, 5; wheat).",
        ),
        (
            "Which breads cost more than 4 euros?",
            "Farmer's loaf; Walnut stick; Milk plait (Price > 4).",
        ),
        ("How many breads weigh less than 500 g?", "2 of 5 rows with Weight < 500: Seed roll; Walnut stick."),
        (
            "What is the difference in price between the walnut stick and the seed roll?",
            "Price: 4.20 − 0.95 = 3.25 € (Walnut stick against Seed roll).",
        ),
        ("How many breads were baked in April?", "2 of 5 rows: Black pumpernickel; Milk plait."),
        ("Which bread was baked last, the latest?", "Milk plait: Baked on 2026-04-02, the latest of 5 rows."),
        ("Which bread has the best weight?", "Farmer's loaf: Weight 1,000 g, the highest of 5 rows."),
    ],
)
def test_a_question_that_is_certain_is_worked_out(question: str, answer: str) -> None:
    assert bakery(question) == answer


@pytest.mark.parametrize(
    "question",
    [
        "What does the spelt loaf cost?",
        "Who bakes the walnut stick?",
        "What did the walnut stick cost in 2019?",
        "Where does the rye come from?",
        "How many people work in the bakery?",
        "What is the highest mountain of Norway?",
        "Who owns the oldest bakery in Leeds?",
        "How much does Ingrid Solheim earn?",
        "When was the bakery founded?",
        "Hello, how are you?",
        "What is the serial number of the walnut stick?",
    ],
)
def test_what_the_table_does_not_say_for_certain_is_left_alone(question: str) -> None:
    assert bakery(question) == ""


@pytest.mark.parametrize(
    ("question", "table", "answer"),
    [
        ("How many kWh did the firing of 7 March 2026 take?", FIRINGS, "No. 2, 7 March 2026: kWh 81."),
        (
            "Among the P2 firings of 2026, which was the highest consumption in kWh?",
            FIRINGS,
            "No. 3: kWh 64, the highest of 2 rows.",
        ),
        ("What did the repairs of 2026 cost altogether?", REPAIRS, "cost £: 86.00 + 22.50 = 108.50 (rows 1, 2)."),
        (
            "How many hours of downtime were there in 2026 altogether?",
            REPAIRS,
            "Downtime: 3 + 1.5 + 0 = 4.5 h (rows 1 to 3).",
        ),
        ("What did the repairs mended in January 2026 cost?", REPAIRS, "Bandsaw, 2025-10-19: cost £ 47.00."),
        ("Who is in the business class?", MEMBERS, "tag 0322: name Ivo Castle; tag 0377: name Osric Tandy."),
        ("Which class of membership does Pia Thorn have?", MEMBERS, "tag 0117, Pia Thorn: class Full."),
        ("Since when has Ivo Castle been a member?", MEMBERS, "tag 0322, Ivo Castle: joined 2022-11-11."),
        ("how many grams of black PLA do we have left", SPOOLS, "F01, PLA, black: left 95 g."),
        ("How many kWh did we use?", FIRINGS, "kWh: 61 + 81 + 64 + 69 = 275 (rows 1 to 4)."),
        (
            "How many tonnes did the farm deliver in the first quarter of 2026?",
            QUARTERS,
            "Q1 2026: Apples delivered 12.4 t.",
        ),
        # What is not a column is not told by a list of rows, and minutes are not counted in rows.
        ("Which account number do we have with Lumbard & Fisk?", SPOOLS, ""),
        ("How many minutes does the programme hold that Hester fired?", FIRINGS, ""),
    ],
)
def test_columns_are_found_by_their_units_and_rows_by_their_own_dates(question: str, table: str, answer: str) -> None:
    about = {
        FIRINGS: "firing log kiln",
        REPAIRS: "red tag repairs",
        MEMBERS: "members",
        SPOOLS: "filament stock",
        QUARTERS: "farm",
    }
    assert said(question, table, about[table]) == answer


@pytest.mark.parametrize(
    ("dates", "answer"),
    [
        ("03/08/2026 17/06/2026", "paint: Cost 4."),
        ("08/03/2026 06/17/2026", "paint: Cost 4."),
        ("03/08/2026 7 June 2026", "paint: Cost 4."),
        ("03/08/2026 01/06/2026", ""),
    ],
)
def test_the_other_dates_of_a_column_tell_which_number_is_the_month(dates: str, answer: str) -> None:
    first, _, second = dates.partition(" ")
    table = f"What | When | Cost\npaint | {first} | 4\nbrush | {second} | 5\n"
    assert said("How much was spent in August 2026?", table, "shopping") == answer
    assert said("How much was spent in 2026 altogether?", table, "shopping").startswith("Cost: 4 + 5 = 9 (row")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which customer placed the earliest order?", "Okafor (A3): placed 2023-11-30, the earliest of 3 rows."),
        ("Who ordered most recently?", "Mori (A2): placed 2024-05-17, the latest of 3 rows."),
        ("When was the most recent order placed?", "A2: placed 2024-05-17, the latest of 3 rows."),
        ("When did they pay the latest order?", "A2: placed 2024-05-17, the latest of 3 rows."),
        ("How much was the newest order?", "80.00 (A2): placed 2024-05-17, the newest of 3 rows."),
        ("How much was the most recent order?", "80.00 (A2): placed 2024-05-17, the latest of 3 rows."),
    ],
)
def test_of_the_latest_row_what_is_asked_for_comes_first(question: str, answer: str) -> None:
    assert said(question, ORDERS, "orders") == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many patients did Surgery have in Q3 2025?", "Surgery: Q3 2025 1.275."),
        ("Which station had the most patients in Q2 2025?", "Surgery: Q2 2025 1,310, the highest of 3 rows."),
        ("What is the sum of Q1 2025?", "Q1 2025: 1,240 + 806 + 415.5 = 2,461.5 (rows 1 to 3)."),
    ],
)
def test_a_column_is_told_by_its_period_and_numbers_by_their_column(question: str, answer: str) -> None:
    assert said(question, CLINIC, "Clinic patients 2025") == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many seats does room 201 have?", "Room 201: Seats 80."),
        ("Which rooms have a projector?", "Room 101; Room 201 (Projector: yes)."),
        ("Which rooms have no projector?", "Room 102; Room 305 (Projector: no)."),
        ("Which rooms have at least 20 seats?", "Room 101; Room 201 (Seats >= 20)."),
        ("How many seats are there in all rooms together?", "Seats: 24 + 12 + 80 + 12 = 128 (rows 1 to 4)."),
        ("Which room has the fewest seats?", "Room 102; Room 305: Seats 12, the lowest of 4 rows."),
        ("How many seats does room 202 have?", ""),
    ],
)
def test_a_number_beside_a_head_names_a_row(question: str, answer: str) -> None:
    assert said(question, ROOMS, "Rooms of the school") == answer


@given(st.lists(st.integers(0, 10**6), min_size=2, max_size=12))
def test_sums_and_ends_are_those_of_the_column(figures: list[int]) -> None:
    rows = "\n".join(f"{chr(97 + n) * 3} | {f:,} | x" for n, f in enumerate(figures))
    (table,) = tables([f"Hive | Honey | Note\n{rows}"])
    total = compute("How much honey do the hives have in total?", table, "hives", lambda term: 1.0)
    most = compute("Which hive has the most honey?", table, "hives", lambda term: 1.0)
    body = [int(r.cells[1].replace(",", "")) for r in table.body]
    assert total is not None and f"= {Decimal(sum(body)):,} (" in total.text
    ends = {int(r.cells[1].replace(",", "")) for r in most.rows} if most else {max(body)}
    assert ends == {max(body)}


SHOP = """Lamp | Maker | In stock
Desk lamp | Halo | 4
Reading lamp | Halo | 0
Lantern | Vesper | 2
"""


def test_out_of_stock_is_what_there_is_none_of() -> None:
    assert said("Which lamps are out of stock?", SHOP) == "Reading lamp."


def test_a_question_of_what_something_is_does_not_list_the_rows_that_name_it() -> None:
    assert said("What are Halo lights made of?", SHOP) == ""


def test_a_year_within_the_number_of_a_paper_is_no_year_of_its_dates() -> None:
    bills = "No | Client | Sent | Paid on\n2025-06 B | Volt | 2025-02-28 | 2026-01-18\n2025-07 B | Ash | 2025-03-01 |\n"
    assert said("When was bill 2025-06 B paid?", bills, "bills") == "2025-06 B: Paid on 2026-01-18."
    assert said("When was bill 2025-06 B sent?", bills, "bills") == "2025-06 B: Sent 2025-02-28."
