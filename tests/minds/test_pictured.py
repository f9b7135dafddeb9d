"""Questions that ask for a picture, and which picture is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragweave.app.api import aask
from ragweave.minds.context import Context
from ragweave.minds.small.answer.pictured import _ASKS
from ragweave.tests.nodes.test_pictures import harbour  # noqa: F401

SMALL = Context(mind="small")


@pytest.mark.parametrize(
    ("question", "what"),
    [
        ("Show me the crane", "crane"),
        ("Show me a photo of the crane.", "the crane."),
        ("Which picture shows a lock gate?", "a lock gate?"),
        ("Is there a diagram of the orbits?", "the orbits?"),
        ("Can you show me some pictures of ice?", "ice?"),
    ],
)
def test_what_a_question_for_a_picture_is_about(question: str, what: str) -> None:
    m = _ASKS.fullmatch(question)
    assert m is not None and m["what"].strip() == what


@pytest.mark.parametrize("question", ["Who drew the map?", "What does the crane lift?", "When was the picture taken?"])
def test_other_questions_ask_for_no_picture(question: str) -> None:
    assert _ASKS.fullmatch(question) is None


@pytest.mark.parametrize(
    ("question", "said"),
    [("Show me the crane of Pell", "crane"), ("Which picture shows the lock gate?", "gate")],
)
async def test_the_picture_that_is_asked_for_is_cited(harbour: str, question: str, said: str) -> None:  # noqa: F811
    answer = await aask(question, context=SMALL)
    assert answer.sure == "answer" and said in answer.text
    place = answer.citations[0].locator
    assert place["kind"] == "image" and place["image"]


async def test_a_picture_that_lies_in_two_places_is_cited_once(harbour: str) -> None:  # noqa: F811
    answer = await aask("Show me the picture of the boiler", context=SMALL)
    (citation,) = answer.citations
    assert Path(citation.locator["file"]).name == "note.md"
    assert [Path(place["file"]).name for place in citation.also] == ["crane.png"]


@pytest.mark.parametrize("knobs", [{"sources": ("another",)}, {"collection": "/nowhere"}])
async def test_no_picture_is_shown_that_the_run_may_not_search(harbour: str, knobs: dict[str, Any]) -> None:  # noqa: F811
    answer = await aask("Show me the crane of Pell", context=Context(mind="small", **knobs))
    assert answer.abstained and not answer.citations


async def test_a_picture_that_there_is_none_of_is_not_shown(harbour: str, tmp_path: Path) -> None:  # noqa: F811
    assert (await aask("Show me a photo of a polar bear", context=SMALL)).abstained
