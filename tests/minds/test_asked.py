from __future__ import annotations

import pytest

from ragweave.minds.small.question.asked import asked_of, cases


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was it built?", "time"),
        ("What year was it built?", "time"),
        ("How many steps are there?", "count"),
        ("Who built it?", "person"),
        ("Where does it stand?", "name"),
        ("Is it open on Mondays?", "yes"),
        ("Why is it red?", ""),
        ("What is the day job of Ada Brook?", ""),
        ("Up to what height may it be used?", "count"),
        ("What is the date of the race?", "time"),
        ("什么时候建成?", "time"),
        ("茶室几点关门?", "time"),
        ("有多少台阶?", "count"),
        ("谁建了它?", "person"),
    ],
)
def test_kind_of_thing_asked_for(question: str, kind: str) -> None:
    assert asked_of(question).kind == kind


@pytest.mark.parametrize(
    ("question", "sentence", "fit"),
    [
        ("When was it built?", "It was built in 1874.", 1.0),
        ("When was it built?", "It was built slowly.", 0.0),
        ("几点开门?", "每天上午十点开门。", 1.0),
        ("How many steps has it?", "It has 148 steps.", 1.0),
        ("How many steps has it?", "It has 148 windows.", 0.5),
        ("How many minutes does it cook?", "1.5 kg rhubarb", 0.2),
        ("How many minutes does it cook?", "It has many steps.", 0.0),
        ("Who built it?", "Ada Lund built it.", 1.0),
        ("Who built it?", "A mason built it.", 0.0),
        ("Who built it?", "It was built over the BRIDGE.", 0.0),
        ("How many people came?", "They came on 12 and 13 September 2025 at 10:30.", 0.0),
        ("How many people came?", "On 12 September 40 came.", 0.5),
        ("How high is the hall?", "It has 210 square metres.", 0.0),
        ("How heavy is the bell?", "The bell of 410 kilograms hangs high.", 1.0),
        ("How heavy is the bell?", "The bell has 11 turns.", 0.0),
        ("What does the key cost?", "A lost key costs 65 euros.", 1.0),
        ("How many kilometres is it?", "88 km, all paved", 1.0),
        ("How old is the cook?", "The cook has been with us for nineteen years.", 0.0),
        ("How old is the cook?", "The cook is a man of 43 years.", 1.0),
        ("What does the tent cost?", "The tent 4711 is free on your date.", 0.0),
        ("What does the tent cost?", "The tent 4711 is free.", 1.0),
        ("What share of it does the town pay?", "The town pays 118430, its share.", 0.0),
        ("What share of it does the town pay?", "The town pays 55 per cent.", 1.0),
    ],
)
def test_sentence_that_fits_the_kind(question: str, sentence: str, fit: float) -> None:
    assert asked_of(question).fits(sentence) == fit


@pytest.mark.parametrize(
    ("question", "attribute"),
    [
        ("What is the code of the library cupboard?", {"code"}),
        ("What is Ada Brook's phone number?", {"phone"}),
        ("How tall is the mast of the Petrel?", {"mast"}),
        ("What colour is the Petrel going to be?", set()),
        ("When did the mill open?", set()),
        ("What will the new sail for the Petrel cost?", {"sail"}),
        ("How much does the cover of the boat weigh?", {"cover"}),
    ],
)
def test_what_is_asked_of_something_by_a_noun_is_its_attribute(question: str, attribute: set[str]) -> None:
    assert asked_of(question).attribute == attribute


def test_names_codes_and_days_are_the_subject_and_the_rest_is_the_slot() -> None:
    asked = asked_of("What does code E11 of the Ember 3 mean on Mondays?")
    assert asked.subject == {"e11", "ember", "3", "monday"}
    assert asked.slot == {"code", "mean"}


def test_the_question_word_of_another_language_is_no_name() -> None:
    assert asked_of("Combien coûte le cours de tissage ?").subject == set()
    assert "welch" not in asked_of("Welche Farbe hat die Tür?").subject


def test_what_a_dimension_says_itself_is_implied() -> None:
    assert asked_of("How heavy is the Hesper regulator?").implied == {"heavi"}


def test_a_name_typed_without_capitals_is_known_by_how_the_evidence_writes_it() -> None:
    known = cases(["It was made by Quill, and mended by a smith.", "The smith knew Quill."])
    assert asked_of("when was quill a smith", known).subject == {"quill"}


def test_the_first_word_of_a_question_is_no_name_where_the_evidence_writes_it_without_a_capital() -> None:
    cased = cases(["They object by boycotting the shops, and boycotting works."])
    assert not asked_of("Boycotting shops makes what harder?", cased).subject
    assert asked_of("Quill shops where?", cased).subject == {"quill"}


def test_a_word_without_a_capital_is_no_name_in_a_question_that_uses_them() -> None:
    cased = cases(["Few joined the Labor Party."])
    assert asked_of("What are the causes of child labor?", cased).subject == frozenset()
    assert asked_of("causes of child labor", cased).subject == {"labor"}


def test_what_a_price_is_asked_of_is_not_implied_by_an_amount() -> None:
    assert asked_of("What did the boiler cost?").implied == {"cost"}
    assert asked_of("How heavy is the bell?").implied == {"heavi"}


def test_a_verb_of_going_alone_asks_for_nothing() -> None:
    assert not asked_of("On which days can Dr Rowe go there?").slot
    assert asked_of("How much is a night?").value is not None


def test_a_question_word_that_only_joins_asks_for_nothing() -> None:
    assert asked_of("What do I do when the red light blinks?").kind == ""
    assert asked_of("When does the light blink?").kind == "time"
