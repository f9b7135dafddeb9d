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
