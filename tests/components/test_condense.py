"""Whether a later question of a conversation needs the previous one, decided without a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from ragweave.app.api import aask, astate
from ragweave.components.condense import NEW_TOPIC, Talk, locally, weight_of_new
from ragweave.components.context import Context
from ragweave.components.run_context import RunContext, TurnState
from ragweave.models.meter import Meter
from ragweave.tests.support.library import build_library

TEXTS = {
    "ferry.md": "# Ferry\n\nA return ticket of the ferry costs 90 crowns, and 40 crowns for a child.\n",
    "tower.md": "# Lighthouse\n\nThe lighthouse was built in 1876. It is 31 metres tall.\n",
    "moor.md": "# Moor\n\nIm Winter ist der Weg durch das Moor gesperrt, und das Haus ist geschlossen.\n",
    "tea.md": "# 茶室\n\n灯塔茶室每天上午十点开门,下午六点关门。\n",
}
FERRY = "What does a return ticket of the ferry cost for a child?"
TOWER = "When was the lighthouse built?"
VOTE = "Who is allowed to vote in Switzerland?"


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    await build_library(tmp_path / "files", TEXTS)
    return tmp_path


def desk() -> RunContext:
    return RunContext("condense", Context(), TurnState(Meter()))


async def read(previous: str, question: str) -> str:
    return await locally(desk(), question, Talk([("human", previous)], previous))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("previous", "question"),
    [(TOWER, FERRY), (TOWER, VOTE), (VOTE, FERRY), ("Wie hoch ist der Leuchtturm?", "灯塔茶室几点开门?")],
)
async def test_a_question_of_a_topic_of_its_own_is_read_alone(previous: str, question: str) -> None:
    assert await read(previous, question) == question


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("previous", "question"),
    [
        (FERRY, "And for adults?"),
        (TOWER, "How tall is it?"),
        ("Wann ist das Haus geschlossen?", "Und im Winter?"),
        ("Was kostet die Fähre?", "Und im Winter?"),
        ("灯塔茶室几点开门?", "它几点关门?"),
    ],
)
async def test_a_follow_up_is_read_with_the_previous_question(previous: str, question: str) -> None:
    assert await read(previous, question) == f"{previous} {question}"


@pytest.mark.usefixtures("folder")
async def test_words_of_the_previous_question_are_not_new() -> None:
    assert await weight_of_new(desk(), TOWER, TOWER) == 0
    assert await weight_of_new(desk(), "Was it the lighthouse that was built?", TOWER) == 0
    assert await weight_of_new(desk(), FERRY, TOWER) > NEW_TOPIC


@pytest.mark.usefixtures("folder")
async def test_a_rare_word_weighs_more_and_a_function_word_nothing() -> None:
    known = await weight_of_new(desk(), "lighthouse", FERRY)
    assert 0 < known < await weight_of_new(desk(), "switzerland", FERRY) == 1
    assert await weight_of_new(desk(), "und wie ist das im lighthouse", FERRY) == known


@pytest.mark.usefixtures("folder")
async def test_a_question_without_words_is_read_with_the_previous_one() -> None:
    assert await read(FERRY, "why?") == f"{FERRY} why?"
    assert await read(FERRY, "…?") == f"{FERRY} …?"


@pytest.mark.usefixtures("folder")
async def test_without_an_answer_a_later_question_declines_as_it_does_alone() -> None:
    once = await aask(VOTE, context=Context(mode="extractive"))
    said = [HumanMessage(FERRY), AIMessage("40 crowns."), HumanMessage(TOWER), AIMessage("In 1876.")]
    later = await aask(VOTE, messages=said, context=Context(mode="extractive"))
    assert once.abstained and later.abstained
    assert later.text == once.text


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("question", "is_changed"), [(VOTE, False), ("How tall is it?", True)])
async def test_the_trail_says_how_a_question_was_read_only_if_it_was_changed(
    question: str, is_changed: bool
) -> None:
    events: list[dict[str, object]] = []
    said = [HumanMessage(TOWER), AIMessage("In 1876."), HumanMessage(question)]
    await astate([*said], context=Context(mode="extractive"), on_event=events.append)
    summaries = [str(event.get("summary", "")) for event in events if event.get("node") == "condense"]
    assert any("read as" in summary for summary in summaries) == is_changed
