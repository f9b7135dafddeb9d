"""Numbers in words and in digits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.models.numerals import as_said, both_ways, in_words, value


@given(st.integers(0, 999_999))
def test_a_number_in_words_is_read_as_the_same_number(n: int) -> None:
    assert value(in_words(n)) == n


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("twenty-five", 25),
        ("one hundred and two", 102),
        ("five million", 5_000_000),
        ("two three", None),
        ("twenty-first", 21),
        ("first three", None),
        ("hundred hundred", None),
    ],
)
def test_words_that_form_one_number_are_told_from_several(said: str, number: int | None) -> None:
    assert value(said) == number


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("What holds for a batch size of one?", "What holds for a batch size of 1?"),
        ("Which one of the 30 lines is it?", "Which one of the thirty lines is it?"),
        ("Who has 5 million speakers?", "Who has five million speakers?"),
        ("Who paid five million dollars?", "Who paid 5 million dollars?"),
        ("What cost 3,000 or 3.50 in 1968, at 10:30?", "What cost three thousand or 3.50 in 1968, at 10:30?"),
        ("Which one is a million?", "Which one is a million?"),
    ],
)
def test_a_question_is_put_with_its_numbers_in_the_other_form(question: str, other: str) -> None:
    assert both_ways(question) == other


@pytest.mark.parametrize(
    ("question", "text", "put"),
    [
        ("Why a batch size of 1?", "We chose a batch size of one.", "Why a batch size of one?"),
        ("Why a batch size of one?", "We chose a batch size of 1.", "Why a batch size of 1?"),
        ("Which one is used?", "Step 1 is used.", "Which one is used?"),
        ("What did the 8 hires miss?", "Eight hires left, 8 hires came.", "What did the 8 hires miss?"),
        ("What did the 8 hires miss?", "Eight tools.", "What did the 8 hires miss?"),
        ("What takes twelve to fourteen months?", "Some 12 to 14 months.", "What takes 12 to 14 months?"),
        ("What do you set to sixty-four?", "Set the GPUs to 64.", "What do you set to 64?"),
    ],
)
def test_a_number_takes_the_form_that_stands_beside_the_same_word(question: str, text: str, put: str) -> None:
    assert as_said(question, [text]) == put
