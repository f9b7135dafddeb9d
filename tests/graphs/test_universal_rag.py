"""UniversalRAG alone: each question goes to its corpus, and what cannot be read ends in a stated way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.graphs.crag import graph as crag
from ragweave.graphs.universal_rag import graph
from ragweave.models import router
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.knobs import context as knobs_of

ITEMS: list[dict[str, Any]] = [
    {
        "kind": "paragraph",
        "title": "Lease",
        "text": "The lease of the flat was signed on 3 May 2019 in Tartu.",
    },
    {
        "kind": "document",
        "title": "Offers",
        "text": "Orlow offers five years of support. Saar offers two, for less.",
    },
    {
        "kind": "image",
        "title": "Boiler",
        "caption": "A red valve above a grey boiler, photographed in the cellar.",
    },
    {
        "kind": "clip",
        "title": "Tour",
        "transcript": "Now we bleed the radiator.",
        "file": "t.mp4",
        "start": 5,
        "end": 9,
    },
    {
        "kind": "video",
        "title": "Tour",
        "transcript": "We go through the cellar, then the attic.",
        "file": "t.mp4",
    },
]


@pytest.fixture
def five_corpora(stock: Any) -> None:
    stock({"items.jsonl": "\n".join(map(json.dumps, ITEMS))})


async def ask(question: str, **knobs: Any) -> Any:
    sent: Any = {"messages": [("human", question)]}
    return await graph.ainvoke(sent, context=Context(**{"mode": "extractive", **knobs}))


@pytest.mark.usefixtures("five_corpora")
@pytest.mark.parametrize(
    ("question", "corpus", "said", "kind"),
    [
        ("When was the lease signed?", "paragraph", "3 May 2019", "heading"),
        ("What colour is the valve in the photo of the boiler?", "image", "red valve", "image"),
        (
            "At which moment of the recording do they bleed the radiator?",
            "clip",
            "bleed the radiator",
            "time",
        ),
    ],
)
async def test_each_question_reaches_its_corpus_and_finds_what_opens(
    question: str, corpus: str, said: str, kind: str
) -> None:
    state = await ask(question)
    assert state["routes"][0]["corpora"][0] == corpus
    (best,) = [e for e in state["evidence"] if said in e["text"] and e["corpus"] == corpus]
    assert best["locator"]["kind"] == kind


@pytest.mark.usefixtures("five_corpora")
@pytest.mark.parametrize(
    "reply", ["Image", "image.", "**image**", "The answer lies in the image!", '"image"', "label: image"]
)
async def test_a_label_is_read_with_whatever_stands_around_it(reply: str) -> None:
    with override(judge=ScriptedChat(replies=[reply]), writer=ScriptedChat()):
        state = await ask("What colour is the valve?", route_by="llm")
    assert (state["routes"][0]["corpora"], state["routes"][0]["by"]) == (["image"], "llm")


@pytest.mark.usefixtures("five_corpora")
@pytest.mark.parametrize("reply", ["hologram", "", "paragraph or image", "not image", "I cannot say."])
async def test_a_reply_that_is_no_label_falls_back_to_the_head_and_never_to_chance(reply: str) -> None:
    for _ in range(3):
        with override(judge=ScriptedChat(react=lambda messages: reply), writer=ScriptedChat()):
            state = await ask("What colour is the valve in the photo?", route_by="llm")
        assert state["routes"][0]["by"] == "local, llm unreadable"
        assert state["routes"][0]["corpora"][0] == "image" and len(state["routes"][0]["corpora"]) == 5


@pytest.mark.usefixtures("five_corpora")
async def test_routing_of_several_media_searches_everything_and_weighs_it_by_the_routers_confidence() -> None:
    state = await ask("What colour is the valve?", route_by="local")
    assert len(state["routes"][0]["corpora"]) == 5 and "does not tell" in state["answer"].searched[0]
    assert {e["corpus"] for e in state["evidence"]} == {"paragraph", "document", "image", "clip", "video"}
    rows = {e["id"]: e for e in state["evidence"]}
    assert rows[state["candidates"][0]]["corpus"] == "image"


@pytest.mark.usefixtures("five_corpora")
async def test_as_published_a_question_that_needs_nothing_is_answered_without_a_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(router, "predict", lambda question: {"none": 0.6, "paragraph": 0.4})
    with override(writer=ScriptedChat(replies=["It is twelve."])):
        state = await ask("What is the square root of 144?", mode="llm", preset="universal-rag-paper")
    assert state["routes"][0]["corpora"] == ["none"] and not state["evidence"]
    assert state["answer"].text == "It is twelve. (the model's own knowledge)"


KNOWN = "When was the Corvane Observatory opened?"
UNKNOWN = "Who repaired the harbour crane of Vellmouth in 1967?"
CRANE = (
    "The harbour crane of Vellmouth was repaired in 1967 by the engineer Tolly Brandt, who replaced the"
    " jib.\n"
)


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands in for the web."""
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "crane.md").write_text(
        f"---\nurl: https://vellmouth.example/crane\n---\n# The crane\n\n{CRANE}"
    )
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(folder))
    return folder


