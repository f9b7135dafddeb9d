"""What many recordings have in common is told by the number of recordings that speak of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.app.api import aask
from ragweave.minds.context import Context
from ragweave.tests.support.library import build_library

SAID = {
    "reef": "The coral reef grows slowly. A coral reef feeds many fish. Sea urchins graze the coral reef.",
    "diving": "Divers visit the coral reef in May. The coral reef is shallow. Fresh water ruins a diving mask.",
    "urchins": "Sea urchins have five teeth. The sea urchins hide by day. We count sea urchins at night.",
    "storms": "A storm breaks the coral reef. The coral reef heals. After it sea urchins return; sea urchins eat.",
}


@pytest.fixture
async def talks(tmp_path: Path, home: Path) -> Path:
    await build_library(
        tmp_path / "talks", {f"{n}.vtt": f"WEBVTT\n\n00:10.000 --> 00:25.000\n{t}\n" for n, t in SAID.items()}
    )
    return tmp_path


@pytest.mark.parametrize(
    "question",
    ["What are the main themes across all talks?", "Which topics come up in most recordings?",
     "What do the talks have in common?"],
)  # fmt: skip
async def test_themes_come_by_the_number_of_recordings_and_are_cited_from_them(talks: Path, question: str) -> None:
    answer = await aask(question, context=Context(mind="small"))
    first, second = (s.text for s in answer.sentences[:2])
    assert first.startswith("coral reef: in 3 of 4 recordings, 7 times")
    assert second.lower().startswith("sea urchins: in 3 of 4 recordings, 6 times")
    cited = {c.n: c for c in answer.citations}
    assert {cited[n].title for n in answer.sentences[0].citations} == {"reef", "diving", "storms"}
    assert all("coral reef" in cited[n].quote for n in answer.sentences[0].citations)


@pytest.mark.parametrize(
    "question", ["Which topics are there in the talks about storms?", "What is the main topic of the talk?"]
)
async def test_a_question_about_one_thing_is_not_answered_by_themes(talks: Path, question: str) -> None:
    answer = await aask(question, context=Context(mind="small"))
    assert "of 4 recordings" not in answer.text
