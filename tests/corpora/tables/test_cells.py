from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.tables.cells import as_number, read_columns


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1), st.sampled_from([",", ".", " ", "'", ""]))
def test_whole_numbers_come_back_as_they_were(values: list[int], between: str) -> None:
    # Two columns: decimals with the other mark say which convention the table has.
    mark = "," if between == "." else "."
    decimals = [f"{n}{mark}5" for n in range(len(values))]
    cells = [f"{n:,}".replace(",", between) for n in values]
    read = read_columns([cells, decimals])[0]
    assert (read.kind, read.values, read.odd) == ("integer", values, [])


@given(st.lists(st.integers(-(10**8), 10**8), min_size=1), st.sampled_from([",.", ".,", " ,", "'."]))
def test_decimals_come_back_as_they_were(hundredths: list[int], signs: str) -> None:
    between, mark = signs
    cells = [f"{n / 100:,.2f}".replace(",", "x").replace(".", mark).replace("x", between) for n in hundredths]
    read = read_columns([cells])[0]
    assert (read.kind, read.values) == ("real", [n / 100 for n in hundredths])


@given(
    st.lists(st.dates(date(1900, 1, 1), date(2100, 12, 31)), min_size=1),
    st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%B"]),
)
def test_days_come_back_as_they_were(days: list[date], form: str) -> None:
    cells = [f"{d.day} {d:%B} {d.year}" if form == "%B" else d.strftime(form) for d in days]
    read = read_columns([cells])[0]
    assert (read.kind, read.values) == ("date", [d.isoformat() for d in days])


@given(st.lists(st.text(), min_size=1))
def test_any_column_has_a_value_or_a_reason_for_each_cell(cells: list[str]) -> None:
    read = read_columns([cells])[0]
    assert len(read.values) == len(cells)
    lost = [
        n for n, (cell, value) in enumerate(zip(cells, read.values, strict=True)) if cell and value is None
    ]
    assert all(n in read.odd or len(cells[n]) == 1 for n in lost)


@pytest.mark.parametrize(
    ("cell", "value", "unit"),
    [
        ("$1,234.50", 1234.5, "$"),
        ("(1,234)", -1234, ""),
        ("−5 %", -5, "%"),
        ("12.50-", -12.5, ""),
        ("EUR 7", 7, "EUR"),
        ("3.5 kg", 3.5, "kg"),
        ("1,23,456", 123456, ""),
    ],
)
def test_an_amount_is_its_number_and_its_unit(cell: str, value: float, unit: str) -> None:
    found = as_number(cell, ".")
    assert found is not None
    assert found[:2] == (value, unit)


@pytest.mark.parametrize(
    "cell", ["00501", "12345678901234567890", "3-4", "12:30", "1.2.3", "v2", "(5", "", "12 Elm Road"]
)
def test_a_name_of_digits_is_no_amount(cell: str) -> None:
    assert as_number(cell, ".") is None


def test_a_column_that_is_sure_decides_for_one_that_is_not() -> None:
    assert read_columns([["1.234", "5.678"], ["1,5", "2,25"]])[0].values == [1234, 5678]
    unsure = read_columns([["1.234", "5.678"]])[0]
    assert unsure.values == [1.234, 5.678]
    assert "“1.234” is read as 1.234" in unsure.note


def test_days_that_cannot_be_told_from_months_stay_text_and_are_named() -> None:
    read = read_columns([["03/04/2025", "05/06/2025"]])[0]
    assert read.kind == "text"
    assert "03/04/2025" in read.note
    assert read_columns([["03/04/2025", "25/06/2025"]])[0].values == ["2025-04-03", "2025-06-25"]


def test_cells_of_another_kind_are_counted_as_such() -> None:
    read = read_columns([["1", "2", "3", "4", "5", "n/a", "-"]])[0]
    assert (read.kind, read.values, read.odd) == ("integer", [1, 2, 3, 4, 5, None, None], [5])


def test_currencies_that_differ_are_told_apart() -> None:
    read = read_columns([["5 EUR", "7 USD"]])[0]
    assert (read.values, read.units) == ([5, 7], ["EUR", "USD"])


def test_numbers_of_flats_are_no_amounts() -> None:
    assert read_columns([["10A", "11B", "12A"]])[0].kind == "text"
