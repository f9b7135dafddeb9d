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
        ("How heavy is the bell?", "The bell of 410 kilograms hangs high.", 1.0),
        ("How heavy is the bell?", "The bell has 11 turns.", 0.0),
        ("What does the key cost?", "A lost key costs 65 euros.", 1.0),
        ("How many kilometres is it?", "88 km, all paved", 1.0),
    ],
)
def test_sentence_that_fits_the_kind(question: str, sentence: str, fit: float) -> None:
    assert asked_of(question).fits(sentence) == fit


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who built it?", "A mason built it."),
        ("What did the cloak cost?", "The cloak of 1911 is of velvet."),
        ("How long does the play take?", "The play drew 803 spectators."),
        ("How long was his apprenticeship?", "The punch is that of the year 1791."),
        ("How heavy is the boat?", "The boat was lent in 2019."),
    ],
)
def test_what_holds_no_value_of_the_kind_lacks_it(question: str, text: str) -> None:
    assert asked_of(question).lacks(text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How much deposit does Kenji pay?", "He pays 410 a month and 500 deposit."),
        ("How long is the comet?", "It is 11 kilometres long."),
        ("How long has she been chair?", "She has been chair since 1990."),
        ("What does the cloak cost?", "The cloak costs 5 pounds."),
    ],
)
def test_a_value_may_be_told_by_its_noun_or_its_unit(question: str, text: str) -> None:
    assert not asked_of(question).lacks(text)


def test_what_is_not_so_is_told_by_what_denies() -> None:
    asked = asked_of("Which members did not come to the meeting?")
    assert asked.affirms("Rufus Tenby, cook at the meeting.")
    assert not asked.affirms("Ada Brook was absent.")
    assert not asked_of("How long do cats go without food?").affirms("Cats: eight hours")


@pytest.mark.parametrize(
    ("question", "attribute"),
    [
        ("What is the code of the library cupboard?", {"code"}),
        ("What is Ada Brook's phone number?", {"phone"}),
        ("How tall is the mast of the Petrel?", {"mast"}),
        ("What colour is the Petrel going to be?", set()),
        ("When did the mill open?", set()),
    ],
)
def test_what_is_asked_of_something_by_a_noun_is_its_attribute(question: str, attribute: set[str]) -> None:
    assert asked_of(question).attribute == attribute


def test_names_codes_and_days_are_the_subject_and_the_rest_is_the_slot() -> None:
    asked = asked_of("What does code E11 of the Ember 3 mean on Mondays?")
    assert asked.subject == {"e11", "ember", "3", "monday"}
    assert asked.slot == {"code", "mean"}


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


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("How many minutes does the soup cook?", "1.5 kg of rhubarb and 250 g of sugar", True),
        ("How many minutes does the soup cook?", "It cooks for 40 minutes.", False),
        ("How much deposit does he pay?", "He pays 410 a month and 500 deposit.", False),
        ("What is her telephone number?", "She is from Harrow.", True),
        ("When does it open?", "It is behind the mill.", True),
        ("When will the stop close?", "It closes at the end of next summer.", False),
        ("Who built it?", "Nobody knows.", False),
    ],
)
def test_a_value_that_is_asked_for_has_to_be_there(question: str, text: str, lacks: bool) -> None:
    assert asked_of(question).lacks(text) is lacks


def test_a_code_names_what_is_asked_of() -> None:
    assert asked_of("What does code E11 of the Ember 3 mean?").codes == {"e11"}


def test_a_verb_of_going_alone_asks_for_nothing() -> None:
    assert not asked_of("On which days can Dr Rowe go there?").slot
    assert asked_of("How much is a night?").value is not None


def test_a_question_word_that_only_joins_asks_for_nothing() -> None:
    assert asked_of("What do I do when the red light blinks?").kind == ""
    assert asked_of("When does the light blink?").kind == "time"


@pytest.mark.parametrize("sum_", ["2.6 million crowns", "300 kronor", "40 rupees", "12 CHF", "9,000 yen"])
def test_what_something_costs_may_be_said_in_any_currency(sum_: str) -> None:
    assert not asked_of("What does the new pier cost?").lacks(f"The work costs {sum_}.")
