from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import Runtime

from ragweave.app.api import astate
from ragweave.components.context import Context
from ragweave.components.expand import by_model, clean
from ragweave.components.fusion import fuse_ranks
from ragweave.components.run_context import RunContext, TurnState
from ragweave.corpora.types import Lists
from ragweave.graphs.run import astream, build_agent
from ragweave.graphs.search import graph
from ragweave.models.chat import override
from ragweave.models.errors import InputError
from ragweave.models.meter import Meter
from ragweave.models.text import words
from ragweave.nodes import retrieve as retrieving
from ragweave.nodes.expand import expand
from ragweave.nodes.route import to_corpora
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.knobs import context as knobs_of
from ragweave.tests.support.library import build_library
from ragweave.tests.support.states import a_turn

QUERY = "How does version v2.0 store vectors?"
FOUR = ["vector files of v2.0", "storage format in v2.0", "where embeddings lie on disk", "index file layout"]


@pytest.mark.usefixtures("_one_language")
@pytest.mark.parametrize(
    ("replies", "kept"),
    [
        (["Here are four queries:", "1. v2.0 files", "2) file format"], ["v2.0 files", "file format"]),
        (["Sure! Here are 4 search queries", "vector files"], ["vector files"]),
        (["Of course, I can help with these searches.", "vector files"], ["vector files"]),
        (["以下是四个查询", "v2.0 vectors on disk"], ["v2.0 vectors on disk"]),
        (['"files of v2.0"', "- files of v2.0", "* “Files of v2.0”", ""], ["files of v2.0"]),
        (["(1) alpha", "[2] gamma", "3、epsilon", "Query 4: eta"], ["alpha", "gamma", "epsilon", "eta"]),
        (["**vector files**", "`index layout`"], ["vector files", "index layout"]),
        (["How does version v2.0 store vectors?", "how does version V2.0 store vectors"], []),
        (["first form\nsecond form\n\n"], ["first form", "second form"]),
        (["2.5 million", "3. v2.0 on disk", "10) 3D vectors"], ["2.5 million", "v2.0 on disk", "3D vectors"]),
        ([" ", "?", "--", "1.", "\t"], []),
        (["x " * 200], []),
        (["向量如何存储", "как хранятся векторы", "vector storage"], ["vector storage"]),
        (["Oklahoma question bank", "help files of v2.0"], ["Oklahoma question bank", "help files of v2.0"]),
    ],
)  # fmt: skip
def test_rewrites_are_cleaned(replies: list[str], kept: list[str]) -> None:
    assert clean(replies, QUERY, 10) == kept


@pytest.mark.usefixtures("_one_language")
@given(st.lists(st.text(max_size=40), max_size=50), st.integers(0, 6))
def test_cleaning_keeps_the_limit_and_never_gives_an_empty_query(replies: list[str], limit: int) -> None:
    kept = clean(replies, QUERY, limit)
    assert len(kept) <= limit
    assert all(words(k) for k in kept)
    assert len({k.casefold() for k in kept}) == len(kept)
    assert clean(kept, QUERY, limit) == kept or any(c in "".join(kept) for c in "-*•.)[(:：、")


class _Runtime:
    """What a node needs of a runtime."""

    def __init__(self, **knobs: Any) -> None:
        self.context = knobs_of(**knobs)
        self.stream_writer = lambda event: None


