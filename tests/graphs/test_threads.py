from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.components.evidence import Sentence
from ragweave.graphs.run import GRAPHS, build_agent

pytestmark = pytest.mark.usefixtures("library")


async def test_reading_a_thread_back_warns_of_no_type(caplog: pytest.LogCaptureFixture) -> None:
    # As a program's own saver is where nothing is set: every type is read back, with a warning for each.
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=True))
    config: Any = {"configurable": {"thread_id": "t"}}
    for _turn in range(2):
        agent = build_agent(checkpointer=saver)
        await agent.ainvoke({"messages": [("human", "When was the Corvane Observatory opened?")]}, config)
    answer = (await agent.aget_state(config)).values["answer"]
    assert isinstance(answer, Answer) and isinstance(answer.sentences[0], Sentence)
    assert "type" not in caplog.text


@pytest.mark.parametrize("name", [*GRAPHS])
async def test_the_state_can_be_edited_at_every_step_and_the_run_goes_on_as_it_would(name: str) -> None:
    agent = build_agent(name, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    await agent.ainvoke(
        "When was the Corvane Observatory opened?", config, context=Context(mode="extractive")
    )
    past = [snapshot async for snapshot in agent.aget_state_history(config)][::-1]
    assert len(past) > 5
    for before, after in pairwise(past[1:]):
        last = before.next[-1]
        for edited in (
            agent.update_state(after.config, {"notes": ["edited"]}, as_node=last),
            await agent.aupdate_state(after.config, {"notes": ["edited"]}, as_node=last),
        ):
            now = agent.get_state(edited)
            assert set(now.next) <= set(after.next) and bool(now.next) == bool(after.next)
            assert now.values["notes"][-1] == "edited"
        if len(before.next) == 1:  # of several LangGraph wants to know which one is stood in for
            agent.update_state(after.config, {"notes": ["edited"]})


async def test_an_edited_verdict_decides_where_the_run_goes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(tmp_path))
    agent = build_agent("crag", checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    question = "When was the Corvane Observatory opened?"
    await agent.ainvoke(question, config, context=Context(mode="extractive", web="auto"))
    graded = [s async for s in agent.aget_state_history(config) if s.next == ("refine",)]
    row = {**graded[0].values["grade"], "action": "incorrect"}
    assert agent.get_state(agent.update_state(graded[0].config, {"grade": row})).next == ("search_web",)


def test_a_saver_that_cannot_be_awaited_keeps_threads_as_well(tmp_path: Path) -> None:
    config: Any = {"configurable": {"thread_id": "t"}}
    for question in ("When was the Corvane Observatory opened?", "And how high does it stand?"):
        with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
            agent = build_agent(checkpointer=saver)
            state = agent.invoke(question, config)
            assert type(saver) is SqliteSaver and isinstance(agent.checkpointer, SqliteSaver)
            past = list(agent.get_state_history(config))
            graded = next(s for s in past if s.next == ("grade",))
            assert agent.invoke(None, graded.config)["answer"].text == state["answer"].text
    assert "2,310" in state["answer"].text and len(state["messages"]) == 4


async def test_a_saver_that_cannot_be_awaited_is_awaited_all_the_same(tmp_path: Path) -> None:
    configs: Any = [{"configurable": {"thread_id": str(n)}} for n in range(4)]
    config = configs[0]
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
        agent = build_agent(checkpointer=saver)
        states = await asyncio.gather(
            *(agent.ainvoke("When was the Corvane Observatory opened?", c) for c in configs)
        )
        assert all("1931" in s["answer"].text and len(s["messages"]) == 2 for s in states)
        assert [s async for s in agent.aget_state_history(config)] == list(agent.get_state_history(config))
        kept: Any = agent.checkpointer
        await kept.adelete_thread("0")
        assert not (await agent.aget_state(config)).values


async def test_a_thread_of_an_older_ragweave_goes_on_with_its_next_question() -> None:
    agent = build_agent(checkpointer=InMemorySaver())
    old: Any = {
        "turn": "0123abcd",
        "question": "Who baked?",
        "draft": [],
        "messages": [HumanMessage("Who baked?")],
    }
    config: Any = {"configurable": {"thread_id": "old"}}
    await agent.aupdate_state(config, old, as_node="check")
    state = await agent.ainvoke({"question": "When was the Corvane Observatory opened?"}, config)
    assert "1931" in state["answer"].text
    assert [m.text for m in state["messages"] if m.type == "human"][-1].startswith("When was")
