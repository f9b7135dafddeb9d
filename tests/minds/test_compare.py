from __future__ import annotations

import pytest

from ragweave.minds.evidence import Strip
from ragweave.minds.small.answer.compare import compare


def strip(title: str, text: str) -> Strip:
    return {
        "id": f"{title}#0-{len(text)}", "evidence": title, "text": text, "title": title, "locator": {"file": title},
        "origin": "library", "query": "q", "hop": 1, "score": 0.5,
    }  # fmt: skip


HELD = [
    strip("Routes · Curlew Loop", "- 64 km, 710 m of climbing\n- coffee at the inn"),
    strip("Routes · Slate Road", "- 117 km, 1,905 m of climbing\n- coffee at the quarry"),
    strip("People · Otis", "Born: 2012"),
    strip("People · Wren", "Born: 2015"),
    strip("Tickets 2023", "A family ticket costs 17 euros."),
    strip("Tickets 2025", "A family ticket costs 21 euros."),
    strip("Income", "Source | 2023 (euros) | 2024 (euros)\nShop | 310 | 280\nTickets | 900 | 950"),
    strip("Dough", "Dough for rye rests for five hours, for wheat for three."),
]


def _held(cut: Strip) -> Strip:
    return next(s for s in HELD if s["evidence"] == cut["evidence"])


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Which route is longer, Curlew Loop or the Slate Road?", "Slate Road: 117 km, against 64 km for Curlew Loop."),
        ("Who is older, Otis or Wren?", "Otis: 2012, against 2015 for Wren."),
        ("How much more is the family ticket of 2025 than that of 2023?", "4 euros: 21 euros against 17 euros."),
        ("Did the shop bring in more in 2023 or in 2024?", "2023: 310 euros, against 280 euros for 2024."),
        ("Which dough rests longer, that for rye or that for wheat?", "Rye: five hours, against three for wheat."),
        ("Is the Slate Road shorter than Curlew Loop?", "No. Curlew Loop: 64 km, against 117 km for Slate Road."),
    ],
)
def test_both_values_are_told_and_the_winner_or_the_difference(question: str, told: str) -> None:
    found = compare(question, HELD, lambda term: 1.0)
    assert found is not None
    assert found.text == told
    assert len(found.rests) == 2
    assert all(r["text"] in s["text"] for r, s in zip(found.rests, map(_held, found.rests), strict=True))


def test_a_value_that_is_missing_leaves_it_undecided() -> None:
    for question in ("Who is older, Otis or Gus?", "How much more does a family ticket cost than last year?"):
        assert compare(question, HELD, lambda term: 1.0) is None


def test_other_questions_compare_nothing() -> None:
    assert compare("When was Otis born?", HELD, lambda term: 1.0) is None
    assert compare("Is the inn open on Mondays or Tuesdays?", HELD, lambda term: 1.0) is None


def test_cells_under_different_heads_of_one_table_are_not_weighed() -> None:
    wines = [strip("Wines", "Wine | Bottles | Price (EUR)\nBarolo | 0 | 38.00\nCava | 12 | 9.90\nChianti | 4 | 13.00")]
    for question, told in (
        ("What's the difference between Barolo and Chianti in price?", None),
        ("How many more bottles of Cava than of Chianti do we have?", "8: 12 against 4."),
    ):
        found = compare(question, wines, lambda term: 3.0)
        assert (found and found.text) == told
    birds = strip("Birds", "Year | Puffins, pairs | Razorbills, pairs\n2023 | 1,420 | 610\n2024 | 1,510 | 585")
    found = compare("How many more pairs of puffins than razorbills were there in 2024?", [birds], lambda term: 3.0)
    assert found is not None and found.text == "925: 1,510 against 585."


def test_a_price_is_weighed_against_a_price() -> None:
    plans = [
        strip("Plan 2023", "A lesson is 40 euros.\n\nDamage is paid up to 900 euros a lesson."),
        strip("The new plan 2026", "A lesson is 46 euros.\n\nDamage is paid up to 1,500 euros a lesson."),
        strip(
            "Rooms of Pell & Sons", "Rent per month 310, payable on 1 May\n\nDeposit 50 a room\n\nseen 25 April 2026"
        ),
        strip("Barn of Ada Marwen", "The rent is 290 euros a month.\n\nvisited 3 March 2026"),
    ]
    for question, told in (
        ("By how much is a lesson dearer under the new plan than under the one of 2023?",
         "6 euros: 46 euros against 40 euros."),
        ("Which costs less a month, the rooms of Pell & Sons or the barn of Ada Marwen?",
         "Barn of Ada Marwen: 290 euros, against 310 for rooms of Pell & Sons."),
        ("Which costs less a week, the rooms of Pell & Sons or the mill of Otis?", None),
    ):  # fmt: skip
        found = compare(question, plans, lambda term: 3.0)
        assert (found and found.text) == told
