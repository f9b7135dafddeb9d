"""When the retrievers of recordings are asked, and when recordings are searched like any other corpus."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.components.context import Context
from ragweave.graphs.agent import graph
from ragweave.tests.support.talks import KITCHEN, TALK, vtt

QUESTION = "When does the ferry sail in winter?"
FILES = {
    "ferry.md": "# Ferry\n\nIn winter the ferry sails at nine.",
    "comet.vtt": vtt(TALK),
    "bread.vtt": vtt(KITCHEN),
}


async def _ran(
    monkeypatch: pytest.MonkeyPatch, share: float, question: str = QUESTION, **knobs: Any
) -> set[str]:
    """Return the nodes that ran beside a router which gives recordings a share of its confidence."""
    rest = {"paragraph": 1 - share, "document": 0.0, "none": 0.0, "image": 0.0, "table": 0.0}
    monkeypatch.setattr("ragweave.models.router.predict", lambda *_: {"clip": share, "video": 0.0, **rest})
    ran = set[str]()
    async for event in graph.astream({"question": question}, context=Context(**knobs), stream_mode="updates"):
        ran |= event.keys()
    return ran


async def test_recordings_that_are_not_in_question_are_searched_like_any_other_corpus(
    stock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(FILES)
    assert "retrieve_video" not in await _ran(monkeypatch, 0.1)


@pytest.mark.parametrize(
    ("share", "question", "knobs"),
    [
        (0.3, QUESTION, {}),
        (0.1, QUESTION, {"sources": ("comet.vtt",)}),
        (0.1, QUESTION, {"from_time": 1.0}),
        (0.1, "What is said in comet.vtt about the tail?", {}),
    ],
)
async def test_recordings_in_question_are_searched_by_their_retrievers(
    stock: Any, monkeypatch: pytest.MonkeyPatch, share: float, question: str, knobs: dict[str, Any]
) -> None:
    stock(FILES)
    assert "retrieve_video" in await _ran(monkeypatch, share, question, **knobs)
