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
from langgraph.types import Command

from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.components.evidence import Sentence
from ragweave.graphs.agent import graph
from ragweave.graphs.run import GRAPHS, build_agent
from ragweave.models import router
from ragweave.models.chat import override
from ragweave.tests.support.library import build_library
from ragweave.tests.support.talks import TALK, vtt


@pytest.mark.usefixtures("library")
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


@pytest.mark.usefixtures("library")
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


@pytest.mark.usefixtures("library")
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


@pytest.mark.usefixtures("library")
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


@pytest.mark.usefixtures("library")
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


@pytest.mark.usefixtures("library")
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


@pytest.fixture
async def other(tmp_path: Path, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Index a second library, and let an empty folder stand in for the web."""
    (tmp_path / "web").mkdir()
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(tmp_path / "web"))
    await build_library(tmp_path / "other", OTHER, "other")


def read(state: dict[str, Any]) -> set[str]:
    """Name the files that a turn has read."""
    return {Path(e["locator"]["file"]).name for e in state["evidence"]}


@pytest.mark.usefixtures("library")
@pytest.mark.usefixtures("other")
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


@pytest.mark.usefixtures("library")
@pytest.mark.usefixtures("other")
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


@pytest.mark.usefixtures("library")
@pytest.mark.usefixtures("other")
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


@pytest.mark.usefixtures("library")
@pytest.mark.usefixtures("other")
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


REPORT = (
    "---\ndate: {date}\n---\n\n# Fare of the Pell ferry\n\nThe fare of the Pell ferry is {fare} crowns.\n"
)
TEXTS = {
    "a.md": REPORT.format(date="2025-04-01", fare="3.10"),
    "b.md": REPORT.format(date="2025-04-20", fare="4.20"),
    "c.md": REPORT.format(date="2025-05-01", fare="5.30"),
    "copy of c.md": REPORT.format(date="2025-05-01", fare="5.30") + "\n<!-- forwarded -->\n",
}
LATEST = "What is the latest fare of the Pell ferry?"


@pytest.fixture
def _news(stock: Any) -> None:
    stock(TEXTS)


async def ask(
    play: Any, question: str, recency: Any = "on", **parts: Any
) -> tuple[dict[str, Any], list[Any]]:
    model = play(**{"generate": "The fare is 5.30 crowns [1].", **parts})
    with override(writer=model):
        state = await graph.ainvoke(
            {"messages": [("human", question)]},
            context=Context(grade_by="llm", recency=recency),
        )
    return state, model.calls


@pytest.mark.usefixtures("_news")
async def test_writer_and_reasoner_see_dates_and_the_other_places_of_a_duplicate(play: Any) -> None:
    _, calls = await ask(play, LATEST)
    for words in ("numbered evidence", "numbered documents"):
        prompt = next(c.prompt for c in calls if words in c.prompt)
        # A first of a month that no text names may stand for the month.
        assert "; 2025-04)" in prompt and "; 2025-04-20)" in prompt
        assert "; 2025-05; also in copy of c.md)" in prompt or "; 2025-05; also in c.md)" in prompt


QUESTION = {"question": "When was the lamp lit?"}


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
async def test_typed_events_are_those_of_the_custom_stream(home: Path, tmp_path: Path) -> None:
    await build_library(tmp_path / "notes", {"lamp.md": "# The lamp\n\nThe lamp was lit in 1874.\n"})
    plain = [part async for part in build_agent().astream(QUESTION, stream_mode="custom")]
    run: Any = await build_agent().astream_events(QUESTION, version="v3")
    typed = [event["params"]["data"] async for event in run if event["method"] == "custom"]
    assert [(e["type"], e.get("node")) for e in typed] == [(e["type"], e.get("node")) for e in plain]
    assert {"step", "sentence"} <= {e["type"] for e in typed}
    projected: Any = await build_agent().astream_events(QUESTION, version="v3")
    assert [e["type"] async for e in projected.custom] == [e["type"] for e in plain]
