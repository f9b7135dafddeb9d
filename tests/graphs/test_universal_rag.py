"""UniversalRAG alone: each question goes to its corpus, and what cannot be read ends in a stated way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragweave.components.context import Context
from ragweave.corpora.ingest.run import index
from ragweave.graphs.universal_rag import graph
from ragweave.models import router
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat

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
async def library(home: Path, tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, ITEMS)), encoding="utf-8")
    await index([tmp_path / "items.jsonl"], "default")


async def ask(question: str, **knobs: Any) -> Any:
    sent: Any = {"messages": [("human", question)]}
    return await graph.ainvoke(sent, context=Context(**{"mode": "extractive", **knobs}))


@pytest.mark.usefixtures("library")
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


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "reply", ["Image", "image.", "**image**", "The answer lies in the image!", '"image"', "label: image"]
)
async def test_a_label_is_read_with_whatever_stands_around_it(reply: str) -> None:
    with override(judge=ScriptedChat(replies=[reply]), writer=ScriptedChat()):
        state = await ask("What colour is the valve?", route_by="llm")
    assert (state["routes"][0]["corpora"], state["routes"][0]["by"]) == (["image"], "llm")


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("reply", ["hologram", "", "paragraph or image", "not image", "I cannot say."])
async def test_a_reply_that_is_no_label_falls_back_to_the_head_and_never_to_chance(reply: str) -> None:
    for _ in range(3):
        with override(judge=ScriptedChat(react=lambda messages: reply), writer=ScriptedChat()):
            state = await ask("What colour is the valve in the photo?", route_by="llm")
        assert state["routes"][0]["by"] == "local, llm unreadable"
        assert state["routes"][0]["corpora"][0] == "image" and len(state["routes"][0]["corpora"]) == 5


@pytest.mark.usefixtures("library")
async def test_routing_of_several_media_searches_everything_and_weighs_it_by_the_routers_confidence() -> None:
    state = await ask("What colour is the valve?", route_by="local")
    assert len(state["routes"][0]["corpora"]) == 5 and "does not tell" in state["answer"].searched[0]
    assert {e["corpus"] for e in state["evidence"]} == {"paragraph", "document", "image", "clip", "video"}
    rows = {e["id"]: e for e in state["evidence"]}
    assert rows[state["candidates"][0]]["corpus"] == "image"


@pytest.mark.usefixtures("library")
async def test_as_published_a_question_that_needs_nothing_is_answered_without_a_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(router, "predict", lambda question: {"none": 0.6, "paragraph": 0.4})
    with override(writer=ScriptedChat(replies=["It is twelve."])):
        state = await ask("What is the square root of 144?", mode="llm", preset="universal-rag-paper")
    assert state["routes"][0]["corpora"] == ["none"] and not state["evidence"]
    assert state["answer"].text == "It is twelve. (the model's own knowledge)"