async def walk(question: str, **knobs: Any) -> tuple[dict[str, Any], list[list[str]]]:
    """Run the graph; return the last state, and the nodes of each superstep."""
    context = knobs_of(**{"mode": "extractive", **knobs})
    steps: list[list[str]] = []
    state: dict[str, Any] = {}
    stream = crag.astream(
        {"messages": [("human", question)]}, context=context, stream_mode=["updates", "values"], version="v2"
    )
    nodes: list[str] = []
    async for part in stream:
        if part["type"] == "updates":
            nodes += list(part["data"])
        else:
            state = part["data"]
            steps.append(sorted(nodes))
            nodes = []
    return state, [s for s in steps if s]


BEFORE = [["condense"], ["retrieve"], ["fuse"], ["grade"]]
AFTER = [["generate"], ["check"]]


@pytest.mark.usefixtures("library")
async def test_ambiguous_does_both_side_by_side_and_keeps_both_origins(web: Path) -> None:
    (web / "corvane.md").write_text(
        "# Corvane Observatory\n\nThe observatory was opened to scholars in 1931.\n"
    )
    state, steps = await walk(KNOWN, web="auto", upper=1.0, lower=-1.0, corpora=("paragraph",))
    assert steps == [*BEFORE, ["refine", "search_web"], *AFTER]
    assert {s["origin"] for s in state["knowledge"]} == {"library", "web"}


@pytest.mark.usefixtures("library")
async def test_incorrect_goes_to_the_web_instead(web: Path) -> None:
    state, steps = await walk(UNKNOWN, web="auto", upper=1.0, lower=1.0, corpora=("paragraph",))
    assert steps == [*BEFORE, ["search_web"], *AFTER]
    assert {s["origin"] for s in state["knowledge"]} == {"web"}
    answer: Answer = state["answer"]
    assert "Tolly Brandt" in answer.text
    assert answer.citations[0].locator["url"] == "https://vellmouth.example/crane"


@pytest.mark.usefixtures("library")
async def test_incorrect_without_the_web_keeps_no_knowledge_and_quotes_the_closest_for_what_it_is() -> None:
    state, steps = await walk(KNOWN, upper=1.0, lower=1.0, corpora=("paragraph",))
    assert steps == [*BEFORE, *AFTER]
    assert state["knowledge"] == []
    assert state["answer"].kind == "quotes" and state["answer"].confidence == 0


@pytest.mark.usefixtures("library")
async def test_grading_and_refining_by_a_model_are_one_call_each(play: Any) -> None:
    model = play(grade=play.grades("relevant"))
    with override(writer=model):
        state, _ = await walk(KNOWN, mode="auto", grade_by="llm", strip_mode="sentences")
    assert play.parts(model) == ["grade", "grade", "generate"]
    assert state["grade"]["by"] == "llm"
    assert "1931" in state["answer"].text
