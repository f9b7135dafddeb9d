import pytest

from ragweave.evals.leakage import overlap, text_of
from ragweave.models.errors import InputError


def test_exact_and_near_duplicates_are_counted_apart():
    train = ["Who wrote the Iliad?", "How tall is the old tower?"]
    found = overlap(train, ["who wrote the iliad", "How tall is the tower?", "What is new?"])
    assert (found.exact, found.near) == (1, 2)
    assert found.pairs[1] == ("How tall is the old tower?", "How tall is the tower?")


def test_nothing_in_common():
    assert overlap(["alpha beta"], ["gamma delta", ""]).near == 0


def test_the_same_words_in_another_order_are_near_but_not_exact():
    found = overlap(["dog bites man"], ["man bites dog"])
    assert (found.exact, found.near) == (0, 1)


@pytest.mark.parametrize("key", ["query", "question", "text"])
def test_questions_are_found_under_the_usual_keys(key):
    assert text_of({key: "q"}) == "q"


def test_a_row_without_a_question_is_refused():
    with pytest.raises(InputError, match="no question"):
        text_of({"id": 1})
