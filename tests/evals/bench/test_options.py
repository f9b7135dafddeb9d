"""Questions that state their options."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.evals.bench.options import options_of


@pytest.mark.parametrize(
    ("question", "stem", "options"),
    [
        ("Which is it?\nA. red\nB. blue\nC. green", "Which is it?", ("red", "blue", "green")),
        ("Which is it? (A) red (B) dark blue", "Which is it?", ("red", "dark blue")),
        ("Which is it? A) red B) blue", "Which is it?", ("red", "blue")),
        ("Which?\nA: 3.5 m\nB: 4.5 m", "Which?", ("3.5 m", "4.5 m")),
        ("Is plan A: cheaper than plan B?", "Is plan A: cheaper than plan B?", ()),
        ("Is plan A. better?\nA. yes\nB. no", "Is plan A. better?", ("yes", "no")),
        ("Which? A) red B) red", "Which? A) red B) red", ()),
        ("Which? A) red C) blue", "Which? A) red C) blue", ()),
        ("A) red B) blue", "A) red B) blue", ()),
        ("Who was J. S. Bach? And C. P. E.?", "Who was J. S. Bach? And C. P. E.?", ()),
        ("", "", ()),
    ],
)
def test_options_are_found_where_they_are_stated(question: str, stem: str, options: tuple[str, ...]) -> None:
    assert options_of(question) == (stem, options)


@given(st.text(max_size=200))
def test_any_text_is_either_whole_or_cut_into_two_options_or_more(text: str) -> None:
    stem, options = options_of(text)
    assert (stem == text and not options) or (len(options) >= 2 and stem and all(options))
