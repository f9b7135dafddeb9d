from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from ragweave.app.api import GRAPHS, aask, aindex, asearch, build_agent
from ragweave.app.commands.search import passages_for
from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.components.phrases import QUOTED
from ragweave.corpora.store.library import open_library
from ragweave.corpora.types import Locator
from ragweave.evals.sets import folder_of
from ragweave.graphs.agent import build, graph
from ragweave.models import context_window
from ragweave.models.settings import model_settings
from ragweave.models.tables import heads_above
from ragweave.tests.support import ScriptedServer, build_library


async def ask(question: str, name: str = "agent", **knobs: Any) -> dict[str, Any]:
    state: dict[str, Any] = await build_agent(name).ainvoke(
        {"messages": [("human", question)]}, context=Context(**knobs)
    )
    return state


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", [g for g in GRAPHS if g != "video_rag"])
async def test_every_graph_answers_with_a_citation_that_names_file_and_heading(name: str) -> None:
    answer: Answer = (await ask("When was the Corvane Observatory opened?", name))["answer"]
    assert (answer.kind, answer.mode, answer.model_calls) == ("quotes", "extractive", 0)
    assert "1931" in answer.text and len(answer.notes) == 1
    first = answer.citations[0]
    assert first.locator["file"].endswith("observatory.md")
    assert first.locator["kind"] == "heading"
    assert "It was opened in 1931." in first.quote and "It was **opened** in 1931." in answer.text


@pytest.mark.usefixtures("library")
async def test_a_question_that_the_library_does_not_answer_shows_the_closest_and_says_that_nobody_read_it() -> (
    None
):
    answer: Answer = (await ask("Who painted the Corvane Observatory in 1953?"))["answer"]
    assert answer.kind == "quotes" and not answer.abstained and answer.confidence == 0
    assert answer.notes[0].startswith(QUOTED)


@pytest.mark.usefixtures("library")
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


@pytest.mark.usefixtures("library")
async def test_scope_by_source_keeps_other_files_out() -> None:
    from ragweave.corpora.store.library import open_library

    bread = next(s for s in await (await open_library()).sources() if s.path.endswith("bread.md"))
    state = await ask("When was the Corvane Observatory opened?", sources=(bread.id,))
    assert all(e["locator"]["file"].endswith("bread.md") for e in state["evidence"])


@pytest.mark.usefixtures("library")
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


@pytest.mark.usefixtures("library")
def test_the_drawing_bears_the_words_of_the_verdicts() -> None:
    drawn = {e.target: e.data for e in graph.get_graph().edges if e.source == "grade"}
    assert drawn == {
        "refine": "correct, ambiguous, unsure",
        "expand": "incorrect, reword",
        "search_web": "web",
    }


@pytest.mark.usefixtures("library")
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


SAID = "In {year} the harbour wall of stone was raised by {year} stones, and the clerk wrote of it. "
FILES = {
    f"note{n}.md": (
        f"# Harbour note {n}\n\n" + "".join(SAID.format(year=1_000 + 60 * n + m) for m in range(100))
    )
    for n in range(6)
}
QUESTION = "What did the clerk write of the harbour wall of stone?"


