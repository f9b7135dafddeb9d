from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.computed import holds
from ragweave.components.evidence import Computed
from ragweave.components.tables import TablePart, described, rows_shown, whole_rows
from ragweave.corpora.blocks import Block
from ragweave.corpora.tables.keep import tables_of

LINES = [f"Shop {n} | {n}" for n in range(1, 101)]
TABLE = tables_of([Block("\n".join(["Name | Price", *LINES]), "table", 1)], [])[0]
PART = TablePart(TABLE, tuple(enumerate(LINES, 1)), ((1, "Shop 1", 1),))


@given(st.integers(0, 100), st.integers(0, 100))
def test_rows_that_stand_whole_in_a_text_are_named(one: int, other: int) -> None:
    first, last = sorted((one, other))
    text = "\n".join(["Name | Price", *LINES[first:last]])
    said = rows_shown([PART], text)
    if last - first == 100:
        assert said == ""
    elif last - first > 1:
        assert said == f"rows {first + 1}-{last} of 100"
    else:
        assert said == (f"rows {last} of 100" if last > first else "a part of 100")


@given(st.integers(12, 1_000))
def test_a_row_that_is_cut_is_neither_shown_nor_counted(length: int) -> None:
    whole = "\n".join(["Name | Price", *LINES])
    text = whole_rows([PART], whole[:length])
    assert all(line in (*LINES, "Name | Price") or " | " not in line for line in text.split("\n"))


def test_rows_apart_are_named_apart() -> None:
    assert rows_shown([PART], "\n".join([LINES[0], LINES[1], " […] ", LINES[4]])) == "rows 1-2, 5 of 100"


def test_equal_rows_are_counted_one_after_the_other() -> None:
    part = TablePart(replace(TABLE, count=9), tuple((n, "a | 5") for n in range(1, 10)))
    assert part.shown("a | 5\na | 5\na | 5") == [1, 2, 3]


def test_the_row_above_what_names_the_rest_of_a_document_is_looked_at() -> None:
    text = f"{LINES[0]}\nShop 2 | \n\n[This document goes on, not shown here, under: Prices]"
    assert "Shop 2" not in whole_rows([PART], text)
    assert "goes on" in whole_rows([PART], text)


def test_a_table_is_described_once_and_named_by_its_number_then() -> None:
    before: dict[int, int] = {}
    text = "\n".join(LINES[:5])
    assert any("Table 2 has 100 rows" in line for line in described(2, [PART], text, before))
    assert before == {0: 2}
    assert described(3, [PART], text, before) == []
    assert rows_shown([PART], text, before) == "rows 1-5 of 100, table 2"


def test_a_table_that_is_too_large_says_why_it_cannot_be_asked() -> None:
    part = TablePart(replace(TABLE, refused="its table is too large"), ())
    assert described(1, [part], "", {}) == ["Of [1]: its table is too large."]


def test_a_small_table_that_is_shown_whole_needs_no_statement() -> None:
    small = tables_of([Block("Name | Price\na | 1\nb | 2", "table", 1)], [])[0]
    part = TablePart(small, ((1, "a | 1"), (2, "b | 2")))
    assert described(1, [part], "a | 1\nb | 2", {}) == []
    assert rows_shown([part], "a | 1\nb | 2") == ""


def result(
    *rows: list[Any], statement: str = "SELECT sum(amount) FROM t WHERE shop = 'Bell'", **more: Any
) -> Computed:
    made: Computed = {
        "statement": statement,
        "table": 1,
        "name": "t",
        "condition": "",
        "counted": 300,
        "total": 900,
        "columns": [],
        "rows": [*rows],
        "more": False,
        "places": [],
        "item": "",
        "notes": [],
    }
    return Computed(**{**made, **more})


SUM = result([588097.46])
BY_SHOP = result(
    ["Bell", 7, 12.5], ["Aldi", 5, 99.25], ["Cabin 7", 3, 4], statement="SELECT shop, count(*), sum(a) FROM t"
)


@pytest.mark.parametrize(
    "sentence",
    [
        "You spent 588,097.46 at Bell in total.",
        "Es waren 588.097,46 Euro.",
        "Au total 588 097,46 euros, in 300 of 900 rows.",
        "It was 588,097.5, rounded.",
        "Almost 588,097 in all.",
    ],
)
def test_a_sentence_whose_numbers_are_the_result_holds(sentence: str) -> None:
    assert holds(sentence, SUM)


@pytest.mark.parametrize(
    "sentence",
    [
        "You spent 588,097.64 at Bell in total.",
        "You spent 588,097.46 at Bell in 301 payments.",
        "You spent 58,809.46 at Bell.",
        "You spent a lot at Bell.",
        "You spent 588,097.46 at Bell on 2025-01-01.",
    ],
)
def test_a_sentence_with_another_number_or_none_does_not_hold(sentence: str) -> None:
    assert not holds(sentence, SUM)


@pytest.mark.parametrize(
    "sentence",
    [
        "Bell has 7 and Aldi 5.",
        "There were 7 at Bell and 5 at Aldi.",
        "Cabin 7 has 3 bookings.",
        "Aldi leads with 99.25.",
        "Bell, Aldi and Cabin 7.",
    ],
)
def test_numbers_stand_with_the_rows_that_they_are_of(sentence: str) -> None:
    assert holds(sentence, BY_SHOP)


@pytest.mark.parametrize(
    "sentence", ["Bell has 5 and Aldi 7.", "Cabin 7 has 5 bookings.", "Aldi leads with 12.5."]
)
def test_the_number_of_another_row_does_not_hold(sentence: str) -> None:
    assert not holds(sentence, BY_SHOP)


def test_numbers_of_the_condition_may_be_said() -> None:
    asked = result([4], statement="SELECT count(*) FROM t WHERE amount > 50 AND date >= '2025-03-01'")
    assert holds("4 payments of more than 50 since 2025-03-01.", asked)
    assert not holds("4 payments of more than 60.", asked)


def test_that_a_result_is_one_row_is_no_number_of_it() -> None:
    none = result([0], statement="SELECT count(*) FROM t WHERE shop = 'Lidgate' LIMIT 1", counted=0)
    assert holds("0 payments.", none)
    assert not holds("1 payment.", none)
