"""Words that stand for one another, as a question and a library use them."""

from ragweave.minds.small.question.likes import likes, reworded
from ragweave.models.text import stem

LIBRARY = {stem(w): 1.0 for w in "window cost keeper lighthouse the sank boat birthday anna".split()}
ABSENT = 5.0


def test_a_word_has_those_that_stand_for_it() -> None:
    assert stem("purchase") in likes("What did we buy?")[stem("buy")]


def test_a_phrase_lends_its_likes_to_each_of_its_words() -> None:
    assert stem("sank") in likes("When did the boat go down?")["go"]


def test_what_is_asked_for_as_a_kind_is_met_by_its_instances_and_not_the_other_way_round() -> None:
    assert stem("hazelnut") in likes("Which nut is it?")["nut"]
    assert "nut" not in likes("Where is the hazelnut?").get(stem("hazelnut"), ())


def test_words_that_the_library_lacks_are_asked_in_its_own() -> None:
    assert reworded("How dear was the glazing?", LIBRARY, ABSENT) == "How cost was the window?"


def test_a_question_in_the_words_of_the_library_is_not_asked_again() -> None:
    assert reworded("What does the window cost?", LIBRARY, ABSENT) == ""


def test_a_word_that_nothing_stands_for_stays_as_it_is() -> None:
    assert reworded("Who saw the zeppelin?", LIBRARY, ABSENT) == ""


def test_the_longest_phrase_counts_and_not_the_words_in_it() -> None:
    found = likes("Who looks after the money?")[stem("look")]
    assert stem("treasurer") in found and stem("search") not in found


def test_an_irregular_form_opens_the_row_of_its_base() -> None:
    assert likes("Who sank it?") == likes("Who sinks it?")
