"""Years that are said in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.models.calendar import NUMBER_WORDS, years_in_digits

WORDS = list(NUMBER_WORDS)
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
YEARS = st.integers(1600, 2099).filter(lambda y: y % 100 and y not in range(2001, 2010))


def below_hundred(n: int) -> str:
    if n < 20:
        return WORDS[n]
    return " ".join([TENS[n // 10 - 2], *([WORDS[n % 10]] if n % 10 else [])])


def said(year: int) -> str:
    century, rest = divmod(year, 100)
    return f"{below_hundred(century)} {'oh ' if rest < 10 else ''}{below_hundred(rest)}"


@given(YEARS)
def test_every_year_that_is_said_in_two_halves_is_read(year: int) -> None:
    told = f"It was in {said(year)} that it began, not before {said(year).title().replace(' ', '-', 1)}."
    assert years_in_digits(told) == f"It was in {year} that it began, not before {year}."


@pytest.mark.parametrize(
    "text",
    [
        "twenty five people", "nineteen of twenty", "nineteen sixty hundred", "two thousand", "two thousand people",
        "two thousand nine hundred", "sixty eight", "a hundred and nineteen", "eleven thirty", "twenty one", "oh nine",
    ],
)  # fmt: skip
def test_other_numbers_stay_as_they_are(text: str) -> None:
    assert years_in_digits(text) == text
