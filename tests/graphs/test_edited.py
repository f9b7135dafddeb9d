"""A question and a query that are edited in the state count, as LangGraph's own time travel lets one do."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from ragweave.components.context import Context
from ragweave.graphs.run import GRAPHS, build_agent

pytestmark = pytest.mark.usefixtures("library")
CONFIG: Any = {"configurable": {"thread_id": "t"}}
OPENED = "When was the Corvane Observatory opened?"
BAKED = "How long does the rye bread bake at 250 degrees?"
TEA = "What is the tea of Qingshan?"
SMALL = Context(mode="extractive", max_hops=1)


def after(before: str, question: str) -> str:
    """Return what is asked by a follow-up without a model."""
    return f"{before} {question}"


async def before(agent: Any, step: str) -> tuple[Any, Any]:
    """Return the last checkpoint of the thread that a step comes next of, and the one after it."""
    past = [s async for s in agent.aget_state_history(CONFIG)]
    at = next(i for i, s in enumerate(past) if step in s.next)
    return past[at].config, past[at - 1].config


@pytest.mark.parametrize("first", [{"question": OPENED}, {"messages": [("human", OPENED)]}])
@pytest.mark.parametrize("name", [*GRAPHS])
async def test_a_question_that_is_edited_before_its_turn_begins_is_the_one_that_is_answered(
    name: str, first: Any
) -> None:
    agent = build_agent(name, checkpointer=InMemorySaver())
    await agent.ainvoke(TEA, CONFIG, context=SMALL)
    await agent.ainvoke(first, CONFIG, context=SMALL)
    at, _ = await before(agent, "condense")
    edited = await agent.aupdate_state(at, {"question": BAKED}, as_node="__start__")
    state = await agent.ainvoke(None, edited, context=SMALL)
    assert state["answer"].question == state["query"] == after(TEA, BAKED)
    assert [m.text for m in state["messages"] if m.type == "human"] == [TEA, BAKED]
    assert name == "video_rag" or "ten minutes" in state["answer"].text
    # The next turn is its own again.
    state = await agent.ainvoke(first, CONFIG, context=SMALL)
    assert (
        state["answer"].question == after(BAKED, OPENED) and [m.text for m in state["messages"]][-2] == OPENED
    )


async def test_a_question_that_is_put_into_a_thread_whose_turn_has_ended_is_the_next() -> None:
    agent = build_agent("crag", checkpointer=InMemorySaver())
    state = await agent.ainvoke(OPENED, CONFIG, context=SMALL)
    told = state["answer"].text
    agent.update_state(CONFIG, {"question": BAKED}, as_node="__start__")
    state = await agent.ainvoke(None, CONFIG, context=SMALL)
    assert [m.text for m in state["messages"]] == [OPENED, told, BAKED, state["answer"].text]
    assert "ten minutes" in state["answer"].text
    agent.update_state(CONFIG, {"messages": [HumanMessage(OPENED)]}, as_node="__start__")
    state = await agent.ainvoke(None, CONFIG, context=SMALL)
    assert state["answer"].question == after(BAKED, OPENED) and len(state["messages"]) == 6


@pytest.mark.parametrize("name", [*GRAPHS])
async def test_a_query_that_is_edited_before_the_first_search_is_the_one_that_is_searched(name: str) -> None:
    agent = build_agent(name, checkpointer=InMemorySaver())
    await agent.ainvoke(OPENED, CONFIG, context=SMALL)
    _, begun = await before(agent, "condense")
    edited = await agent.aupdate_state(begun, {"query": BAKED}, as_node="condense")
    state = await agent.ainvoke(None, edited, context=SMALL)
    assert state["query"] == BAKED and state["answer"].question == OPENED
    assert {row["query"] for row in state["evidence"]} <= {BAKED}
    assert name == "video_rag" or state["evidence"][0]["title"] == "Rye bread"