@pytest.fixture
def _one_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a library in the language of the question."""

    async def none(run: Any, query: str) -> list[str]:
        return []

    monkeypatch.setattr("ragweave.components.expand._other_languages", none)


async def _phrasings(model: ScriptedChat, *, cached: bool = False, **knobs: Any) -> dict[str, Any]:
    with override(writer=model, cached=cached):
        update = await expand({"query": QUERY, "hop": 1}, _Runtime(**knobs))  # type: ignore[arg-type]
    row: dict[str, Any] = update["queries"][0]
    return row


@pytest.mark.usefixtures("_one_language")
async def test_rewrites_come_from_one_call() -> None:
    model = ScriptedChat(react=lambda messages: {"queries": FOUR})
    row = await _phrasings(model)
    assert row["rewrites"] == FOUR
    assert row["by"] == "llm"
    assert len(model.calls) == 1


@pytest.mark.usefixtures("_one_language")
@pytest.mark.parametrize(
    "reply", ["I would rather not.", "", '{"queries": []}', {"queries": [QUERY]}, ConnectionError("down")]
)
async def test_model_that_fails_leaves_the_question_alone(
    reply: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.models.failures.BACKOFF", 0.0)

    def react(messages: Any) -> Any:
        if isinstance(reply, Exception):
            raise reply
        return reply

    assert (await _phrasings(ScriptedChat(react=react)))["rewrites"] == []


@pytest.mark.usefixtures("_one_language")
@pytest.mark.parametrize(
    "reply",
    [
        "1. vector files of v2.0\n2. storage format in v2.0",
        "Here are the queries:\n\n- vector files of v2.0\n- storage format in v2.0",
        "vector files of v2.0\nstorage format in v2.0\n",
        "<think>two angles</think>vector files of v2.0\nstorage format in v2.0",
        "[1] vector files of v2.0\n[2] “storage format in v2.0”",
        '```json\n{"queries": ["vector files of v2.0", "storage format in v2.0"]}\n```',
        '["vector files of v2.0", "storage format in v2.0"]',
    ],
)
@pytest.mark.parametrize("form", ["own", "rag-fusion-seed", "rag-fusion"])
async def test_queries_are_read_in_every_form_in_one_call(reply: str, form: str) -> None:
    model = ScriptedChat(react=lambda messages: reply)
    row = await _phrasings(model, form=form)
    assert (row["rewrites"], row["by"]) == (FOUR[:2], "llm")
    assert len(model.calls) == 1


@pytest.mark.usefixtures("_one_language")
async def test_the_seed_asks_as_its_program_and_searches_one_vector_of_each_query_but_not_the_question(
    stock: Any,
) -> None:
    from ragweave.graphs.rag_fusion import graph

    stock({f"{n}.md": f"# {text}\n\nAll about {text}." for n, text in enumerate(FOUR)})
    model = ScriptedChat(react=lambda m: "\n".join(FOUR[:2]) if "multiple" in m[0].text else "In two files.")
    with override(writer=model):
        state = await graph.ainvoke(
            {"messages": [("human", QUERY)]}, context=Context(preset="rag-fusion-seed")
        )
    assert [m.text for m in model.calls[0].messages] == [
        "You are a helpful assistant that generates multiple search queries based on a single input query.",
        f"Generate multiple search queries related to: {QUERY}",
        "OUTPUT (4 queries):",
    ]
    found = [e for e in state["evidence"] if e["id"] in state["candidates"]]
    assert len(found) == 2 and [e["score"] for e in found] == [round(1 / 60, 4)] * 2


@pytest.mark.usefixtures("_one_language")
async def test_the_article_joins_the_vector_lists_of_the_question_and_its_phrasings_by_rank(
    stock: Any,
) -> None:
    from ragweave.graphs.rag_fusion import graph

    stock({f"{n}.md": f"# {text}\n\nAll about {text}." for n, text in enumerate(FOUR)})
    model = ScriptedChat(react=lambda m: "\n".join(FOUR) if "生成" in m[0].text else "In two files.")
    events = []
    with override(writer=model):
        context = Context(preset="rag-fusion-paper")
        async for part in graph.astream({"question": QUERY}, context=context, stream_mode="updates"):
            events.append(part)
    lists = [row for part in events for row in part.get("retrieve", {}).get("found", [])]
    dense = [row for row in lists if row["kind"] == "dense"]
    assert {row["query"] for row in dense} == {QUERY, *FOUR}
    expected = fuse_ranks([(1.0, [(i, 0.0) for i in row["ids"]]) for row in dense], 60)
    (rows,) = [part["fuse"]["evidence"] for part in events if "fuse" in part]
    assert [(row["id"], row["score"]) for row in rows] == [(i, round(score, 4)) for i, score in expected]


async def test_all_phrasings_are_one_batch_and_all_corpora_are_searched_at_the_same_time(
    stock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock({"a.md": "# Files\n\nAll about files."})
    begun: list[tuple[str, list[str]]] = []
    all_begun = asyncio.Event()

    async def search(library: Any, corpus: str, queries: list[str], *given: Any) -> list[Lists]:
        begun.append((corpus, [*queries]))
        if len(begun) == 2:
            all_begun.set()
        await asyncio.wait_for(all_begun.wait(), 5)  # a search one after the other would wait for ever
        return [Lists() for _ in queries]

    monkeypatch.setattr(retrieving, "search_within", search)
    route = {"hop": 1, "corpora": ["paragraph", "image"], "confidence": {}, "by": "local", "why": ""}
    phrased = {"hop": 1, "query": QUERY, "also": [], "rewrites": FOUR, "by": "llm"}
    state: Any = {"hop": 1, "query": QUERY, "routes": [route], "queries": [phrased], "turn": a_turn("t")}
    await retrieving.retrieve(state, Runtime(context=Context(), stream_writer=lambda _: None))
    assert begun == [("paragraph", [QUERY, *FOUR]), ("image", [QUERY, *FOUR])]


@pytest.mark.usefixtures("_one_language")
def test_rewrites_are_searched_in_the_recordings_too() -> None:
    route = {"hop": 1, "corpora": ["clip"], "confidence": {}, "by": "local", "why": "", "recordings": True}
    phrased = {"hop": 1, "query": "asked", "also": [], "rewrites": ["rewritten"], "by": "llm"}
    state: Any = {"turn": a_turn("t"), "hop": 1, "query": "asked", "routes": [route], "queries": [phrased]}
    sent = to_corpora(state)
    assert [(s.node, len(s.arg.get("routes", []))) for s in sent if not isinstance(s, str)] == [
        ("retrieve_video", 0),
        ("retrieve", 1),
    ]


@pytest.mark.usefixtures("_one_language")
async def test_a_library_in_another_language_is_asked_in_it_too(
    shelf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(shelf, "languages", _french)
    run = RunContext("expand", knobs_of(), TurnState(Meter(), shelf))
    model = ScriptedChat(replies=[{"queries": ["Quand le bac part-il ?", "ferry timetable"]}])
    with override(writer=model):
        assert await by_model(run, "When does the ferry sail from the island?") == [
            "Quand le bac part-il ?",
            "ferry timetable",
        ]
    assert "Write one of them in French" in model.calls[0].prompt


@pytest.mark.usefixtures("_one_language")
@pytest.mark.parametrize("query", ["¿Dónde nos reunimos ahora?", "Fähre wann?"])
async def test_a_question_whose_language_is_unsure_is_asked_in_the_two_languages_of_most_files(
    query: str, shelf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(shelf, "languages", _french)
    run = RunContext("expand", knobs_of(), TurnState(Meter(), shelf))
    model = ScriptedChat(replies=[{"queries": ["Where do we meet?", "Point de rencontre"]}])
    with override(writer=model):
        await by_model(run, query)
    assert "Write one of them in English and one in French, the others" in model.calls[0].prompt


async def _french() -> list[str]:
    return ["en", "fr"]


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
