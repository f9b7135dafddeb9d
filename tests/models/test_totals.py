"""Rows that add up others are no rows like them."""

from __future__ import annotations

import time

import pytest

from ragweave.models.table import tables
from ragweave.tests.minds.test_table_certain import said

BUDGET = """Category | Item | Cost
Kitchen | Oven | 800
Kitchen | Fridge | 650
Kitchen | Subtotal | 1450
Bath | Sink | 200
Bath | Tub | 900
Bath | Subtotal | 1100
 | Grand total | 2550
"""
NAMED = "Item | Cost\nOven | 800\nFridge | 650\nKitchen total | 1450\nSink | 200\nBath total | 200\nTotal: | 1650\n"
OFF = "Item | Cost\nOven | 800\nFridge | 650\nTotal | 1726\n"
SUMMEN = "Posten | Betrag\nHerd | 800\nOfen | 650\nZwischensumme | 1450\nBad | 200\nGesamtsumme | 1650\n"
FILMS = "Film | Minutes\nTotal Eclipse | 111\nSum of Us | 99\nAlien | 117\n"
ECLIPSES = "Year seen | Kind | Magnitude\nMay | total | 12\nJuly | partial | 5\nAugust | total | 10\n"


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        (BUDGET, "What is the total cost?", "Cost: 800 + 650 + 200 + 900 = 2,550 (rows 1, 2, 4, 5)."),
        (BUDGET, "What is the total cost of the kitchen?", "Cost: 800 + 650 = 1,450 (rows 1, 2; Kitchen)."),
        (BUDGET, "What is the most expensive item?", "Bath, Tub: Cost 900, the highest of 4 rows."),
        (BUDGET, "How many items are there in the bath?", "2 of 4 rows with Bath: Bath, Sink; Bath, Tub."),
        (NAMED, "What is the total cost?", "Cost: 800 + 650 + 200 = 1,650 (rows 1, 2, 4)."),
        (NAMED, "What is the cheapest item?", "Sink: Cost 200, the lowest of 3 rows."),
        (SUMMEN, "What is the total Betrag?", "Betrag: 800 + 650 + 200 = 1,650 (rows 1, 2, 4)."),
        # A total that holds another figure leaves open what it is the total of.
        (OFF, "What is the total cost?", ""),
        (OFF, "What is the most expensive item?", ""),
        (OFF, "What does the oven cost?", "Oven: Cost 800."),
        (FILMS, "What is the longest film?", "Alien: Minutes 117, the highest of 3 rows."),
        (ECLIPSES, "What is the highest magnitude?", ""),
    ],
)
def test_subtotals_and_totals_are_not_added_in(text: str, question: str, answer: str) -> None:
    assert said(question, text) == answer


def test_a_table_of_totals_alone_is_looked_through_in_no_time() -> None:
    (table,) = tables(["Item | Cost\n" + "total | 1\nsum | 2\nOven | 3\n" * 5000])
    begun = time.process_time()
    assert len(table.body) == 15_000 and time.process_time() - begun < 2
