from __future__ import annotations

import pytest

from ragweave.minds.small.question.sides import sides


@pytest.mark.parametrize(
    ("question", "a", "b", "how", "sign"),
    [
        ("Which route is longer, Curlew Loop or the Slate Road?", "Curlew Loop", "Slate Road", "which", 1),
        ("Which of Otis and Wren is older?", "Otis", "Wren", "which", -1),
        ("Between Anna and Ben, who joined first?", "Anna", "Ben", "which", -1),
        ("Anna or Ben, whose boat is heavier?", "Anna", "Ben", "which", 1),
        ("Did the shop earn more in 2023 or in 2024?", "in 2023", "in 2024", "which", 1),
        ("Were more people at the meeting in May or at the one in June?", "in May", "in June", "which", 1),
        ("Does the sloop or the old cutter need more hands?", "sloop", "old cutter", "which", 1),
        ("Is the sloop longer than the cutter?", "sloop", "cutter", "yes", 1),
        ("Does the shop close earlier on Saturday than on Friday?", "on Saturday", "on Friday", "yes", -1),
        ("How much more is the ticket of 2025 than that of 2023?", "of 2025", "of 2023", "difference", 1),
        ("How much more than in 2025 will it cost in 2027?", "in 2027", "in 2025", "difference", 1),
        (
            "By how much is a lesson dearer under the new plan than under the one of 2023?",
            "under the new plan",
            "of 2023",
            "difference",
            1,
        ),
        ("Is it the oak or the ash that is taller?", "oak", "ash", "which", 1),
        ("How much did the fee rise from 2024 to 2025?", "2024", "2025", "difference", 1),
        ("By how much did the bill for the shed exceed the offer?", "bill for the shed", "offer", "difference", 1),
        ("How many more pairs of terns than gulls were there?", "pairs of terns", "gulls", "difference", 1),
        ("What's the difference in price between tea and cocoa?", "tea", "cocoa", "difference", 1),
    ],
)
def test_both_sides_are_told_apart(question: str, a: str, b: str, how: str, sign: int) -> None:
    found = sides(question)
    assert found is not None
    assert (found.a, found.b, found.how, found.sign) == (a, b, how, sign)


@pytest.mark.parametrize(
    "question",
    [
        "When was Otis born?",
        "Is the inn open on Mondays or Tuesdays?",
        "Have more than 20 people signed up?",
        "Do I need more than two keys or is one enough?",
        "What is more important than health?",
        "How long is the sloop, and how long the cutter?",
    ],
)
def test_a_question_that_weighs_nothing_has_no_sides(question: str) -> None:
    assert sides(question) is None


def test_a_side_without_a_name_is_asked_for_with_the_other() -> None:
    found = sides("By how much did the bill for the shed exceed the offer?")
    assert found is not None
    assert found.asks[1] == "How many much offer bill for the shed?"
