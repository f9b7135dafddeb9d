"""Which rows of a table lie before or after what a question names."""

from __future__ import annotations

import pytest

from ragweave.minds.small.tables.moments import sides
from ragweave.tests.support.tables import said

STAFF = """Name | Department | Salary | Started | Born
Anna Brock | Sales | 3200 | 2019-04-01 | 1980
Anna Cole | Finance | 4100 | 2021-09-15 | 1990
Boris Dahl | Sales | 2900 | 2023-01-10 | 1975
Cleo Ertl | IT | 5200 | 2018-07-01 | 2000
Dora Finn | IT | 4800 | 2022-02-01 | 1988
Emil Gray | Finance | 3900 | 2020-11-20 | 1991
"""
LEDGER = """Day | Shop | What | Amount (EUR)
2025-03-04 | Tool Barn | paint | 84.50
2025-03-09 | Corner | weekly shop | 61.20
2025-03-16 | Corner | weekly shop | 58.75
2025-04-02 | Volt | washing machine | 589.00
2025-05-06 | Corner | weekly shop | 72.10
"""
VISITS = "month | visits\nApril | 280\nMay | 301\nJune | 388"


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("How many people started after 2020?", "Anna Cole; Boris Dahl; Dora Finn."),
        ("How many people were hired after 2020?", "Anna Cole; Boris Dahl; Dora Finn."),
        ("Wie viele Personen haben nach 2020 angefangen, started?", "Anna Cole; Boris Dahl; Dora Finn."),
        ("How many people started since 2020?", "Anna Cole; Boris Dahl; Dora Finn; Emil Gray."),
        ("How many people started in 2020 or later?", "Anna Cole; Boris Dahl; Dora Finn; Emil Gray."),
        ("How many people started from 2020 on?", "Anna Cole; Boris Dahl; Dora Finn; Emil Gray."),
        ("How many people started before 2020?", "Anna Brock; Cleo Ertl."),
        ("How many people started before 1 April 2019?", "Cleo Ertl."),
        ("How many people started between 2019 and 2021?", "Anna Brock; Anna Cole; Emil Gray."),
        ("How many people started in 2020?", "Emil Gray."),
        ("How many people were born before 1980?", "Boris Dahl."),
        ("How many people were born in 1991 or later?", "Cleo Ertl; Emil Gray."),
        # Whether 2020 is in it, who left, and which day 03/04 is, is not certain.
        ("How many people started until 2020?", ""),
        ("How many people left after 2020?", ""),
        ("How many people started after 03/04/2021?", ""),
        ("How many people have worked here since 2019?", ""),
        ("Who started last before 2020?", ""),
    ],
)
def test_rows_before_and_after_a_year_or_day_are_told_apart(question: str, named: str) -> None:
    told = said(question, STAFF, "staff people")
    assert told.partition(": ")[2] == named


@pytest.mark.parametrize(
    ("question", "total"),
    [
        ("How much did we spend after March?", "589.00 + 72.10 = 661.10"),
        ("How much did we spend before April 2025?", "84.50 + 61.20 + 58.75 = 204.45"),
        ("How much did we spend at the Corner after 10 March?", "58.75 + 72.10 = 130.85"),
        ("How much did we spend from 5 to 20 March 2025?", "61.20 + 58.75 = 119.95"),
        ("How much did we spend between March and April?", "84.50 + 61.20 + 58.75 + 589.00 = 793.45"),
        ("How much did we spend by April?", ""),
    ],
)
def test_amounts_of_a_time_are_added_up(question: str, total: str) -> None:
    told = said(question, LEDGER)
    assert total in told and bool(total) == bool(told)


@pytest.mark.parametrize("question", ["How many visits were there after April?", "How many visits since May?"])
def test_months_without_a_date_have_no_before_and_after(question: str) -> None:
    assert said(question, VISITS) == ""


def test_what_is_due_after_some_kilometres_is_no_year() -> None:
    assert not sides("What is due after 2000 km?") and not sides("How many seats are there in hall 2020?")


@pytest.mark.parametrize("question", ["How much was paid by June?", "How many things were bought by June?"])
def test_by_june_is_no_month_alone_where_somebody_is_called_so(question: str) -> None:
    paid = "Date | Who | What | Amount\n2025-03-04 | June | paint | 84\n2025-05-09 | Ben | nails | 61\n"
    assert said(question, f"{paid}2025-06-16 | June | glue | 58\n2025-07-02 | Ben | lamp | 20\n") == ""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which drivers started before Cid Dow?", ""),
        ("How many drivers started after Dow?", ""),
        ("Which drivers other than Cid Dow have a van?", "Ann Bell: Van red; Bob Cray: Van blue."),
        ("How many more tours has Ann Bell than Cid Dow?", "Tours: 40 − 30 = 10 (Ann Bell against Cid Dow)."),
    ],
)
def test_who_is_only_a_bound_is_not_told_as_who_is_asked_for(question: str, answer: str) -> None:
    drivers = (
        "Driver | Started | Van | Tours\nAnn Bell | 2019-03-01 | red | 40\nBob Cray | 2021-06-01 | blue | 25\n"
        "Cid Dow | 2020-01-10 | | 30\n"
    )
    assert said(question, drivers, "drivers") == answer
