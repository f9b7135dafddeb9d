from __future__ import annotations

import pytest

from ragweave.minds.small.question import lexicon
from ragweave.minds.small.question.lexicon import TAUGHT, asked_abroad, in_english, translated
from ragweave.models.text import stem, terms


@pytest.mark.parametrize(
    ("language", "question", "english"),
    [
        ("de", "Wie viele Schlüssel bekommt Kenji?", "how many key get Kenji?"),
        ("de", "Wann hat Linnet Geburtstag?", "when Linnet birthday?"),
        ("fr", "À quelle heure part le car pour Lindau ?", "what time leave coach Lindau?"),
        ("es", "¿Cuánto cuesta el amarre en Muros?", "how much cost berth Muros?"),
    ],
)
def test_a_question_is_asked_in_english_word_by_word_and_keeps_its_names(
    language: str, question: str, english: str
) -> None:
    assert translated(question, language) == english


def test_evidence_is_read_in_english_by_what_its_words_stand_for() -> None:
    assert {stem("dog"), stem("called")} <= in_english(terms("Der Hund heißt Schlick"), "de")
    assert in_english(terms("The car park"), "en") == frozenset()
    # “Car” is a coach in French alone.
    assert stem("coach") not in in_english(["car"], "de")


def test_an_english_question_is_searched_in_the_words_of_the_languages_held() -> None:
    assert asked_abroad("What does the dog of Hansen eat?", ["de"]) == "hund essen isst speisen Hansen"
    assert asked_abroad("Who is Hansen?", ["de"]) == ""
    assert asked_abroad("What does the dog eat?", ["ja"]) == ""


def test_every_row_has_a_word_in_each_language() -> None:
    rows = [row.split("|") for row in lexicon._ROWS.strip().splitlines()]
    assert {len(row) for row in rows} == {1 + len(TAUGHT)}
    assert all(terms(cell) for row in rows for cell in row)
