"""Dishonest and weak checkers: how many planted errors each would show as verified, with controls and after the exam.

The figures are those of docs/marks.md. The answers are a set of their own, which no rule was tuned to.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from ragweave.components.controls import lay, stand
from ragweave.components.exam import Ask, ExamCase, Rows, cases, sit
from ragweave.components.verdicts import ShownPassage, Verdict
from ragweave.tests.support import checkers

pytestmark = pytest.mark.exam

WRITTEN = Path(__file__).parent.parent.parent / "evals" / "written_marks.json"
SET = [ExamCase.model_validate(row) for row in json.loads(WRITTEN.read_text(encoding="utf-8"))]
KEY = {**checkers.key_of(SET), **checkers.key_of(cases())}
Make = Callable[[int], Ask]


class Figures(NamedTuple):
    """Shares: of planted sentences shown as verified, of right ones without a good mark, of answers without marks."""

    planted: float
    lost: float
    void: float


async def figures(make: Make, draws: int) -> Figures:
    planted = lost = void = wrong = right = 0
    for seed in range(draws):
        ask = make(seed)
        for case in SET:
            shown, rows, numbers = await judged(ask, case, seed)
            void += not rows
            for n, item in zip(numbers, case.sentences, strict=True):
                own = rows.get(n, [])
                wrong, right = wrong + (not item.true), right + item.true
                planted += not item.true and is_mark(own, shown, ("supported",))
                lost += item.true and not is_mark(own, shown, ("supported", "follows"))
    return Figures(planted / wrong, lost / right, void / draws / len(SET))


async def judged(ask: Ask, case: ExamCase, seed: int) -> tuple[list[ShownPassage], Rows, list[int]]:
    """Ask with controls, and once more with fresh ones; no rows if they failed twice."""
    said, cited = [item.text for item in case.sentences], [item.cites for item in case.sentences]
    used: list[str] = []
    for attempt in (0, 1):
        laid = lay(f"{case.question} {seed}", case.passages, said, cited, attempt, used)
        rows = await ask(case.question, laid.passages, laid.sentences, laid.cited) or {}
        if laid.held(rows):
            return laid.passages, rows, laid.own
        used = [control.text for control in laid.controls.values()]
    return [], {}, laid.own


def is_mark(rows: list[Verdict], shown: list[ShownPassage], said: tuple[str, ...]) -> bool:
    return bool(rows) and all(row.verdict in said and stand(row.words, shown) for row in rows)


CHECKERS: dict[str, tuple[Make, float]] = {
    "copies the nearest sentence": (lambda seed: checkers.nearest(), 0.0),
    "copies the whole passage": (lambda seed: checkers.whole_passage(), 0.0),
    "random of three verdicts": (checkers.at_random, 0.12),
    "right on 70 %": (lambda seed: checkers.right_on(0.7, KEY, seed), 0.25),
    "right on 80 %": (lambda seed: checkers.right_on(0.8, KEY, seed), 0.20),
    "matches values only": (lambda seed: checkers.values_only(), 0.30),
    "empty words": (lambda seed: checkers.empty_words(), 0.0),
    "not stated": (lambda seed: checkers.not_stated(), 0.0),
    "garbage": (lambda seed: checkers.garbage, 0.0),
    "first sentence only": (lambda seed: checkers.first_only(KEY), 0.0),
}


@pytest.mark.parametrize("name", CHECKERS)
async def test_controls_stop_the_dishonest_and_the_exam_the_weak(name: str) -> None:
    make, most = CHECKERS[name]
    draws = 1 if most == 0 else 10
    assert (await figures(make, draws)).planted <= most
    passed = [(await sit(make(seed))).passed for seed in range(10)]
    assert not any(passed)


async def test_an_honest_checker_loses_no_right_sentence_and_verifies_no_planted_one() -> None:
    found = await figures(lambda seed: checkers.honest(KEY), 3)
    assert found == Figures(0.0, 0.0, 0.0)
    assert (await sit(checkers.honest(KEY))).right == 40


async def test_one_that_is_right_on_ninety_of_a_hundred_rarely_passes_and_verifies_few() -> None:
    make: Make = lambda seed: checkers.right_on(0.9, KEY, seed)  # noqa: E731
    found = await figures(make, 10)
    passed = [(await sit(make(seed))).passed for seed in range(100)]
    share = sum(passed) / len(passed)
    assert share <= 0.35
    assert found.planted * share <= 0.04
