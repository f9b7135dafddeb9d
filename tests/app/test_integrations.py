"""Ragweave inside other programs: a retriever and a tool of LangChain."""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import threading
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolCall
from langchain_core.runnables import RunnablePassthrough
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

import ragweave
from ragweave import Context, RagweaveError, Retriever, aask, aindex, ask, astream, build_agent, index, search
from ragweave.models.errors import InputError
from ragweave.tests.support.library import build_library

TEXTS = {
    "pump.md": "# Pump\n\nThe pump is in the cellar. It was built by the Orlow company in 1987.",
    "garden.md": "# Garden\n\nThe roses need water twice a week in summer. The hedge is cut in March.",
}


async def test_a_library_is_a_retriever_of_langchain(home: Any, tmp_path: Any) -> None:
    await build_library(tmp_path / "texts", TEXTS, "house")
    retriever = ragweave.Retriever(library="house", k=1)
    (found,) = await retriever.ainvoke("Who built the pump?")
    assert "Orlow" in found.page_content and found.id
    assert found.metadata["title"] == "Pump" and found.metadata["locator"]["file"].endswith("pump.md")
    chain = {"notes": retriever, "question": RunnablePassthrough()} | RunnablePassthrough()
    assert "Orlow" in chain.invoke("Who built the pump?")["notes"][0].page_content


async def test_no_passage_of_a_retriever_is_a_part_of_another(home: Any, tmp_path: Any) -> None:
    sections = {"Wheel": "The wheel of the mill turns slowly.", "Stones": "The stones of the mill are new."}
    text = "# Mill\n\n" + "\n\n".join(
        f"## {head}\n\n{line} {'It is old oak. ' * 60}" for head, line in sections.items()
    )
    await build_library(tmp_path / "texts", {"mill.md": text, **TEXTS}, "house")
    question, context = (
        "What of the mill is new?",
        ragweave.Context(library="house", corpora=["paragraph", "document"]),
    )
    found = await ragweave.Retriever(context=context, k=6).ainvoke(question)
    texts = [
        " ".join(d.page_content.split()) for d in found if d.metadata["locator"]["file"].endswith("mill.md")
    ]
    assert texts and not any(a in b for a in texts for b in texts if a is not b)
    both = await ragweave.asearch(question, context=context)
    assert sum(row["locator"]["file"].endswith("mill.md") for row in both) > len(texts)


async def test_a_library_is_a_tool_whose_artifact_is_the_answer(home: Any, tmp_path: Any) -> None:
    await build_library(tmp_path / "texts", TEXTS, "house")
    tool = ragweave.as_tool(library="house", name="notes")
    call = ToolCall(name="notes", args={"question": "When is the hedge cut?"}, id="1", type="tool_call")
    message = await tool.ainvoke(call)
    assert "Garden [1]\n\n> " in message.content and "March" in message.content
    assert "\n[1] " in message.content and "garden.md, Garden\n" in message.content
    assert "No language model read these passages" in message.content
    assert isinstance(message.artifact, ragweave.Answer) and message.artifact.citations
    assert "March" in str(tool.invoke({"question": "When is the hedge cut?"}))


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
    end = await agent.ainvoke({"messages": [HumanMessage(QUESTION)]}, context=Context(mode="extractive"))
    assert "Your notes say:" in end["messages"][-1].text and "1874" in end["messages"][-1].text
    events = [
        part["data"]["type"]
        async for part in agent.astream(
            {"messages": [HumanMessage(QUESTION)]}, stream_mode="custom", subgraphs=True, version="v2"
        )
    ]
    assert "step" in events and "sentence" in events


@pytest.mark.parametrize("ours", [None, {"mode": "extractive"}])
async def test_it_is_a_node_of_a_graph_that_has_a_context_of_its_own(example: ModuleType, ours: Any) -> None:
    @dataclass
    class Outer:
        user: str
        ragweave: Any = None

    builder = StateGraph(MessagesState, context_schema=Outer)
    graph = builder.add_node("notes", build_agent()).add_edge(START, "notes").compile()
    asked: Any = {"messages": [HumanMessage(QUESTION)]}
    assert "1874" in (await graph.ainvoke(asked, context=Outer("ann", ours)))["messages"][-1].text
    with pytest.raises(InputError, match="top_kk"):
        await graph.ainvoke(asked, context=Outer("ann", {"top_kk": 1}))


async def test_it_is_a_tool_of_another_agent(example: ModuleType) -> None:
    def model(messages: list[AnyMessage]) -> AIMessage:
        if messages[-1].type == "tool":
            return AIMessage(f"I looked it up: {messages[-1].text}")
        call: Any = {"name": "look_up", "args": {"question": QUESTION}, "id": "1"}
        return AIMessage("", tool_calls=[call])

    end = await example.with_tool(model).ainvoke({"messages": [HumanMessage("The lamp?")]})
    assert "1874" in end["messages"][-1].text and "[1]" in end["messages"][-1].text


async def test_the_library_is_an_argument_of_each_call(tmp_path: Path, home: Path) -> None:
    (tmp_path / "b.md").write_text("# The ferry\n\nThe ferry Marten was built in 1931.\n", encoding="utf-8")
    assert (await aindex(str(tmp_path / "b.md"), "boats")).files == 1
    question = "When was the ferry Marten built?"
    assert "1931" in ask(question, library="boats").text
    assert "1931" in ask(question, library="boats", context=Context(mode="extractive", library="other")).text
    assert search(question, library="boats")[0]["locator"]["file"].endswith("b.md")
    events = [event["type"] async for event in astream(question, library="boats")]
    assert events[-1] == "state" and "sentence" in events
    with pytest.raises(RagweaveError, match="no library named 'nope'"):
        ask(question, library="nope")


