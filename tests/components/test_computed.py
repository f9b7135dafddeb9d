from __future__ import annotations

from typing import Any

import pytest

from ragweave.components.computed import holds
from ragweave.components.evidence import Computed


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
