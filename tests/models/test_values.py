from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.models.values import day, days, decimal_mark, grouping_mark, number, written, yes

amounts = st.decimals(min_value=0, max_value=10**9, places=2, allow_nan=False)


@given(amounts, st.sampled_from([",.", ".,", " ,", " .", "'.", "\u202f,"]), st.sampled_from(["", " €", " kg", "%"]))
def test_a_number_is_read_back_from_every_notation_that_its_column_has(amount: Decimal, marks: str, unit: str) -> None:
    group, mark = marks
    said = f"{amount:,.2f}".translate(str.maketrans({",": group, ".": mark})) + unit
    found = number(said, decimal_mark([said, f"0{mark}5"]))
    assert found is not None
    assert (found.amount, found.places, found.unit) == (amount, 2, unit.strip())


@pytest.mark.parametrize(
    ("cell", "amount", "unit"),
    [
        ("€ 41.50", "41.50", "€"),
        ("41.50 EUR", "41.50", "€"),
        ("CHF 1'200.50", "1200.50", "chf"),
        ("$12", "12", "$"),
        ("12 %", "12", "%"),
        ("−5", "-5", ""),
        ("-3.5 °C", "-3.5", "°C"),
        ("(1,200)", "-1200", ""),
        ("9 months", "9", "months"),
        ("78.-", "78", ""),
        ("Fr. 1'200.–", "1200", "chf"),
    ],
)
def test_currency_percent_sign_and_unit_are_told_from_the_amount(cell: str, amount: str, unit: str) -> None:
    found = number(cell)
    assert found is not None and (found.amount, found.unit) == (Decimal(amount), unit)


@pytest.mark.parametrize("cell", ["first", "20:00 to 7:00", "60–85", "3 of 4", "E11 b", "2025-06-29", "1,2,3", "(5"])
def test_what_is_no_single_number_is_none(cell: str) -> None:
    assert number(cell) is None


def test_the_cells_beside_it_say_whether_a_mark_parts_thousands() -> None:
    assert decimal_mark(["1.240", "12,5"]) == ","
    assert decimal_mark(["1,240", "12.5"]) == "."
    assert decimal_mark(["1.240.000", "3.100"]) == ","
    assert decimal_mark(["1.240", "3.100"]) == ""
    assert decimal_mark(["02.03.2026", "1,5"]) == ","


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)))
def test_a_day_is_read_back_from_figures_and_words(when: date) -> None:
    forms = ["%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%Y年%m月%d日"]
    assert {day(when.strftime(form)) for form in forms} == {when}


def test_a_year_alone_and_a_day_that_is_none_are_no_dates() -> None:
    assert day("2024") is None
    assert day("31.02.2024") is None
    assert day("Juni 2025") == date(2025, 6, 1)


_WRITTEN = st.sampled_from(
    ["3 March 1875", "1999-12-31T10:11:12.5+01:00", "31. 12. 2001", "2012年3月4日", "Sept. 12, 1888"]
)


@given(st.lists(st.tuples(st.integers(0, 200), _WRITTEN), max_size=4), st.integers(0, 200))
def test_every_date_of_a_line_is_found_in_its_place_however_long_the_line(
    parts: list[tuple[int, str]], after: int
) -> None:
    line = "".join("so " * n + f"on {said} it " for n, said in parts) + "so " * after
    found = days(line)
    assert [when for _, _, when in found] == [days(said)[0][2] for _, said in parts]
    assert [day(line[a:b]) for a, b, _ in found] == [when for _, _, when in found]


def test_yes_and_no_are_read_in_several_languages() -> None:
    assert [yes(c) for c in ("yes", "ja", "✓", "No", "nein", "maybe")] == [True, True, True, False, False, None]


def test_an_amount_is_written_with_thousands_and_the_places_it_had() -> None:
    assert written(Decimal("53.50"), 2) == "53.50"
    assert written(Decimal("1831")) == "1,831"


def test_a_cell_of_thousands_of_digits_says_nothing_of_how_thousands_are_parted() -> None:
    assert grouping_mark(["1.200", "2.450", "1" * 5_000]) == ""
