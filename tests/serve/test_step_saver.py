"""Steps are stored a moment later: what reads see, what a closed file holds, what an error does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from operator import add
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from ragweave.serve import step_saver
from ragweave.serve.step_saver import StepSaver, open_file


class Counted(TypedDict):
    n: Annotated[int, add]


class Written:
    """The checkpoints that reach the file."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.error: Exception | None = None

    def put(self, saver: Any, config: Any, checkpoint: Any, metadata: Any, versions: Any) -> Any:
        if self.error is not None:
            raise self.error
        self.steps.append(metadata["step"])
        return _put(saver, config, checkpoint, metadata, versions)


_put = SqliteSaver.put


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Written:
    found = Written()
    monkeypatch.setattr(SqliteSaver, "put", lambda *given: found.put(*given))
    return found


@pytest.fixture
async def saver(tmp_path: Path) -> AsyncIterator[StepSaver]:
    async with open_file(tmp_path / "conversations.sqlite") as opened:
        yield opened


def four_steps(saver: Any, asks: bool = False) -> Any:
    def step(state: Counted) -> dict[str, int]:
        return {"n": 1}

    def last(state: Counted) -> dict[str, int]:
        return {"n": 10 if asks and interrupt("may I?") else 1}

    builder = StateGraph(Counted)
    for name in "abc":
        builder.add_node(name, step)
    builder.add_node("d", last)
    for one, following in zip((START, *"abcd"), (*"abcd", END), strict=True):
        builder.add_edge(one, following)
    return builder.compile(checkpointer=saver)


def at(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


async def test_of_the_steps_within_a_moment_only_the_first_and_the_last_are_written(
    saver: StepSaver, written: Written
) -> None:
    await four_steps(saver).ainvoke({"n": 0}, at("one"), durability="async")
    await saver.settle("one")
    assert written.steps[-1] == 4 and len(written.steps) <= 3
    state = await four_steps(saver).aget_state(at("one"))
    assert state.values == {"n": 4} and not state.next


async def test_a_conversation_goes_on_in_a_file_that_was_closed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "conversations.sqlite"
    async with open_file(path) as saver:
        await four_steps(saver).ainvoke({"n": 0}, at("one"), durability="async")
    async with open_file(path) as saver:
        assert (await four_steps(saver).ainvoke({"n": 0}, at("one")))["n"] == 8


async def test_a_question_that_was_asked_is_answered_from_the_stored_step(tmp_path: Path) -> None:
    path = tmp_path / "conversations.sqlite"
    async with open_file(path) as saver:
        await four_steps(saver, asks=True).ainvoke({"n": 0}, at("one"), durability="async")
    async with open_file(path) as saver:
        resumed = await four_steps(saver, asks=True).ainvoke(Command(resume=True), at("one"))
    assert resumed["n"] == 13


async def test_a_deleted_conversation_does_not_come_back(saver: StepSaver, written: Written) -> None:
    await four_steps(saver).ainvoke({"n": 0}, at("one"), durability="async")
    await saver.adelete_thread("one")
    await saver.settle(None)
    assert await saver.aget_tuple(at("one")) is None


async def test_a_step_that_cannot_be_stored_fails_its_own_conversation_and_is_tried_again(
    saver: StepSaver, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_saver, "_MOMENT", 0.01)
    written.error = OSError("the disk is full")
    await four_steps(saver).ainvoke({"n": 0}, at("one"), durability="exit")
    with pytest.raises(OSError, match="full"):
        await saver.settle("one")
    await saver.settle("another")
    written.error = None
    await asyncio.sleep(0.1)
    assert written.steps == [4]
