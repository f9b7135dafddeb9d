from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragweave.models.prompt_fit import LEFT_OUT, fitted
from ragweave.prompts import quote


def passage(n: int, text: str) -> str:
    return f"[{n}] A title\n{quote(text)}"


def size(messages: object) -> int:
    return sum(len(text.encode()) for _, text in messages)  # type: ignore[attr-defined]


def test_the_least_relevant_passages_go_first_and_numbers_and_question_stay() -> None:
    passages = "\n".join(passage(n, f"{'abc'[n - 1]}" * 1_000) for n in (1, 2, 3))
    messages = [("system", "Be brief."), ("user", f"When was it lit?\n{passages}\nReply.")]
    cut = fitted(messages, 1_300)
    text = cut.messages[1][1]
    assert (cut.left, cut.shortened, cut.passages) == (2, 0, 3)
    assert "a" * 1_000 in text and text.count(LEFT_OUT) == 2 and "[3] A title" in text
    assert text.startswith("When was it lit?") and text.endswith("Reply.") and size(cut.messages) <= 1_300


def test_of_two_rounds_the_older_loses_first_and_each_keeps_its_best() -> None:
    rounds = [("user", "\n".join(passage(n, letter * 500) for n in (1, 2))) for letter in "ab"]
    cut = fitted(rounds, size(rounds) - 300)
    assert LEFT_OUT in cut.messages[0][1] and LEFT_OUT not in cut.messages[1][1]
    cut = fitted(rounds, 1_200)
    assert ["a" * 500 in cut.messages[0][1], "b" * 500 in cut.messages[1][1]] == [True, True]


def test_a_single_passage_that_is_too_long_is_shortened() -> None:
    cut = fitted([("user", passage(1, "word " * 2_000))], 3_000)
    assert (cut.left, cut.shortened) == (0, 1) and 2_000 < size(cut.messages) <= 3_000


def test_what_holds_no_passage_stays_as_it_is() -> None:
    messages = [("user", "x" * 500)]
    assert fitted(messages, 100).messages == messages


@given(st.lists(st.text(max_size=600), max_size=6), st.integers(0, 3_000))
def test_the_order_and_number_of_passages_stays_and_nothing_grows(texts: list[str], most: int) -> None:
    messages = [("user", "\n".join(passage(n, text) for n, text in enumerate(texts, 1)))]
    cut = fitted(messages, most)
    assert cut.passages == len(texts) and size(cut.messages) <= size(messages)
    assert all(f"[{n}] A title" in cut.messages[0][1] for n in range(1, len(texts) + 1))
    if size(messages) <= most:
        assert cut.messages == messages
