"""The fixed sentences: in the language of the question, with the same slots in each."""

from __future__ import annotations

import re

import pytest

from ragweave.minds.phrases import _PHRASES, phrase


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Who keeps the bees?", "nothing yet"),
        ("Wer hält die Bienen?", "noch leer"),
        ("谁养蜂？", "还是空的"),
        ("Qui garde les abeilles ?", "nothing yet"),
    ],
)
def test_a_sentence_is_in_the_language_of_the_question_and_in_english_where_there_is_none(
    question: str, said: str
) -> None:
    assert said in phrase("empty", question)


@pytest.mark.parametrize("which", sorted(_PHRASES))
def test_a_sentence_has_the_same_slots_in_every_language(which: str) -> None:
    english, *others = [set(re.findall(r"\{(\w+)\}", said)) for said in _PHRASES[which]]
    # What a language is called is known in English alone.
    assert all(english - {"language"} == other for other in others)
