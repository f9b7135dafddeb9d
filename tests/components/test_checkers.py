"""Dishonest and weak checkers: controls in each call stop those that do not read, the exam those that read badly."""

from __future__ import annotations

import pytest

from ragweave.tests.support.checker_figures import CHECKERS, figures

pytestmark = pytest.mark.exam

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


@pytest.mark.parametrize("name", WITHOUT_EXAM)
async def test_controls_stop_the_dishonest_and_the_exam_the_weak(name: str) -> None:
    found = await figures(CHECKERS[name], draws=1 if WITHOUT_EXAM[name] == 0 else 5, exams=20)
    assert found.planted <= WITHOUT_EXAM[name]
    assert found.passed == 0


async def test_an_honest_checker_verifies_no_planted_sentence_and_loses_few_right_ones() -> None:
    found = await figures(CHECKERS["honest"], draws=3, exams=1)
    assert (found.planted, found.void, found.passed) == (0, 0, 1)
    assert found.lost <= 0.06


async def test_one_that_is_right_on_ninety_of_a_hundred_rarely_passes_and_verifies_few() -> None:
    found = await figures(CHECKERS["right on 90 %"], draws=5, exams=100)
    assert found.passed <= 0.35
    assert found.shown <= 0.02
