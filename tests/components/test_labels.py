"""Labels that a model translates or sets as a heading are read, and none of them is shown."""

from __future__ import annotations

import pytest

from ragweave.components.labels import unlabelled
from ragweave.components.prose import as_shown
from ragweave.components.turn import Answering, begins_turn, read_turn

SAID = "It was lit in 1874 [1]."
LABELS = [
    "Final Answer: ",
    "**Final Answer:** ",
    "## Final Answer\n\n",
    "### Final Answer:\n",
    "**Final Answer**\n",
    "Answer: ",
    "Endgültige Antwort: ",
    "**Antwort:** ",
    "Réponse finale : ",
    "Respuesta final: ",
    "Resposta: ",
    "Risposta finale: ",
    "Ostateczna odpowiedź: ",
    "Итоговый ответ: ",
    "Τελική απάντηση: ",
    "Son cevap: ",
    "الإجابة النهائية: ",
    "最终答案：",
    "最終回答：",
    "최종 답변: ",
    "Câu trả lời cuối cùng: ",
    "अंतिम उत्तर: ",
    "Slutgiltigt svar: ",
]


@pytest.mark.parametrize("label", LABELS)
def test_a_label_in_other_words_begins_an_answer(label: str) -> None:
    turn = read_turn(label + SAID)
    assert turn is not None and (turn.answer, turn.queries) == (SAID, [])


@pytest.mark.parametrize("label", LABELS)
async def test_such_an_answer_is_told_while_it_arrives(label: str) -> None:
    told: list[str] = []

    async def take(sentence: str, shown: object) -> None:
        told.append(sentence)

    answering, text = Answering(take, ["a"], 9), f"{label}{SAID} It still is [1]."
    for end in range(1, len(text) + 1):
        await answering.read(text[:end])
    assert told == [SAID]
    await answering.read(text, ended=True)
    assert told == [SAID, "It still is [1]."]


@pytest.mark.parametrize("label", ["Suchanfrage: ", "Requête : ", "Запрос: ", "検索：", "**Búsqueda:** "])
def test_a_query_in_other_words_is_asked(label: str) -> None:
    turn = read_turn(f"{label}who built it")
    assert turn is not None and turn.queries == ["who built it"]


@pytest.mark.parametrize("label", LABELS)
def test_a_label_before_prose_is_not_shown(label: str) -> None:
    assert as_shown(unlabelled(label + SAID)) == "It was lit in 1874."


@pytest.mark.parametrize(
    "text", ["Answers vary: some say 1874 [1].", "Lamp: 1874 [1].", "The answer is 1874 [1].", "Query: x"]
)
def test_other_words_before_a_colon_stay(text: str) -> None:
    assert unlabelled(text) == text


def test_a_known_label_comes_before_one_in_other_words() -> None:
    turn = read_turn("Answer: not found yet.\nQuery: who built it")
    assert turn is not None and turn.queries == ["who built it"]


def test_a_box_around_a_result_is_not_shown() -> None:
    assert as_shown("It holds $\\boxed{\\text{5 tons}}$ [1].") == "It holds 5 tons."


@pytest.mark.parametrize(
    ("begun", "begins"),
    [("Final Answer: It", True), ("**Antwort:** It", True), ("Learnt: a", True), ("Okay, the user", False)],
)
def test_a_reply_that_begins_with_no_label_may_begin_with_thoughts(begun: str, begins: bool) -> None:
    assert begins_turn(begun) is begins
