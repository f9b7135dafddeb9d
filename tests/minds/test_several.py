from __future__ import annotations

import pytest

from ragweave.minds.small.question.several import several


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "When was the lighthouse of Skerry Holm first lit, and how tall is it?",
            ["When was the lighthouse of Skerry Holm first lit?", "How tall is the lighthouse of Skerry Holm?"],
        ),
        ("How old is Marzipan and what is she allergic to?", ["How old is Marzipan?", "What is Marzipan allergic to?"]),
        (
            "When did the Ravnholt shipyard close and where was it?",
            ["When did the Ravnholt shipyard close?", "Where was the Ravnholt shipyard?"],
        ),
        (
            "When is the hedge cut, and who founded the Orlow company?",
            ["When is the hedge cut?", "Who founded the Orlow company?"],
        ),
        (
            "Who built it, what was it called and who owned it first?",
            ["Who built it, what was it called?", "Who owned it first?"],
        ),
    ],
)
def test_each_question_of_a_turn_stands_by_itself(question: str, parts: list[str]) -> None:
    assert several(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "When was it built?",
        "When and where was Ada Quill born?",
        "How and when did the plague reach Europe?",
        "Which ship was built by the yard that closed and who owned it?",
        "Who founded the mill and the bakery?",
    ],
)
def test_one_question_stays_one(question: str) -> None:
    assert several(question) == [question]
