"""Control sentences of known truth."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.components.controls import Control, controls, held, lay, seed_of
from ragweave.components.plain_sentences import MOST_NUMBERS, is_clear, statements
from ragweave.components.verdicts import Said, ShownPassage, Verdict
from ragweave.models import text
from ragweave.tests.support.checker_figures import CHECKERS, figures

LAMP = ShownPassage(
    "Skelder light",
    "The lamp of the light was lit in 1874 for the first time. It burned oil. The tower is 34 metres high and"
    " has a cellar. Does the stair have 178 steps? A visitor said that the stair has 90 steps. The keeper may"
    " leave at dawn.",
)
BOATS = ShownPassage(
    "Boats",
    "The ferry carries 60 people and two horses each day. Jo Reef bought the old tug in 1931 for 400 crowns.",
)
STOCK = json.loads(files("ragweave.components").joinpath("data", "controls.json").read_text(encoding="utf-8"))


def test_statements_leave_out_questions_pronouns_hedges_and_reports() -> None:
    assert [s.text for s in statements([LAMP])] == [
        "The lamp of the light was lit in 1874 for the first time.",
        "The tower is 34 metres high and has a cellar.",
    ]


def test_a_sentence_of_which_another_passage_says_otherwise_is_no_control() -> None:
    other = ShownPassage("Letter", "The lamp of the light was lit in 1880 for the first time.")
    assert "The lamp of the light was lit in 1874 for the first time." not in {
        s.text for s in statements([LAMP, other])
    }


def test_the_false_one_is_said_nowhere_and_the_true_one_stands_in_its_passage() -> None:
    for seed in range(40):
        false, true = controls("q", [LAMP, BOATS], [], seed)
        assert (false.true, true.true, true.kind) == (False, True, "copied")
        assert true.text in [LAMP, BOATS][true.passage - 1].text
        assert all(false.text not in shown.text for shown in (LAMP, BOATS))


def test_values_and_meanings_are_changed_in_turn() -> None:
    kinds = [controls("q", [LAMP, BOATS], [], seed)[0].kind for seed in range(20)]
    assert set(kinds[::2]) == {"value"} and "value" not in kinds[1::2]


def test_a_number_behind_a_bound_stays() -> None:
    shown = ShownPassage("Hall", "The hall of the club holds more than 400 people in summer.")
    assert controls("q", [shown], [], 0)[0].kind != "value"


def test_sentences_of_the_answer_and_of_controls_before_are_not_taken() -> None:
    copied = {
        controls("q", [LAMP], ["The tower is 34 metres high and has a cellar."], n)[1].text for n in range(20)
    }
    assert "The tower is 34 metres high and has a cellar." not in copied
    first = controls("q", [LAMP, BOATS], [], 2)
    second = controls("q", [LAMP, BOATS], [], 2, [c.text for c in first])
    assert not {c.text for c in first} & {c.text for c in second}


def test_thin_passages_are_helped_out_by_one_pair_of_the_stock_with_its_passage() -> None:
    laid = lay("q", [ShownPassage("x", "short")], ["An answer of some words."], [[1]])
    assert len(laid.passages) == 2 and len(laid.controls) == 2
    assert all(laid.cited[n - 1] == [2] for n in laid.controls)
    row = next(r for r in STOCK if r["title"] == laid.passages[1].title)
    assert {c.text for c in laid.controls.values()} == {row["false"], row["true"]}


def test_controls_lie_at_places_that_the_answer_decides_and_never_before_a_pronoun() -> None:
    answer = ["The tug cost 400 crowns.", "It was old.", "The lamp was lit late."]
    places = set()
    for n in range(40):
        question = f"question {n}"
        laid = lay(question, [LAMP, BOATS], answer, [[2], [2], [1]])
        assert laid == lay(question, [LAMP, BOATS], answer, [[2], [2], [1]])
        assert [laid.sentences[i - 1] for i in laid.own] == answer
        assert [laid.cited[i - 1] for i in laid.own] == [[2], [2], [1]]
        assert laid.own[1] == laid.own[0] + 1
        places |= set(laid.controls)
    assert len(places) == 5


def test_a_second_attempt_draws_anew() -> None:
    assert seed_of("q", ["a"]) != seed_of("q", ["a"], 1)
    assert seed_of("q", ["a \udcff"]) == seed_of("q", ["a \udcff"])


WORDS = st.sampled_from(
    "The A It He Ada Quill Jo Reef lamp tower was is 34 1931 12 not may metres pump of in ? . : “".split()
)
PASSAGES = st.lists(
    st.builds(ShownPassage, st.text(max_size=9), st.lists(WORDS, max_size=40).map(" ".join)), max_size=4
)


@given(PASSAGES, st.lists(st.text(max_size=30), max_size=3), st.integers(0, 2**64))
def test_controls_of_any_passages_are_one_false_and_one_true_and_satisfy_the_filters(
    passages: list[ShownPassage], answer: list[str], seed: int
) -> None:
    pair = controls("q", passages, answer, seed)
    assert [c.true for c in pair] == [False, True]
    for c in pair:
        if c.brings is not None:
            assert c.passage == 0 and any(c.text in (row["false"], row["true"]) for row in STOCK)
        elif c.true:
            assert is_clear(c.text, passages) and c.text not in answer
        else:
            assert 1 <= c.passage <= len(passages) and len(text.numbers(c.text)) <= MOST_NUMBERS


@given(st.lists(st.builds(ShownPassage, st.text(), st.text()), max_size=3), st.lists(st.text(), max_size=4))
def test_any_text_is_laid_out_with_all_sentences_of_the_answer(
    passages: list[ShownPassage], answer: list[str]
) -> None:
    laid = lay("", passages, answer, [])
    assert [laid.sentences[n - 1] for n in laid.own] == answer
    assert len(laid.sentences) == len(laid.cited) == len(answer) + 2
    assert all(1 <= n <= len(laid.passages) for names in laid.cited for n in names)


def row(verdict: Said, words: str = "", says: str = "") -> Verdict:
    return Verdict(n=1, verdict=verdict, passage=1, words=words, says=says)


@pytest.mark.parametrize(
    ("true", "rows", "right"),
    [
        (True, [row("supported")], True),
        (True, [row("follows"), row("supported")], True),
        (True, [row("supported"), row("disputed")], False),
        (True, [], False),
        (False, [row("contradicted", "The tower is 34 metres  high")], True),
        (False, [row("contradicted", "The tower is ... a cellar.")], True),
        (False, [row("contradicted", "a cellar ... The tower is")], False),
        (False, [row("disputed", "nowhere", "the TOWER is 34 metres high")], True),
        (False, [row("contradicted", "")], False),
        (False, [row("contradicted", "The tower is 99 metres high")], False),
        (False, [row("not stated")], False),
        (False, [row("supported", "The tower is 34 metres high")], False),
        (False, [], False),
    ],
)
def test_a_control_holds_only_where_its_verdict_is_right(
    true: bool, rows: list[Verdict], right: bool
) -> None:
    assert held(Control("x", true, "k", 1), rows, [LAMP]) is right


def test_the_stock_has_pairs_of_each_kind_and_several_languages_with_words_that_stand_there() -> None:
    assert len(STOCK) >= 24
    assert {"roles exchanged", "denied", "hedged", "neighbour row", "all but", "condition", "myth"} <= {
        r["kind"] for r in STOCK
    }
    assert len({r["language"] for r in STOCK}) >= 5
    for r in STOCK:
        assert r["contradicts"] in r["text"] and r["supports"] in r["text"]
        assert r["false"] not in r["text"] and r["true"] not in r["text"]


WITHOUT_EXAM = {
    "copies the nearest sentence": 0.0,
    "copies the whole passage": 0.0,
    "random of three verdicts": 0.13,
    "right on 70 %": 0.25,
    "right on 80 %": 0.20,
    "matches values only": 0.30,
    "empty words": 0.0,
    "not stated": 0.0,
    "garbage": 0.0,
    "first sentence only": 0.0,
}
"""Planted sentences that a checker shows as right while nothing but controls and grounds hold it back."""


@pytest.mark.exam
@pytest.mark.parametrize("name", WITHOUT_EXAM)
async def test_controls_stop_the_dishonest_and_the_exam_the_weak(name: str) -> None:
    found = await figures(CHECKERS[name], draws=1 if WITHOUT_EXAM[name] == 0 else 5, exams=20)
    assert found.planted <= WITHOUT_EXAM[name]
    assert found.passed == 0


@pytest.mark.exam
async def test_an_honest_checker_verifies_no_planted_sentence_and_loses_few_right_ones() -> None:
    found = await figures(CHECKERS["honest"], draws=3, exams=1)
    assert (found.planted, found.void, found.passed) == (0, 0, 1)
    assert found.lost <= 0.06


@pytest.mark.exam
async def test_one_that_is_right_on_ninety_of_a_hundred_rarely_passes_and_verifies_few() -> None:
    found = await figures(CHECKERS["right on 90 %"], draws=5, exams=100)
    assert found.passed <= 0.35
    assert found.shown <= 0.02
