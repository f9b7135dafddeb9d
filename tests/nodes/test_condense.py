from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from ragweave.graphs.search import graph
from ragweave.minds.context import Context
from ragweave.minds.contracts import Talk
from ragweave.minds.desk import Desk, Turn
from ragweave.minds.small.condense import condense
from ragweave.models.errors import InputError
from ragweave.models.meter import Meter
from ragweave.tests.support import build_library


@pytest.mark.parametrize(
    ("previous", "asked", "standalone"),
    [
        ("Who founded the Corvane Observatory?", "When did it open?", "When did Corvane Observatory open?"),
        (
            "Who founded the Corvane Observatory?",
            "And what is its height?",
            "And what is Corvane Observatory's height?",
        ),
        ("Who founded the Corvane Observatory?", "And when?", "And when? (Corvane Observatory)"),
        ("Who founded the Corvane Observatory?", "What is the capital of Peru?", "What is the capital of Peru?"),
        ("What is the height of Everest?", "What about K2?", "What is the height of K2?"),
        ("does the ferry sail daily?", "And how long does it take?", "And how long does ferry sail daily take?"),
        (
            "Who founded the Corvane Observatory?",
            "And which birds nest in the cliffs?",
            "And which birds nest in the cliffs?",
        ),
        ("what does the plan say?", "Who replaced the crane?", "Who replaced the crane?"),
        ("谁建立了《青山站》？", "它有多高？", "青山站有多高？"),
    ],
)
async def test_follow_up_is_resolved_by_rule(previous: str, asked: str, standalone: str) -> None:
    cited = "Corvane Observatory" if "Corvane" in previous else ""
    talk = Talk([("human", previous), ("ai", "Somebody did.")], previous, previous, cited)
    assert await condense(Desk("condense", Context(), Turn(Meter())), asked, talk) == standalone


@pytest.mark.parametrize(
    ("messages", "sentence"),
    [
        ([], "there is no question"),
        ([HumanMessage("")], "the question is empty"),
        ([HumanMessage(" ?! \n")], "the question is empty"),
        ([HumanMessage("x" * 100_000)], "100,000 characters"),
        ([AIMessage("hello")], "there is no question"),
    ],
)
async def test_a_turn_without_a_usable_question_gets_a_sentence(messages: list[Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        await graph.ainvoke({"messages": messages})


async def test_pixels_do_not_stay_in_the_state_and_that_nobody_looked_is_said(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "notes", {"ferry.md": "The ferry sails four times a day.\n"})
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    sent = HumanMessage([{"type": "text", "text": "How often does the ferry sail?"}, picture])
    asked: Any = {"messages": [sent]}
    state = await graph.ainvoke(asked, context=Context())
    assert [m.content for m in state["messages"]] == ["How often does the ferry sail?"]
    assert "not looked at" in state["notes"][0] and state["candidates"]