@pytest.fixture
async def asked(home: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(context_window, "_windows", {})
    monkeypatch.setattr("ragweave.models.failures.BACKOFF", 0.0)
    await build_library(tmp_path / "files", FILES)

    async def ask(server: ScriptedServer, **settings: str) -> Answer:
        given = {"chat": "small", "chat_url": server.base_url, "chat_cache": "false", **settings}
        for name, value in given.items():
            monkeypatch.setenv(f"RAGWEAVE_{name.upper()}", value)
        model_settings.cache_clear()
        return await aask(QUESTION, context=Context(max_hops=1, check_by="off", corpora=("document",)))

    return ask


def reply_within(tokens: int) -> Callable[[Any], str]:
    """Return a model that answers only a prompt that it reads whole."""

    def reply(request: Any) -> str:
        whole = len(request.prompt.encode()) // 4 <= tokens
        answer = "The wall was raised. [1]" if whole else "UNKNOWN. The documents do not tell."
        return f"Final Answer: {answer}"

    return reply


reply = reply_within(4_096)


async def test_a_server_that_cuts_in_silence_is_found_out_and_asked_again_with_less(asked: Any) -> None:
    with ScriptedServer(react=reply_within(2_048)) as server:
        server.context = 2_048
        answer = await asked(server)
        sizes = [len(request.prompt.encode()) // 4 for request in server.requests]
    assert max(sizes) > 2_048 > sizes[-1], sizes
    assert "The wall was raised." in answer.text
    assert [
        note for note in answer.notes if "small reads 2,048 tokens at once, so a prompt was cut" in note
    ], answer.notes


@pytest.mark.parametrize("how", ["set", "told"])
async def test_where_the_size_is_known_no_prompt_is_longer(how: str, asked: Any) -> None:
    with ScriptedServer(react=reply) as server:
        server.context = 4_096
        server.pages = {"/props": {"default_generation_settings": {"n_ctx": 4_096}}} if how == "told" else {}
        answer = await asked(server, **({"chat_context": "4096"} if how == "set" else {}))
        sizes = [len(request.prompt.encode()) // 4 for request in server.requests]
    assert max(sizes) <= 3_072 and "The wall was raised." in answer.text
    assert any("reads" in note and " at once" in note for note in answer.notes), answer.notes


ROOT = Path(__file__).parents[2]
SETS = ("canalboat", "campsite")
PLAIN = (".txt", ".csv")
"""Files whose lines are read as they are."""
QUESTIONS = (
    "What does the ferry cost?",
    "When was the lamp lit?",
    "How many seats has the cinema?",
    "茶室几点开门?",
    "Who keeps the lighthouse?",
    "When does the last boat leave on Sundays?",
    "Which picture shows the harbour?",
)


async def answers_over(folder: Path) -> list[Answer]:
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    await aindex([folder / "library"], folder.name)
    context = Context(library=folder.name, mode="extractive")
    return [await aask(row["question"], context=context) for row in rows[::6]]


async def test_no_quote_holds_words_of_another_place_than_the_cited_one(home: Path) -> None:
    seen = on_lines = 0
    for folder in map(folder_of, SETS):
        for answer in await answers_over(folder):
            library = await open_library(folder.name)
            items = await library.items([c.id for c in answer.citations])
            cited = {c.n: c for c in answer.citations}
            for sentence in (s for s in answer.sentences if s.support == "quoted"):
                (number,) = sentence.citations
                place, item = cited[number].locator, items[cited[number].id]
                start, end = place["chars"]
                piece = item.text[start:end]
                rest = bare(sentence.text).replace(bare(piece), "", 1)
                assert rest in ("", bare(heads_above(item.text, start))), sentence.text
                pages = {s.page for s in item.spans if s.start < end and s.end > start and s.page}
                assert pages <= {place.get("page")}, sentence.text
                seen += 1
                if (line := cited_line(place)) is not None:
                    assert bare(first_words(piece)) in bare(line), sentence.text
                    on_lines += 1
    assert seen >= 100 and on_lines >= 10


async def test_search_lists_the_quotes_of_an_answer_first_and_in_their_order(home: Path) -> None:
    await aindex([ROOT / "examples" / "library"], "demo")
    context = Context(library="demo", mode="extractive")
    for question in QUESTIONS:
        quotes = [s.text for s in (await aask(question, context=context)).sentences if s.support == "quoted"]
        listed = [text for text, _ in (await passages_for(question, context))[1]]
        assert quotes and listed[: len(quotes)] == quotes


@pytest.mark.parametrize("whole", [False, True], ids=["page", "model"])
async def test_the_first_three_files_of_search_and_of_an_answer_agree(home: Path, whole: bool) -> None:
    await aindex([ROOT / "examples" / "library"], "demo")
    context = Context(library="demo", mode="extractive")
    for question in QUESTIONS:
        answer = await aask(question, context=context)
        cited = {c.n: c.locator["file"] for c in answer.citations}
        shown = [cited[s.citations[0]] for s in answer.sentences if s.support == "quoted"]
        found = [row["locator"]["file"] for row in await asearch(question, context=context, whole=whole)]
        first = list(dict.fromkeys(shown))
        assert first and list(dict.fromkeys(found))[: len(first)] == first, question


def cited_line(place: Locator) -> str | None:
    """Return the cited line of a file that is read as it is, None of any other."""
    file = Path(place["file"])
    if file.suffix not in PLAIN or not place.get("line"):
        return None
    return file.read_text("utf-8", "replace").splitlines()[place["line"] - 1]


def bare(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


def first_words(text: str) -> str:
    return " ".join(re.split(r"[^\w]+", text.split("\n")[0].strip())[:2])
