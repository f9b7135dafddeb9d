"""Which rows are meant: of a month, of what somebody has, and none where only a name beside them is asked after."""

from __future__ import annotations

import pytest

from ragweave.models.table import MAX_ROWS, tables
from ragweave.tests.support.tables import said

LETS = "Flat | Let on | Bedrooms\nA | 2024-05-02 | 2\nB | 2024-05-17 | 2\nC | 2024-05-20 | 3\nD | 2024-06-01 | 2\n"
RENTS = """Flat | Tenant | Rent | Arrears
1A | Mrs. Doyle | 640.00 | 0.00
1B | O. Petrenko | 815.50 | 815.50
3 | Zoe Lind | 590.00 | 45.20
"""
GUESTS = "Name | Plus | Who asked\nKarel Novak | 1 | Gus\nPetra Mala | 0 | Mo\n"
BOARD = "Name | Role\nAnna Brock | Chair\nBen Cole | Treasurer\n"
JOINED = "Name | Joined\nAnna | 2023-01-05\nBen | 2023-03-09\nCid | 2023-02-11\n"
SLASHED = "Meeting | Date\nBoard | 03/08/26\nSales | 04/09/26\n"
BORN = "Name | Born\nAnna | 12/31/85\nBen | 03/15/02\nCem | 07/20/61\n"


@pytest.mark.parametrize(
    ("table", "question", "answer"),
    [
        (LETS, "How many flats with 2 bedrooms were let in May 2024?", "2 of 4 rows with Bedrooms 2: A; B."),
        (LETS, "Which flats were let in the last 7 days of May 2024?", ""),
        (LETS, "Which flat was let on 17 May 2024?", "B."),
        (LETS, "Which flat was let on May 17th, 2024?", "B."),
        (RENTS, "Who is in arrears?", "1B; 3."),
        (GUESTS, "Who is Gus?", ""),
        (GUESTS, "Who asked Petra Mala?", "Petra Mala: Who asked Mo."),
        (BOARD, "Who is the chair?", "Anna Brock."),
        (JOINED, "Which employees joined after 29 February?", ""),
        (SLASHED, "Which meetings were after 5 March?", ""),
        (BORN, "Who is the oldest?", "Cem: Born 1961-07-20, the oldest of 3 rows."),
        (BORN, "Who is the youngest?", "Ben: Born 2002-03-15, the youngest of 3 rows."),
    ],
)
def test_the_rows_that_are_meant_are_told_and_no_others(table: str, question: str, answer: str) -> None:
    assert said(question, table, "list") == answer


@pytest.mark.parametrize(
    "question", ["What is the total capacity of all venues?", "how many capacity do all venues have together?"]
)
def test_all_that_a_column_names_is_every_row(question: str) -> None:
    shows = "Date | Venue | Capacity\n2025-10-02 | Lido | 600\n2025-10-09 | Flex | 250\n2025-10-12 | Ekko | 800\n"
    assert said(question, shows, "tour") == "Capacity: 600 + 250 + 800 = 1,650 (rows 1 to 3)."


def test_amounts_of_different_currencies_are_not_added_up() -> None:
    owed = "Guest | Owes\nAnn | 1500 SEK\nBo | 300 DKK\nCy | 900 NOK\n"
    assert said("How much do the guests owe in total?", owed, "guests") == ""


def test_peaks_are_no_years_with_months() -> None:
    peaks = "Peak | Height (m)\nMont Blanc | 4808.7\nMonte Rosa | 4634.2\nDom | 4545.4\nWeisshorn | 4506.3\n"
    assert said("Which peak is the highest?", peaks, "Alps") == "Mont Blanc: Height 4,808.7 m, the highest of 4 rows."


def test_of_a_table_that_is_not_read_whole_nothing_is_worked_out() -> None:
    for text in (
        "Item | Price\n" + "Mug | 2\n" * (MAX_ROWS + 5),
        "Item | Price\nCable | USB | 10\nMouse | 20\nKeyboard | 30\n",
    ):
        assert said("What do all items cost together?", text, "prices") == ""
        assert not tables([text])[0].certain


BILLS = """Bill | Client | Amount (EUR) | Reminder sent | Note
1 | Orme | 100 | 2026-01-02 | late
2 | Pask | 50 | |
3 | Orme | 20 | 2026-03-01 |
4 | Quill | 7 | | by cheque
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "What do the bills for which a reminder went out add up to?",
            "Amount: 100 + 20 = 120 EUR (rows 1, 3; Reminder sent).",
        ),
        ("What do the bills with a note come to?", "Amount: 100 + 7 = 107 EUR (rows 1, 4; Note)."),
        ("What do the bills without a reminder add up to?", "Amount: 50 + 7 = 57 EUR (rows 2, 4; no Reminder sent)."),
        ("How many bills have a note?", "2 of 4 rows with Note: Bill 1; Bill 4."),
        ("What do the bills come to?", "Amount: 100 + 50 + 20 + 7 = 177 EUR (rows 1 to 4)."),
        ("What do the bills that were contested add up to?", ""),
        ("What do the contested bills come to?", ""),
    ],
)
def test_what_is_added_up_is_what_has_something_and_nothing_where_that_is_not_said(question: str, answer: str) -> None:
    assert said(question, BILLS, "bills") == answer


RIDES = """Week | Rider | Parcels | Km
7 | Ada | 10 | 100
7 | Bo | 5 | 60
8 | Ada | 12 | 120
8 | Bo | 6 | 70
9 | Ada | 11 | 80
10 | Ada | 20 | 300
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "How many km did Ada ride from week 7 to week 9?",
            "Km: 100 + 120 + 80 = 300 (rows 1, 3, 5; Week 7, 8, 9, Ada).",
        ),
        (
            "How many parcels were there per week on average in weeks 7–8?",
            "Parcels: (10 + 5 + 12 + 6) / 2 = 16.5 (rows 1 to 4; Week 7, 8).",
        ),
        ("How many km did Ada ride per day on average?", ""),
    ],
)
def test_weeks_from_one_to_another_are_meant_and_a_mean_is_of_what_it_is_asked_per(question: str, answer: str) -> None:
    assert said(question, RIDES, "rides") == answer
