import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragweave.minds.small.question.facts import facts, negations, with_noun


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,200 people", ["1200"]),
        ("1200 people", ["1200"]),
        ("twelve hundred", ["1200"]),
        ("three of them", ["3"]),
        ("thirty-five", ["35"]),
        ("a hundred and five", ["105"]),
        ("two thousand three hundred", ["2300"]),
        ("three and twenty-one", ["3", "21"]),
        ("two three people", ["2", "3"]),
        ("the first three years", ["3"]),
        ("one third", ["3"]),
        ("two hundred thousand", ["200000"]),
        ("a hundred and first", ["101"]),
        ("hundred-hundred", []),
        ("the twenty-first century", ["21"]),
        ("the 21st century", ["21"]),
        ("1.5 million", ["1500000"]),
        ("3.50", ["3.5"]),
        ("in the 1990s", ["1990"]),
        ("in nineteen sixty eight", ["1968"]),
        ("since two thousand and nine", ["2009"]),
        ("1914–1918", ["1914", "1918"]),
        ("１２３", ["123"]),
        ("二十人", ["20"]),
        ("一百二十公里", ["120"]),
        ("三个人", ["3"]),
        ("1万元", ["10000"]),
        ("一九九〇年", ["1990"]),
        ("one of the first", []),
        ("an F16 and a B52", []),
        ("一个人", []),
        ("no numbers", []),
    ],
)
def test_numbers_have_one_form(text: str, values: list[str]) -> None:
    assert [f.value for f in facts(text)] == values


@pytest.mark.parametrize(
    "text", ["3 May 1990", "May 3, 1990", "1990-05-03", "1990年5月3日", "the 3rd of May 1990", "３ May １９９０"]
)
def test_a_date_reads_the_same_in_every_form(text: str) -> None:
    assert {f.value for f in facts(text)} == {"month 5", "3", "1990"}


@pytest.mark.parametrize("text", ["It may rain.", "They march on.", "an august body"])
def test_month_names_that_are_other_words_count_only_beside_a_number(text: str) -> None:
    assert not facts(text)


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        ("5 km", "5 kilometres", True),
        ("5-km", "five kilometers", True),
        ("5 km", "5 miles", False),
        ("5 km", "5", True),
        ("$5", "5 dollars", True),
        ("$5", "5 euros", False),
        ("12 %", "12 percent", True),
        ("20公里", "20 km", True),
        ("20 minutes", "20 hours", False),
        ("5", "6", False),
    ],
)
def test_numbers_agree_when_their_units_do(one: str, other: str, agree: bool) -> None:
    assert facts(one)[0].agrees(facts(other)[0]) is agree


def test_a_currency_may_stand_before_its_amount() -> None:
    assert [(f.value, f.unit) for f in facts("EUR 78 a day, CHF 1,200 a month")] == [("78", "euro"), ("1200", "franc")]


def test_a_number_is_shown_as_it_was_written() -> None:
    assert [f.shown for f in facts("about 1,200 km and twenty minutes")] == ["1,200 km", "twenty minutes"]


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("It is not red.", ["not"]),
        ("He didn't come.", ["n't"]),
        ("He didn’t come.", ["n’t"]),
        ("Nobody came without a coat.", ["nobody", "without"]),
        ("It failed to open.", ["failed to"]),
        ("Not only red but blue.", []),
        ("no more than three", []),
        ('The film "Never Say Never" opened.', []),
        ("他没有离开。", ["没有"]),
        ("这不是书。", ["不"]),
        ("不仅如此", []),
        ("A knot in the north.", []),
    ],
)
def test_negations_are_found(sentence: str, shown: list[str]) -> None:
    assert [n.shown for n in negations(sentence)] == shown


def test_a_negation_reaches_the_next_content_words() -> None:
    assert negations("He did not win the great prize of Rome.")[0].scope == {"win", "great", "prize"}


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="0123456789,.- :/%$年月日万百十三kmMay ", max_size=40))
def test_any_text_can_be_read(text: str) -> None:
    assert all(f.value for f in facts(text))


@settings(deadline=None)
@given(st.integers(0, 10**12))
def test_separators_do_not_change_a_number(n: int) -> None:
    assert facts(f"{n:,}")[0].value == facts(str(n))[0].value == str(n)


def test_a_negation_stays_in_its_clause() -> None:
    assert negations("Norway did not join, and Spain followed in 1985.")[0].scope == {"join"}


@pytest.mark.parametrize("unit", ["1", "a", "a1", "1a", "一", "9."])
def test_a_long_text_without_a_blank_is_read_in_a_moment(unit: str) -> None:
    text = f"{unit * (12_000 // len(unit))} m of cloth"
    began = time.process_time()
    assert all(f.value for f in facts(text)) and with_noun("cloth", text) is not None
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("sentence", "values"),
    [
        ("The seats: 40, the rows 5.", {"40"}),
        ("It has 40 seats.", {"40"}),
        ("It takes 12 m of seats.", {"12"}),
        ("It has rows of 5.", set()),
    ],
)
def test_a_number_stands_with_its_noun(sentence: str, values: set[str]) -> None:
    assert with_noun("seat", sentence) == values
