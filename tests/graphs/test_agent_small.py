from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from ragweave.app.api import GRAPHS, build_agent
from ragweave.graphs.agent import build, graph
from ragweave.minds.context import Context
from ragweave.nodes.answer import Answer

pytestmark = pytest.mark.usefixtures("library")


async def ask(question: str, name: str = "agent", **knobs: Any) -> dict[str, Any]:
    state: dict[str, Any] = await build_agent(name).ainvoke(
        {"messages": [("human", question)]}, context=Context(**knobs)
    )
    return state


@pytest.mark.parametrize("name", [g for g in GRAPHS if g != "video_rag"])
async def test_every_graph_answers_with_a_citation_that_names_file_and_heading(name: str) -> None:
    answer: Answer = (await ask("When was the Corvane Observatory opened?", name))["answer"]
    assert "1931" in answer.text
    first = answer.citations[0]
    assert first.locator["file"].endswith("observatory.md")
    assert first.locator["kind"] == "heading"
    assert "1931" in " ".join(c.quote for c in answer.citations)
    assert answer.mind == "small"
    assert answer.model_calls == 0


async def test_chinese_question_is_answered_from_the_chinese_file() -> None:
    answer: Answer = (await ask("青山茶什么时候采摘?"))["answer"]
    assert "四月" in answer.text
    assert answer.citations[0].title.startswith("青山茶")


async def test_second_hop_asks_for_a_name_that_the_first_one_found() -> None:
    question = "Who founded the firm that built the main telescope of the Corvane Observatory?"
    state = await ask(question, corpora=("paragraph",))
    assert "Ada Ostrander" in state["answer"].text
    hops = state["hops"]
    assert len(hops) >= 2
    assert "Ostrander" in hops[0]["next"]
    assert "Ostrander" not in question


async def test_two_questions_of_one_turn_are_both_answered() -> None:
    question = "When was the Corvane Observatory opened, and how many people did the Ostrander Works employ?"
    answer: Answer = (await ask(question))["answer"]
    assert "1931" in answer.text
    assert "240 people" in answer.text
    assert not any("Nothing that was found" in note for note in answer.notes)


async def test_what_stays_open_of_two_questions_is_named() -> None:
    question = "When was the Corvane Observatory opened, and what is the highest mountain of Peru?"
    answer: Answer = (await ask(question))["answer"]
    assert "1931" in answer.text
    assert any("mountain of Peru" in note for note in answer.notes)


async def test_question_without_an_answer_in_the_library_is_declined_with_a_reason() -> None:
    answer: Answer = (await ask("Who won the chess tournament of Zurich in 1953?"))["answer"]
    assert answer.abstained
    assert answer.why
    assert len(answer.citations) <= 1  # at most the nearest, said not to answer
    assert answer.why in answer.text


async def test_hop_budget_of_one_stops_after_one_hop() -> None:
    state = await ask("Who founded the firm that built the telescope of the Corvane Observatory?", max_hops=1)
    assert [h["n"] for h in state["hops"]] == [1]


async def test_a_greeting_needs_no_search() -> None:
    greeted = await ask("Hello!")
    assert greeted["evidence"] == []
    assert not greeted["answer"].abstained
    assert greeted["answer"].sentences[0].support == "model"


async def test_follow_up_is_understood_and_the_turn_starts_clean() -> None:
    agent = build().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    first = await agent.ainvoke({"messages": [("human", "When was the Corvane Observatory opened?")]}, config)
    second = await agent.ainvoke({"messages": [("human", "And how high does it stand?")]}, config)
    assert "Corvane" in second["question"]
    assert "2,310" in second["answer"].text
    assert second["hops"][0]["query"] == second["question"]
    assert {u.node for u in second["answer"].usage} >= {"condense", "route", "retrieve", "fuse", "generate", "check"}
    assert len(second["messages"]) == 4
    assert first["turn"] != second["turn"]
    assert len([r for r in second["routes"] if r["hop"] == 1]) == 1


async def test_empty_corpus_selection_is_said_in_words() -> None:
    answer: Answer = (await ask("When was the Corvane Observatory opened?", corpora=("video",)))["answer"]
    assert answer.abstained
    assert any("video" in note for note in answer.notes)


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
    assert {"route", "expand", "plan", "retrieve", "fuse", "grade", "refine", "reason"} <= set(nodes)
    sentence = next(e for e in events if e["type"] == "sentence")
    assert sentence["citations"][0]["n"] == 1


def test_drawing_shows_every_edge_of_the_design() -> None:
    edges = {(e.source, e.target) for e in graph.get_graph().edges}
    assert edges == {
        ("__start__", "condense"),
        ("condense", "route"),
        ("condense", "expand"),
        ("route", "plan"),
        ("expand", "plan"),
        ("plan", "retrieve"),
        ("plan", "retrieve_video"),
        ("plan", "generate"),
        ("retrieve", "fuse"),
        ("retrieve_video", "fuse"),
        ("fuse", "grade"),
        ("grade", "refine"),
        ("grade", "search_web"),
        ("refine", "reason"),
        ("search_web", "reason"),
        ("reason", "route"),
        ("reason", "expand"),
        ("reason", "recall"),
        ("reason", "generate"),
        ("recall", "reason"),
        ("generate", "check"),
        ("check", "__end__"),
    }
