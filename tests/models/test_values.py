from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.models.values import units_named, values


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It weighs 1,940 kg.", "1940 kilograms"),
        ("Es wiegt 1.940 kg.", "1940 kg"),
        ("1 940 feathers", "1940"),
        ("three towers", "3 towers"),
        ("einundzwanzig", "21"),
        ("twenty-one", "21"),
        ("3 May 1915", "1915-05-03"),
        ("03.05.1915", "May 3, 1915"),
        ("at 2:30 pm", "at 14:30"),
        ("3 million", "3,000,000"),
        ("1,5 t", "1.5 tonnes"),
        ("90 kr.", "90 kroner"),
        ("$5", "5 dollars"),
        ("12 %", "12 percent"),
        ("在5月", "in May"),
        ("on a Monday", "on 2026-11-23"),
    ],
)
def test_a_value_is_the_same_however_it_is_written(one: str, other: str) -> None:
    held = values(other)
    for value in values(one):
        if value.sure:
            assert any(value.same(h) and value.unit == h.unit for h in held), value


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("25 m", "25 cm"),
        ("2:30 am", "2:30 pm"),
        ("1.94", "1940"),
        ("-5 degrees", "5 degrees"),
        ("in March 1915", "in May 1915"),
        ("on a Tuesday", "on a Monday"),
    ],
)
def test_another_value_is_not_the_same(one: str, other: str) -> None:
    held = values(other)
    assert not all(any(v.same(h) and v.unit == h.unit for h in held) for v in values(one))


@pytest.mark.parametrize("text", ["GPT-4 is a model.", "K2 is high.", "It may rain.", "once", "the only one"])
def test_what_only_looks_like_a_value_is_not_required(text: str) -> None:
    assert [v.text for v in values(text) if v.sure] == []


def test_a_unit_may_be_apart_from_its_numbers() -> None:
    (metre,) = [v.unit for v in values("25 m")]
    assert metre in units_named("Item | Length (m)\nHose | 25")


@given(st.integers(1_000, 999_999_999))
def test_separators_of_thousands_change_nothing(number: int) -> None:
    written = [f"{number:,}", f"{number:,}".replace(",", " "), f"{number:,}".replace(",", "."), str(number)]
    assert all(any(str(number) in v.readings for v in values(text)) for text in written)


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert all(v.readings for v in values(text))


def test_a_number_that_opens_a_line_counts_though_the_line_above_ends_in_a_letter():
    held = values("grade | pages\n2026 | Moss on weirs")
    assert "2026" in {value.text for value in held}


@pytest.mark.parametrize("text", ["127.0.0.1", "version 1.2.3", "-10.0.0.1", "9" * 400, "1/2", "14:30"])
def test_what_is_no_finite_number_has_no_amount(text: str) -> None:
    first = values(text)[0]
    assert first.amounts() == []


@given(st.text() | st.text("0123456789.,:/-' ap%€"))
def test_amounts_never_raise_and_are_finite(text: str) -> None:
    for value in values(text):
        assert all(map(math.isfinite, value.amounts()))
