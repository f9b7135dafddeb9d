"""What a question of a table denies: the rows that are left, and what is left alone."""

from __future__ import annotations

import pytest

from ragweave.tests.support.tables import said

HOSTEL = """Guest | Room | Diet | Status | Nights | Towel | Key back on
Ida Lund | 4 | vegan | confirmed | 3 | yes | 2026-05-04
Ben Roy | 7 | meat | cancelled | 2 | no |
Kit Moss | 9 | vegan | waiting | 4 | no | 2026-05-06
Una Day | 12 | fish | confirmed | 1 | yes |
"""
BOATS = """Boat | Berth | Fee 2026 | Mooring | Remarks
Heron | north | paid | buoy | red hull, leaks at the stern
Teal | south | not paid | jetty |
Wren | north | paid in part | jetty | two oars
Coot | south | paid | buoy |
"""
KEYS = """Name | Key | Phone
Ida Lund | shed | 0151 20
Ben Roy | |
Kit Moss | shed | 0170 44
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which guests are not vegan?", "Ben Roy; Una Day (Diet not vegan)."),
        ("which guests aren't vegan", "Ben Roy; Una Day (Diet not vegan)."),
        ("which of the guests do not eat vegan?", "Ben Roy; Una Day (Diet not vegan)."),
        ("How many guests have not confirmed?", "2 of 4 rows with Status not confirmed: Ben Roy; Kit Moss."),
        ("Which guests are unconfirmed?", "Ben Roy; Kit Moss (Status not confirmed)."),
        ("Which guests are neither vegan nor on meat?", "Una Day."),
        ("Which guests are not vegan or meat eaters?", "Una Day."),
        ("which rooms are not cancelled", "Ida Lund: Room 4; Kit Moss: Room 9; Una Day: Room 12."),
        # “Not yet” denies, and says no “but”; a no that is cut off denies nobody knows what.
        ("Which guests have not yet confirmed?", "Ben Roy; Kit Moss (Status not confirmed)."),
        ("How many nights are not yet confirmed?", "Nights: 2 + 4 = 6 (rows 2, 3; Status not confirmed)."),
        ("Which guests are not yet in room 4?", "Ben Roy; Kit Moss; Una Day (Room not 4)."),
        ("How many guests have not, while waiting, confirmed?", ""),
        # What stands before a no, or behind a verb of its own, is not denied.
        ("which vegan guests have not confirmed?", "Kit Moss."),
        ("which guests who are not vegan are confirmed?", "Una Day."),
        ("which guests who have not confirmed have a towel?", ""),
        ("How many nights do the guests stay who are not vegan?", "Nights: 2 + 1 = 3 (rows 2, 4; Diet not vegan)."),
        # One is left out.
        ("which guests other than Ida Lund are vegan?", "Kit Moss (Guest not Ida Lund, vegan)."),
        # A no that bounds, counts or asks denies nothing.
        ("which guests stay no more than 2 nights?", "Ben Roy; Una Day (Nights <= 2)."),
        # A head: those where nothing stands below it; yes and no as before.
        ("which guests have no towel?", "Ben Roy; Kit Moss (Towel: no)."),
        ("which guests have not brought the key back?", "Ben Roy; Una Day (no Key back on)."),
    ],
)
def test_a_denied_cell_means_the_rows_that_hold_another(question: str, answer: str) -> None:
    assert said(question, HOSTEL, "hostel guests") == answer


@pytest.mark.parametrize(
    "question",
    [
        "which guests are not vegan and confirmed?",  # the second may be denied or not
        "which guests has Tom not visited?",  # nothing of the table
        "which guests do not sleep in room 4?",  # where something is not done
        "which guests did not bring the key back in May?",  # another month, or never
    ],
)
def test_a_no_that_is_not_certain_leaves_the_table_unasked(question: str) -> None:
    assert said(question, HOSTEL, "hostel guests") == ""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which boats have paid?", "Heron; Coot (paid)."),
        ("Which boats are not paid?", "Teal."),  # a cell says so itself
        ("Which boats haven't paid?", ""),  # in part is neither
        ("Which boats have no oars?", ""),  # remarks do not sort
        ("Which boats are not on a buoy?", "Teal; Wren (Mooring not buoy)."),
    ],
)
def test_cells_that_deny_or_say_more_are_no_like_cells(question: str, answer: str) -> None:
    assert said(question, BOATS, "boats") == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who has no key to the shed?", "Ben Roy."),
        ("Who has no phone?", "Ben Roy."),
        ("Who is not without a phone?", ""),
        ("Which members are without a phone?", "Ben Roy (no Phone)."),
    ],
)
def test_a_blank_says_no_where_a_column_holds_but_one_value_or_its_head_is_denied(question: str, answer: str) -> None:
    assert said(question, KEYS, "members") == answer


def test_what_is_taken_out_of_something_is_not_denied() -> None:
    funds = "Year | Paid in (EUR) | Taken out (EUR)\n2023 | 900 | 613\n2024 | 950 | 40\n"
    question = "In which year was the most taken out of the reserve?"
    assert said(question, funds, "reserve") == "2023: Taken out 613 EUR, the highest of 2 rows."


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which regions bought no desk?", ""),  # who bought a lamp bought a desk as well
        ("How many regions never bought a desk?", ""),
        ("Which regions bought no desk in 2025?", "South, stool; West, lamp (Product not desk, Year 2025)."),
        ("Which regions have not paid?", "North, desk; West, lamp (Status not paid)."),
        ("How many units are not desks?", "Units: 4 + 2 + 5 = 11 (rows 2, 4, 6; Product not desk)."),
    ],
)
def test_what_one_row_is_not_is_not_said_of_what_other_rows_tell_of_as_well(question: str, answer: str) -> None:
    sales = (
        "Region | Product | Units | Status | Year\nNorth | desk | 3 | open | 2024\nNorth | lamp | 4 | paid | 2024\n"
        "South | desk | 1 | paid | 2024\nSouth | stool | 2 | paid | 2025\nWest | desk | 6 | paid | 2024\n"
        "West | lamp | 5 | open | 2025\n"
    )
    assert said(question, sales, "sales") == answer


def test_a_job_without_a_day_on_which_it_was_done_is_not_done() -> None:
    jobs = (
        "Order | Client | Task | Done\n7 | Orme | roof | 2026-03-02\n8 | Pask | step | \n9 | Lee | gate | 2026-04-01\n"
    )
    assert said("Whose order has no done date yet?", jobs, "orders") == "Order 8: Client Pask."
    assert said("Which orders are not done yet?", jobs, "orders") == "8."
