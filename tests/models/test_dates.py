"""Dates with a year in figures and in words."""

from __future__ import annotations

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from ragweave.models.dates import day, days, names_day


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)))
def test_a_day_is_read_back_from_figures_and_words(when: date) -> None:
    forms = ["%Y-%m-%d", "%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%Y年%m月%d日"]
    assert {day(when.strftime(form)) for form in forms} == {when}


def test_a_year_alone_and_a_day_that_is_none_are_no_dates() -> None:
    assert day("2024") is None
    assert day("31.02.2024") is None
    assert day("Juni 2025") == date(2025, 6, 1)
    assert names_day("1 march 2024") and names_day("2024-03-01") and not names_day("march 2024")


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
