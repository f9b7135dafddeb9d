"""Questions that state their options, and the form of the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.app import api
from ragweave.components.choices import offered, options_of
from ragweave.components.context import Context
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat, build_library


@pytest.mark.parametrize(
    ("question", "stem", "options"),
    [
        ("Which is it?\nA. red\nB. blue\nC. green", "Which is it?", ("red", "blue", "green")),
        ("Which is it? (A) red (B) dark blue", "Which is it?", ("red", "dark blue")),
        ("Which is it? A) red B) blue", "Which is it?", ("red", "blue")),
        ("Which?\nA: 3.5 m\nB: 4.5 m", "Which?", ("3.5 m", "4.5 m")),
        ("Is plan A: cheaper than plan B?", "Is plan A: cheaper than plan B?", ()),
        ("Is plan A. better?\nA. yes\nB. no", "Is plan A. better?", ("yes", "no")),
        ("Which? A) red B) red", "Which? A) red B) red", ()),
        ("Which? A) red C) blue", "Which? A) red C) blue", ()),
        ("A) red B) blue", "A) red B) blue", ()),
        ("Who was J. S. Bach? And C. P. E.?", "Who was J. S. Bach? And C. P. E.?", ()),
        ("", "", ()),
    ],
)
def test_options_are_found_where_they_are_stated(question: str, stem: str, options: tuple[str, ...]) -> None:
    assert options_of(question) == (stem, options)


@given(st.text(max_size=200))
def test_any_text_is_either_whole_or_cut_into_two_options_or_more(text: str) -> None:
    stem, options = options_of(text)
    assert (stem == text and not options) or (len(options) >= 2 and stem and all(options))


@pytest.fixture
async def library(home: Path, tmp_path: Path) -> None:
    await build_library(
        tmp_path, {"a.md": "# Pump\n\nThe pump in the cellar was painted blue by Mart Saar in 1987."}
    )


QUESTION = "What colour was the pump painted?\nA. red\nB. blue\nC. green"


async def ask(question: str, **knobs: Any) -> str:
    return (await api.aask(question, context=Context(**knobs))).text


STEM, COLOURS = "What colour was the pump painted?", ("red", "blue", "green")


@pytest.mark.parametrize(
    ("knobs", "found"),
    [
        ({}, (STEM, COLOURS)),
        ({"answer_form": "letter"}, (STEM, COLOURS)),
        ({"answer_form": "sentences"}, (QUESTION, ())),
        ({"choices": ("tin", "zinc")}, (QUESTION, ("tin", "zinc"))),
    ],
)
def test_choices_of_a_run_come_first_and_those_of_a_question_count_where_a_letter_may_answer(
    knobs: dict[str, Any], found: tuple[str, tuple[str, ...]]
) -> None:
    assert offered(Context(**knobs), QUESTION) == found


@pytest.mark.usefixtures("library")
async def test_a_model_is_asked_for_the_form_that_is_wanted() -> None:
    model = ScriptedChat(replies=["Mart Saar [1]"])
    with override(writer=model):
        knobs = {"mode": "llm", "route_by": "local", "grade_by": "local", "max_hops": 1}
        assert await ask("Who painted the pump?", **knobs, answer_form="short") == "Mart Saar [1] ✓"
    assert "in a few words" in model.calls[-1].prompt
