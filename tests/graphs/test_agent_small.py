from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from ragweave.app.api import GRAPHS, build_agent
from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.components.phrases import QUOTED
from ragweave.graphs.agent import build, graph

pytestmark = pytest.mark.usefixtures("library")


async def ask(question: str, name: str = "agent", **knobs: Any) -> dict[str, Any]:
    state: dict[str, Any] = await build_agent(name).ainvoke(
        {"messages": [("human", question)]}, context=Context(**knobs)
    )
    return state


@pytest.mark.parametrize("name", [g for g in GRAPHS if g != "video_rag"])
async def test_every_graph_answers_with_a_citation_that_names_file_and_heading(name: str) -> None:
    answer: Answer = (await ask("When was the Corvane Observatory opened?", name))["answer"]
    assert (answer.kind, answer.mode, answer.model_calls) == ("quotes", "extractive", 0)
    assert "1931" in answer.text and len(answer.notes) == 1
    first = answer.citations[0]
    assert first.locator["file"].endswith("observatory.md")
    assert first.locator["kind"] == "heading"
    assert "It was opened in 1931." in first.quote and "It was **opened** in 1931." in answer.text


async def test_a_question_that_the_library_does_not_answer_shows_the_closest_and_says_that_nobody_read_it() -> (
    None
):
    answer: Answer = (await ask("Who painted the Corvane Observatory in 1953?"))["answer"]
    assert answer.kind == "quotes" and not answer.abstained and answer.confidence == 0
    assert answer.notes[0].startswith(QUOTED)


async def test_follow_up_is_understood_and_the_turn_starts_clean() -> None:
    agent = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    first = await agent.ainvoke({"messages": [("human", "When was the Corvane Observatory opened?")]}, config)
    second = await agent.ainvoke({"messages": [("human", "And how high does it stand?")]}, config)
    assert "Corvane" in second["question"]
    assert "2,310" in second["answer"].text
    assert second["hops"][0]["query"] == second["question"]
    assert {u.node for u in second["answer"].usage} >= {
        "condense",
        "route",
        "retrieve",
        "fuse",
        "generate",
        "check",
    }
    assert len(second["messages"]) == 4
    assert first["turn"] != second["turn"]
    assert len([r for r in second["routes"] if r["hop"] == 1]) == 1


async def test_scope_by_source_keeps_other_files_out() -> None:
    from ragweave.corpora.store.library import open_library

    bread = next(s for s in await (await open_library()).sources() if s.path.endswith("bread.md"))
    state = await ask("When was the Corvane Observatory opened?", sources=(bread.id,))
    assert all(e["locator"]["file"].endswith("bread.md") for e in state["evidence"])


async def test_steps_are_told_as_typed_events() -> None:
    events: list[dict[str, Any]] = []
    sent: Any = {"messages": [("human", "When was the Corvane Observatory opened?")]}
    async for part in graph.astream(sent, context=Context(), stream_mode="custom", version="v2"):
        events.append(part["data"])
    nodes = [e["node"] for e in events if e["type"] == "step"]
    assert nodes[0] == "condense"
    assert nodes[-2:] == ["generate", "check"]
    assert {"route", "retrieve", "fuse", "grade", "refine", "reason"} <= set(nodes)
    told = [e for e in events if e["type"] == "sentence"]
    assert [c["n"] for e in told for c in e["citations"]] == list(range(1, len(told) + 1))
    assert {(e["support"], e["sign"]) for e in told} == {("quoted", ">")}
    assert "1931" in told[0]["text"]
    assert {told[0]["text"][a:b] for a, b in told[0]["marked"]} >= {"Corvane Observatory", "opened"}


def test_the_drawing_bears_the_words_of_the_verdicts() -> None:
    drawn = {e.target: e.data for e in graph.get_graph().edges if e.source == "grade"}
    assert drawn == {
        "refine": "correct, ambiguous, unsure",
        "expand": "incorrect, reword",
        "search_web": "web",
    }


def test_drawing_shows_every_edge_of_the_design() -> None:
    edges = {(e.source, e.target) for e in graph.get_graph().edges}
    assert edges == {
        ("__start__", "condense"),
        ("condense", "route"),
        ("route", "retrieve"),
        ("route", "retrieve_video"),
        ("route", "generate"),
        ("expand", "retrieve"),
        ("expand", "retrieve_video"),
        ("retrieve", "fuse"),
        ("retrieve_video", "fuse"),
        ("fuse", "grade"),
        ("grade", "refine"),
        ("grade", "expand"),
        ("grade", "search_web"),
        ("refine", "reason"),
        ("search_web", "reason"),
        ("reason", "route"),
        ("reason", "recall"),
        ("reason", "generate"),
        ("reason", "check"),
        ("recall", "reason"),
        ("generate", "check"),
        ("check", "__end__"),
    }
