"""Cells that are written like small words: “IT” is a department, and “it” is none."""

from __future__ import annotations

import pytest

from ragweave.tests.support.tables import said

STAFF = """Name | Department | Salary | Remote
Anna Brock | Sales | 3200 | yes
Boris Dahl | Finance | 2900 | no
Cleo Ertl | IT | 5200 | yes
Dora Finn | IT | 4800 | no
"""
CASES = "State | Cases\nUS | 100\nWHO | 50\nFR | 70\n"
HOURS = "Name | Hours\nWill | 12\nMay | 9\nAnn | 7\n"
TYPES = "Room | Type | Rent\nLoft | A | 900\nHall | B | 700\nDen | A | 500\n"
IT = "Salary: (5,200 + 4,800) / 2 = 5,000 (rows 3, 4; IT)."


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        (STAFF, "What is the average salary in IT?", IT),
        (STAFF, "What is the average salary in the IT department?", IT),
        (STAFF, "what is the average salary in the it department", IT),
        (STAFF, "What is the total salary of Sales and IT?", "Salary: 3,200 + 5,200 + 4,800 = 13,200 (rows 1, 3, 4"),
        (STAFF, "How many people work remote in IT?", "1 of 4 rows with IT, Remote: yes: Cleo Ertl."),
        (STAFF, "What is the average salary in it?", ""),
        (STAFF, "What is the highest salary and who earns it?", "Cleo Ertl: Salary 5,200, the highest of 4 rows."),
        (STAFF, "How much is it in total, the salary?", "Salary: 3,200 + 2,900 + 5,200 + 4,800 = 16,100"),
        (CASES, "How many cases are there in the US?", "US: Cases 100."),
        (CASES, "How many cases does WHO have?", "WHO: Cases 50."),
        (CASES, "How many cases do we have in total, all of us?", ""),
        (HOURS, "How many hours does Will work?", "Will: Hours 12."),
        (HOURS, "How many hours will Ann work?", "Ann: Hours 7."),
        (HOURS, "How many hours will there be in total?", "Hours: 12 + 9 + 7 = 28"),
        (TYPES, "What is the total rent of type A?", "Rent: 900 + 500 = 1,400 (rows 1, 3; A)."),
    ],
)
def test_a_cell_is_named_as_it_is_written(text: str, question: str, answer: str) -> None:
    told = said(question, text, "staff people")
    assert told.startswith(answer) and bool(told) == bool(answer)
