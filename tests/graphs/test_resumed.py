"""A turn that goes on is set as it was asked, whatever the call that goes on with it leaves out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from ragweave.components.context import Context
from ragweave.graphs.run import GRAPHS, build_agent
from ragweave.models import router
from ragweave.tests.support.library import build_library
from ragweave.tests.support.talks import TALK, vtt

pytestmark = pytest.mark.usefixtures("library")
CONFIG: Any = {"configurable": {"thread_id": "t"}}
OPENED = "When was the Corvane Observatory opened?"
UNKNOWN = "Who repaired the harbour crane of Vellmouth in 1967?"
OTHER = {
    "dome.md": "# The dome\n\nThe Corvane Observatory was opened in 1777 by the astronomer Lene Abt.\n",
    "cranes.md": (
        "# Cranes\n\nThe harbour of Oskmouth has three cranes. Two of them are repaired every year.\n"
    ),
    "talk.vtt": vtt(TALK),
}


@pytest.fixture(autouse=True)
async def other(tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Index a second library, and let an empty folder stand in for the web."""
    (tmp_path / "web").mkdir()
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(tmp_path / "web"))
    await build_library(tmp_path / "other", OTHER, "other")


def read(state: dict[str, Any]) -> set[str]:
    """Name the files that a turn has read."""
    return {Path(e["locator"]["file"]).name for e in state["evidence"]}


@pytest.mark.parametrize("kind", [dict, Context])
@pytest.mark.parametrize("name", ["agent", "crag"])
async def test_a_run_that_is_resumed_without_its_context_goes_on_in_the_library_that_it_began_in(
    name: str, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(router, "predict", lambda question: {"paragraph": 1.0})
    agent = build_agent(name, checkpointer=InMemorySaver())
    context = kind(
        web="ask",
        library="other",
        mode="extractive",
        route_by="ensemble",
        method={"upper": 1.0, "lower": 1.0},
    )
    asked = await agent.ainvoke({"question": UNKNOWN}, CONFIG, context=context)
    assert asked["__interrupt__"][0].value["action"] == "search_web"
    state = await agent.ainvoke(Command(resume=False), CONFIG)
    assert any("you declined it" in note for note in state["answer"].notes)
    assert read(state) and read(state) <= OTHER.keys()
    assert name == "crag" or state["hop"] > 1, "a further round was searched after it"


@pytest.mark.parametrize("name", [*GRAPHS])
async def test_every_step_of_every_graph_goes_on_as_the_turn_was_asked(name: str) -> None:
    agent = build_agent(name, checkpointer=InMemorySaver())
    context: Any = {"library": "other", "mode": "extractive", "top_k": 2, "method": {"turn_passages": 7}}
    whole = await agent.ainvoke(OPENED, {"configurable": {"thread_id": "whole"}}, context=context)
    state: Any = await agent.ainvoke(OPENED, CONFIG, context=context, interrupt_after="*")
    while (await agent.aget_state(CONFIG)).next:
        state = await agent.ainvoke(None, CONFIG, interrupt_after="*")
    assert read(state) and read(state) == read(whole) <= OTHER.keys()
    assert state["answer"].text == whole["answer"].text
    assert len(state["candidates"]) == len(whole["candidates"]) <= 2


async def test_a_knob_that_the_resuming_call_names_holds_from_there_on() -> None:
    agent = build_agent("rag_fusion", checkpointer=InMemorySaver())
    context = Context(library="other", mode="extractive", top_k=1)
    await agent.ainvoke(OPENED, CONFIG, context=context, interrupt_after=["condense"])
    begun = (await agent.aget_state(CONFIG)).config
    state = await agent.ainvoke(None, CONFIG, context={"library": "default"})
    assert read(state) == {"observatory.md"} and len(state["candidates"]) == 1
    forked = await agent.aupdate_state(begun, {"notes": ["edited"]}, as_node="condense")
    state = await agent.ainvoke(None, forked, context={"top_k": 2})
    assert read(state) <= OTHER.keys() and len(state["candidates"]) == 2


async def test_nothing_that_set_one_turn_reaches_into_the_next() -> None:
    agent = build_agent(checkpointer=InMemorySaver())
    await agent.ainvoke({"question": UNKNOWN}, CONFIG, context={"web": "ask", "library": "other"})
    # The question that waits is left, for the same thread's next.
    state = await agent.ainvoke({"question": OPENED}, CONFIG)
    assert "1931" in state["answer"].text and not read(state) & OTHER.keys()
    assert not {"web", "library"} & state["turn"]["knobs"].keys()
    first = [s async for s in agent.aget_state_history(CONFIG) if s.next == ("condense",)][-1]
    state = await agent.ainvoke(None, first.config)
    assert not read(state) & OTHER.keys()
