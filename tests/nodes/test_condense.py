from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from ragweave.app.api import astate
from ragweave.components.context import Context
from ragweave.graphs.run import astream, build_agent
from ragweave.graphs.search import graph
from ragweave.models.errors import InputError
from ragweave.tests.support import build_library

FERRY = {"ferry.md": "The ferry sails four times a day. Ada Brook steers the ferry.\n"}


async def test_without_a_model_a_follow_up_is_searched_with_the_question_before_it(
    tmp_path: Path, home: Path
) -> None:
    await build_library(tmp_path / "notes", FERRY)
    saver, states = InMemorySaver(), []
    for text in ("How often does the ferry sail?", "And who steers it?"):
        states.append(await astate(text, context=Context(mode="extractive"), thread="t", checkpointer=saver))
    asked = "How often does the ferry sail? And who steers it?"
    assert states[1]["question"] == states[1]["query"] == asked
    assert "Ada Brook" in states[1]["answer"].text


async def test_a_follow_up_counts_its_own_rounds_and_extractive_mode_claims_to_learn_nothing(
    tmp_path: Path, home: Path
) -> None:
    await build_library(tmp_path / "notes", FERRY)
    saver, context, turns = InMemorySaver(), Context(mode="extractive"), []
    for text in ("How often does the ferry sail?", "And who steers it?"):
        events = astream(text, context=context, thread="t", checkpointer=saver)
        turns.append([event async for event in events if event["type"] == "step"])
        told: Any = {"configurable": {"thread_id": "t"}}
        await build_agent("agent", checkpointer=saver).aupdate_state(told, {"hop": 2}, as_node="check")
    assert [{max(1, step["hop"]) for step in steps} for steps in turns] == [{1}, {1}]
    reasoned = [step for step in turns[1] if step["node"] == "reason"]
    assert reasoned and not any(step["data"]["learnt"] for step in reasoned)


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


async def test_pixels_do_not_stay_in_the_state_and_that_nobody_looked_is_said(
    tmp_path: Path, home: Path
) -> None:
    await build_library(tmp_path / "notes", {"ferry.md": "The ferry sails four times a day.\n"})
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    sent = HumanMessage([{"type": "text", "text": "How often does the ferry sail?"}, picture])
    asked: Any = {"messages": [sent]}
    state = await graph.ainvoke(asked, context=Context())
    assert [m.content for m in state["messages"]] == ["How often does the ferry sail?"]
    assert "not looked at" in state["notes"][0] and state["candidates"]