@pytest.mark.parametrize("sent", [{"messages": [HumanMessage(QUESTION)]}, {"question": QUESTION}, QUESTION])
async def test_the_graph_runs_with_and_without_await_from_messages_or_a_question(
    example: ModuleType, sent: Any
) -> None:
    agent = build_agent()
    assert "1874" in agent.invoke(sent)["answer"].text
    assert "1874" in (await agent.ainvoke(sent))["answer"].text
    assert any("check" in part for part in agent.stream(sent))


def test_a_stream_that_is_left_ends_its_run_and_its_thread(example: ModuleType) -> None:
    parts = build_agent().stream({"question": QUESTION})
    next(parts)
    parts.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("ragweave_")]


def test_a_setting_that_cannot_be_used_says_which_would(home: Path) -> None:
    knobs: dict[str, Any] = {"topk": 3}
    with pytest.raises(InputError, match=r"topk: there is no such setting\. Write top_k"):
        Context(**knobs)
    with pytest.raises(InputError, match=r"method\.recallx: there is no such setting"):
        Context(method={"recallx": 3})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="top_k: input should be greater"):
        build_agent().invoke({"question": QUESTION}, context={"top_k": 0})
    with pytest.raises(InputError, match="the time range ends before it begins"):
        Context(from_time=2, to_time=1)


async def test_a_run_that_cannot_be_continued_is_an_error_with_a_remedy(example: ModuleType) -> None:
    async def run(question: Any, **options: Any) -> None:
        async for _ in astream(question, **options):
            pass

    kept = {"thread": "new", "checkpointer": InMemorySaver()}
    for question, options, words in (
        (None, kept, r"no kept thread to go on with\. Send a question"),
        (None, {}, "no kept thread to go on with"),
        ([], {}, "no kept thread to go on with"),
        (None, {"resume": True, "thread": "new"}, "Give the one that it began with"),
        (None, {"resume": True, **kept}, "there is no question"),
    ):
        with pytest.raises(InputError, match=words):
            await run(question, **options)


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search a folder instead of the web."""
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "crane.md").write_text(
        "# The crane\n\nThe crane of Vellmouth was repaired in 1967.\n"
    )
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(tmp_path / "web"))


async def test_a_run_that_waits_for_consent_is_an_error_and_continues_with_consent(
    web: None, example: ModuleType
) -> None:
    question, context = "When was the crane of Vellmouth repaired?", Context(mode="extractive", web="ask")
    options: Any = {"context": context, "thread": "t", "checkpointer": InMemorySaver()}
    with pytest.raises(
        InputError, match=r"waits for consent to search the web.* resume=True or resume=False"
    ):
        ask(question, **options)
    with pytest.raises(InputError, match="waits for consent"):
        await aask(question, context=context, checkpointer=InMemorySaver())
    assert "1967" in ask(question, resume=True, **options).text
    with pytest.raises(InputError, match="waits for consent"):
        ask(question, **options)
    assert ask(question, resume=False, **options).abstained
    assert "1874" in ask(QUESTION, **{**options, "thread": "another"}).text


def test_what_is_of_another_type_is_refused_at_every_door_in_a_sentence(home: Path) -> None:
    words = r"the question is no text but \w+\. Write"
    doors = (
        search,
        ask,
        Retriever(library="house").invoke,
        lambda q: build_agent("crag").invoke({"question": q}),
    )
    given: Any
    for door, given in itertools.product(doors, (7, ["a"])):
        with pytest.raises(InputError, match=words):
            door(given)
    for given in (5, [5], None):
        with pytest.raises(InputError, match="a path is no text but"):
            index(given)
    with pytest.raises(InputError, match="a document is a str"):
        index(documents=["x"], library="house")  # type: ignore[list-item]
    with pytest.raises(
        InputError, match=r"k: input should be greater than or equal to 1\. See docs/python\.md"
    ):
        Retriever(library="house", k=0)
    assert not home.exists()


def test_a_message_that_cannot_be_read_is_left_out_with_a_note(example: ModuleType) -> None:
    given: Any = [{"role": "critic", "content": "a"}, None, {"role": "tool", "content": "42"}]
    answer = ask(QUESTION, messages=given)
    assert "1874" in answer.text
    assert "Not used of what was sent: a message that cannot be read (3 times)." in answer.notes


class OuterContext(TypedDict, total=False):
    """The context of a graph of somebody else, one name of which is a setting here too."""

    tenant: str
    model: str
    ragweave: dict[str, Any]


def test_an_outer_context_with_a_name_of_ours_sets_the_run_by_its_member(example: ModuleType) -> None:
    outer = StateGraph(MessagesState, context_schema=OuterContext)
    outer.add_node("notes", build_agent("agent"))
    outer.add_edge(START, "notes")
    graph: Any = outer.compile()
    given = {"messages": [("user", QUESTION)]}
    own = {"tenant": "a", "model": "theirs"}
    with pytest.raises(InputError, match=r"tenant: there is no such setting.* as its member `ragweave`"):
        asyncio.run(graph.ainvoke(given, context=own))
    end = asyncio.run(graph.ainvoke(given, context={**own, "ragweave": {"top_k": 3}}))
    assert "1874" in end["messages"][-1].text
