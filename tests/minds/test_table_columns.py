"""Which column of a table is worked out, and that none is where it is not certain."""

from __future__ import annotations

import pytest

from ragweave.minds.small.tables.compute import compute
from ragweave.models.table import tables
from ragweave.tests.support.tables import said

VISITORS = """day | visitors | ticket
Monday | 120 | 8.00
Tuesday | ~300 | 8.00
Wednesday | 95 | 6.50
Thursday | closed |
Friday | 1 200 | 8.00
Saturday | 2k | 9.00
"""
CELLAR = """Wine | Year | Bottles | Price
Barolo | 2016 | 6 | 48.00
Riesling | 2021 | 12 | 11.50
Cava | 2020 | 3 | 9.90
"""
GUESTS = """Guest | Age | Arrives
Anna Brock | 34 | 2025-06-01
Ben Cole | 51 | 2025-06-02
Carla Dunn | 28 | 2025-06-01
"""
MEMBERS = (
    "Member | Joined | Fee\nRosa Tann | 2019-05-01 | 30\nSven Uhl | 2021-11-12 | 30\nTilda Voss | 2024-02-29 | 15\n"
)
SPENT = "Date | Shop | Amount\n2025-01-03 | Bakery Holm | 12.50\n2025-01-09 | Garage Pell | 310.00\n"
FUEL = "Stop | Litres | Cost\nUlm | 40 | 72.00\nBonn | 35 | 61.00\n"
HALL = "Item | Room | Quantity\nchairs | hall | 40\ntables | hall | 12\nchairs | office | 6\nlamps | office | 3\n"
ORDERS = "Customer | Product | Qty\nAnn | desk | 4\nBob | desk | 2\nAnn | lamp | 1\n"


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        (VISITORS, "How many visitors came in total?", ""),
        (VISITORS, "Which day had the most visitors?", ""),
        (VISITORS, "What is the average number of visitors?", ""),
        (VISITORS, "How many visitors came on Saturday?", "Saturday: visitors 2k."),
        (VISITORS, "What is the average ticket price?", "ticket: (8.00 + 8.00 + 6.50 + 8.00 + 9.00) / 5 = 7.9"),
        (CELLAR, "What does a bottle of Cava cost?", "Cava: Price 9.90."),
        (CELLAR, "What is the price of a bottle of Riesling?", "Riesling: Price 11.50."),
        (CELLAR, "How much is a bottle of Barolo?", "Barolo: Price 48.00."),
        (CELLAR, "How much is the bottle of Riesling?", "Riesling: Price 11.50."),
        (CELLAR, "How much are the bottles of Barolo?", ""),
        (CELLAR.replace("Bottles", "Stock"), "How much is the stock of Barolo?", "Barolo: Stock 6."),
        (CELLAR, "How many bottles of Cava do we have?", "Cava: Bottles 3."),
        (CELLAR, "How much do 3 bottles of Cava cost?", ""),
        (CELLAR, "How much are the bottles of Barolo worth?", ""),
        (CELLAR, "What is the total cost of the bottles?", ""),
        (FUEL, "How many litres did we get in Ulm?", "Ulm: Litres 40."),
        (GUESTS, "Who is the oldest guest?", "Ben Cole: Age 51, the highest of 3 rows."),
        (GUESTS, "Who is the youngest guest?", "Carla Dunn: Age 28, the lowest of 3 rows."),
        (GUESTS, "Which guest arrives the latest?", "Ben Cole: Arrives 2025-06-02, the latest of 3 rows."),
        (GUESTS.replace("| Age", "| Room"), "Who is the oldest guest?", ""),
        (GUESTS.replace("Arrives", "Born").replace("| Age", "| Room"), "Who is the oldest guest?", "Anna Brock; Carla"),
        (MEMBERS, "Who is the oldest member?", ""),
        (MEMBERS, "Who is the newest member?", "Tilda Voss: Joined 2024-02-29, the newest of 3 rows."),
        (SPENT, "What is the total fee?", ""),
        (SPENT, "What was the total cost?", "Amount: 12.50 + 310.00 = 322.50"),
        (SPENT, "Which is the oldest purchase?", "Bakery Holm: Date 2025-01-03, the oldest of 2 rows."),
    ],
)
def test_no_column_takes_the_place_of_the_one_that_is_asked_for(text: str, question: str, answer: str) -> None:
    told = said(question, text)
    assert told.startswith(answer) and bool(told) == bool(answer)


def test_of_two_tables_the_one_that_has_the_head_counts() -> None:
    fits = []
    for text in (SPENT, MEMBERS):
        found = compute("What is the total fee?", tables([text])[0], "club fee", lambda term: 1.0)
        assert found is not None
        fits.append(found.fit)
    assert fits[1] > fits[0]


PRICES = "Work | Adult | Child\ntrim | 14,- | 9,-\ndye | 78,- | -\n"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does a dye cost?", "dye: Adult 78,-."),
        ("What does a trim cost?", ""),
        ("What does a trim cost for a child?", "trim: Child 9,-."),
        ("What does a dye cost for a child?", ""),
    ],
)
def test_of_two_prices_the_one_that_a_row_has_is_told_and_none_in_the_place_of_the_other(
    question: str, answer: str
) -> None:
    assert said(question, PRICES, "hair") == answer


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        (HALL, "How many chairs are in the hall?", "chairs, hall: Quantity 40."),
        (HALL, "How many chairs are there?", "Quantity: 40 + 6 = 46 (rows 1, 3; chairs)."),
        (HALL, "How many tables are in the hall?", "tables: Quantity 12."),
        (HALL, "How many tables are in the office?", ""),
        (HALL.replace("tables", "stools"), "How many tables are in the office?", ""),
        (HALL, "How many items are in the hall?", "2 of 4 rows with hall: chairs, hall; tables."),
        (ORDERS, "How many desks did Ann order?", "Ann, desk: Qty 4."),
        (ORDERS, "How many customers ordered a desk?", "2 of 3 rows with desk: Ann, desk; Bob."),
        (ORDERS, "How many orders did Ann make?", "2 of 3 rows with Ann: Ann, desk; Ann, lamp."),
    ],
)
def test_a_quantity_says_how_many_there_are_of_what_a_cell_names(text: str, question: str, answer: str) -> None:
    assert said(question, text, "orders of the hall") == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which region has the most units?", ""),  # North, and no row says so
        ("Which half had the fewest units?", ""),
        ("Which region had the most units in the first half?", "South (lamp): Units 10, the highest of 2 rows."),
        ("Which region has the most expensive product?", "North (desk): Price 90 EUR, the highest of 4 rows."),
        ("Which product has the most units?", "lamp: Units 10, the highest of 4 rows."),
    ],
)
def test_what_has_the_most_of_several_rows_is_not_told_by_the_largest_row(question: str, answer: str) -> None:
    sales = (
        "Product | Region | Half | Units | Price (EUR)\n"
        "desk | North | first | 6 | 90\nlamp | South | first | 10 | 40\n"
        "stool | North | second | 6 | 20\nshelf | West | second | 2 | 60\n"
    )
    assert said(question, sales, "sales") == answer
