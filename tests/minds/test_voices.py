"""Who speaks of something most, and what two recordings or two people say of one point."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragweave.app.api import aask
from ragweave.minds.context import Context
from ragweave.tests.support.library import build_library

SAID = (
    ("harbour-1", "Mina Host", "Welcome to the harbour show, today we speak of ropes."),
    ("harbour-1", "Ada Lund", "A hemp rope rots. A rope of nylon stretches, and no rope lasts."),
    ("harbour-2", "Mina Host", "Last time a guest praised every rope, today it is anchors."),
    ("harbour-2", "Tom Reed", "The anchor drags in mud. I never trust a rope of nylon."),
    ("harbour-3", "Mina Host", "Today we talk about gulls."),
    ("harbour-3", "Eva Pohl", "Gulls eat chips and nothing else."),
)


@pytest.fixture
async def shows(tmp_path: Path, home: Path) -> None:
    rows = [{"episode": e, "speaker": who, "t": 20.0 * n, "text": text} for n, (e, who, text) in enumerate(SAID)]
    await build_library(tmp_path / "shows", {"shows.jsonl": "\n".join(map(json.dumps, rows))})


async def told(question: str, **knobs: Any) -> list[tuple[str, str]]:
    answer = await aask(question, context=Context(mind="small", **knobs))
    cited = {c.n: c.title for c in answer.citations}
    return [(s.text, cited[s.citations[0]]) for s in answer.sentences]


async def test_recordings_come_by_how_often_they_speak_of_a_thing_with_a_quotation_and_its_time(shows: None) -> None:
    rows = await told("Which episodes talk most about ropes?")
    assert [title for _, title in rows] == ["harbour-1", "harbour-2"]
    assert rows[0][0].startswith("harbour-1, 4 times, at 0:") and "rope" in rows[0][0].split("“")[1]


async def test_only_recordings_that_the_run_may_search_are_counted(shows: None) -> None:
    rows = await told("Which episodes talk most about ropes?", videos=("harbour-2",))
    assert [title for _, title in rows] == ["harbour-2"]


async def test_guests_are_told_without_those_who_are_in_several_recordings(shows: None) -> None:
    rows = await told("Which guests talk about ropes?")
    assert [text.split(",")[0] for text, _ in rows] == ["Ada Lund", "Tom Reed"]
    everybody = await told("Who talks about ropes the most?")
    assert [text.split(",")[0] for text, _ in everybody] == ["Ada Lund", "Mina Host", "Tom Reed"]


@pytest.mark.parametrize(
    "question",
    [
        "Compare what Ada Lund and Tom Reed say about nylon.",
        "How does what Ada Lund says about nylon differ from what Tom Reed says?",
        "What is the difference between Ada Lund and Tom Reed on nylon?",
    ],
)
async def test_two_sides_of_a_comparison_are_each_quoted_from_their_recording(shows: None, question: str) -> None:
    (one, first), (two, second) = await told(question)
    assert "stretches" in one and "never trust" in two and (first, second) == ("harbour-1", "harbour-2")


async def test_nothing_is_compared_where_one_side_says_nothing_of_it(shows: None) -> None:
    answer = await aask("Compare what Ada Lund and Eva Pohl say about nylon.", context=Context(mind="small"))
    assert not any("at 0:" in s.text for s in answer.sentences)
