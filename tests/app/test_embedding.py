"""Ragweave as a library: inside another agent, and where a loop is already running."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from ragweave import Context, aask, ask, build_agent, index
from ragweave.models.errors import InputError
from ragweave.tests.support import build_library

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "inside_another_agent.py"
QUESTION = "When was the lamp of the lighthouse first lit?"


@pytest.fixture
async def example(tmp_path: Path, home: Path) -> ModuleType:
    await build_library(tmp_path / "notes", {"a.md": "# The lighthouse\n\nIts lamp was first lit in 1874.\n"})
    spec = importlib.util.spec_from_file_location("inside_another_agent", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_it_is_a_node_of_another_agent(example: ModuleType) -> None:
    agent = example.as_sub_graph()
    end = await agent.ainvoke({"messages": [HumanMessage(QUESTION)]}, context=Context(mind="small"))
    assert "Your notes say:" in end["messages"][-1].text and "1874" in end["messages"][-1].text
    events = [
        part["data"]["type"]
        async for part in agent.astream(
            {"messages": [HumanMessage(QUESTION)]}, stream_mode="custom", subgraphs=True, version="v2"
        )
    ]
    assert "step" in events and "sentence" in events


async def test_it_is_a_tool_of_another_agent(example: ModuleType) -> None:
    def model(messages: list[AnyMessage]) -> AIMessage:
        if messages[-1].type == "tool":
            return AIMessage(f"I looked it up: {messages[-1].text}")
        call: Any = {"name": "look_up", "args": {"question": QUESTION}, "id": "1"}
        return AIMessage("", tool_calls=[call])

    end = await example.as_tool(model).ainvoke({"messages": [HumanMessage("The lamp?")]})
    assert "1874" in end["messages"][-1].text and "[1]" in end["messages"][-1].text


async def test_the_synchronous_calls_work_where_a_loop_is_running_as_in_a_notebook(example: ModuleType) -> None:
    assert "1874" in ask(QUESTION).text
    assert "1874" in (await aask(QUESTION)).text


async def test_errors_reach_the_caller_of_a_synchronous_call(home: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file or folder"):
        index([tmp_path / "nothing"])
    with pytest.raises(InputError, match="no graph named"):
        build_agent("nothing")
