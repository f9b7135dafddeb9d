"""Which questions a table is counted for, and which ask for a number that stands in it."""

from __future__ import annotations

import pytest

from ragweave.minds.small.tables.counting import counting
from ragweave.tests.support.tables import said

PAPERS = """Holder | Paper | Number | Expires
Ida | passport | C4F81 | 14 March 2027
Jon | passport | C7K20 | 2 August 2026
Jon | driving licence | D990 | 2 August 2031
"""
MEMBERS = """Name | Voice | Joined
Ida Lund | alto | 2008
Jon Ash | bass | 2024
Una Day | alto | 2024
"""


@pytest.mark.parametrize(
    ("question", "counts"),
    [
        ("What is the number of members?", True),
        ("the total number of our guests from Leeds", True),
        ("What is the number of staff?", True),
        ("What number of people came?", True),
        ("the number of seed rolls baked in May", True),
        ("How many passports are there?", True),
        ("What is the number of Ida's passport?", False),
        ("what's the number of idas passport", False),
        ("What is the number of the shed?", False),
        ("What is the number of the bus?", False),
        ("What is the number of the buses?", True),
        ("What is the number of Hotel Adler?", False),
        ("What is the number of flat 3?", False),
        ("What is the policy number of our cars?", False),
        ("What is the serial number of the stick?", False),
    ],
)
def test_the_number_of_one_thing_is_not_how_many_there_are(question: str, counts: bool) -> None:
    assert bool(counting(question)) is counts


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the number of Ida's passport?", "Ida: Number C4F81."),
        ("what's the number of Jon's driving licence", "Jon, driving licence: Number D990."),
        ("What is Jon's passport number?", "Jon, passport: Number C7K20."),
        ("whats idas passport number", "Ida: Number C4F81."),
        ("How many passports are there?", "2 of 3 rows with passport: Ida; Jon, passport."),
        ("What is the number of Ida's driving licence?", ""),
        ("What is Ida's phone number?", ""),
    ],
)
def test_a_number_that_is_asked_for_is_read_off_its_column(question: str, answer: str) -> None:
    assert said(question, PAPERS, "passports and licences") == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many came in 2024?", ""),
        ("How many in 2024?", ""),
        ("How many joined in 2024?", "2 of 3 rows with Joined 2024: Jon Ash; Una Day."),
        ("How many members in 2024?", "2 of 3 rows with Joined 2024: Jon Ash; Una Day."),
    ],
)
def test_a_year_alone_does_not_say_that_rows_are_counted(question: str, answer: str) -> None:
    assert said(question, MEMBERS, "members of the choir") == answer
