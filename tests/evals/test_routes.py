"""Routes that an evaluation sets in the place of the router."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.components.context import Context
from ragweave.evals.routes import every, head_alone, one_modality, with_route
from ragweave.graphs.search import build
from ragweave.models import router
from ragweave.nodes.state import NO_ROUTER

FILES = {
    "valve.md": "# Valve\n\nThe valve above the boiler is painted green.",
    "talk.vtt": "WEBVTT\n\n00:00:01.000 --> 00:00:09.000\nThe valve of the boiler was painted in spring.\n",
}


async def _searched(choose: Any) -> dict[str, Any]:
    graph = with_route(build(), choose).compile()
    sent: Any = {"messages": [("human", "What colour is the valve of the boiler?")]}
    return await graph.ainvoke(sent, context=Context(mode="extractive"))


async def test_every_corpus_is_searched_and_ordered_as_one_pool(stock: Any) -> None:
    stock(FILES)
    state = await _searched(every)
    (row,) = state["routes"]
    assert {"paragraph", "document", "clip"} <= {*row["corpora"]} and row["by"] == NO_ROUTER
    assert {e["corpus"] for e in state["evidence"]} >= {"paragraph", "clip"}


async def test_the_head_alone_leaves_out_what_it_does_not_choose(
    stock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(FILES)
    monkeypatch.setattr(router, "predict", lambda question: {"clip": 0.9, "paragraph": 0.1})
    state = await _searched(head_alone)
    assert state["routes"][0]["corpora"] == ["clip"]
    assert {e["corpus"] for e in state["evidence"]} == {"clip"}


async def test_without_granularity_a_label_stands_for_all_corpora_of_its_modality(
    stock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stock(FILES)
    likely = {"clip": 0.4, "document": 0.35, "paragraph": 0.25}
    monkeypatch.setattr(router, "predict", lambda question: likely)
    state = await _searched(one_modality)
    assert set(state["routes"][0]["corpora"]) == {"paragraph", "document"}
