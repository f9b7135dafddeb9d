"""Sentences that a rule must not take for plain statements."""

from __future__ import annotations

import pytest

from ragweave.models.doubt import is_bound, is_plain


@pytest.mark.parametrize(
    "text",
    [
        "The tower is not 90 m high.",
        "The shop may close early.",
        "It doesn't open.",
        "Der Turm ist nie geöffnet.",
        "Le pont pourrait fermer.",
        "Se cree que la torre es alta.",
        "The hall will open in 2027.",
    ],
)
def test_a_sentence_that_denies_doubts_plans_or_reports_is_not_plain(text: str) -> None:
    assert not is_plain(text)


@pytest.mark.parametrize(
    "text", ["The tower opened in May 1931.", "Der Turm ist 90 m hoch.", "La tour est haute."]
)
def test_a_statement_is_plain(text: str) -> None:
    assert is_plain(text)


@pytest.mark.parametrize(
    ("before", "bound"),
    [("It holds more than ", True), ("Es fasst mindestens ", True), ("It holds ", False), ("", False)],
)
def test_words_before_a_number_make_it_a_bound(before: str, bound: bool) -> None:
    assert is_bound(before) is bound
