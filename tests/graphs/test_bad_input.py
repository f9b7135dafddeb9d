"""What a language model or a library can do wrong in a turn, through the agent, over HTTP where a server does it."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.corpora.ingest.run import index
from ragweave.graphs.agent import graph
from ragweave.models.chat import override
from ragweave.models.settings import model_settings

QUESTION = "Who founded the firm that built the main telescope of the Corvane Observatory?"
OPENED = "When was the Corvane Observatory opened?"


async def ask(question: str = QUESTION, **knobs: Any) -> dict[str, Any]:
    state: dict[str, Any] = await graph.ainvoke({"messages": [("human", question)]}, context=Context(**knobs))
    answer: Answer = state["answer"]
    assert answer.text
    assert answer.sentences or (answer.abstained and answer.why)
    return state


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "knobs", [{"max_model_calls": 0}, {"max_tokens": 1}, {"max_cost": 1e-9}, {"max_hops": 0}]
)
async def test_a_budget_of_nothing_ends_in_an_answer_that_names_it(
    play: Any, monkeypatch: pytest.MonkeyPatch, knobs: dict[str, Any]
) -> None:
    monkeypatch.setenv("RAGWEAVE_RATES", '{"scripted": [1000, 1000], "*": [1000, 1000]}')
    model_settings.cache_clear()
    model = play()
    with override(writer=model):
        answer: Answer = (await ask(OPENED, **knobs))["answer"]
    if "max_hops" not in knobs:
        assert model.calls == []
        assert any("limit" in note for note in answer.notes), answer.notes


DATES = ["2999-01-01", "1970-01-01", "yesterday", "0000-00-00", "2024-13-45", "", "[2024]", "9" * 400]


@pytest.mark.parametrize("when", DATES)
async def test_a_date_that_cannot_be_meant_neither_lifts_nor_buries_a_document(
    tmp_path: Path, when: str
) -> None:
    for name, date, fare in (("a", "2025-04-01", "3.10"), ("b", "2025-05-01", "4.20"), ("c", when, "9.90")):
        path = tmp_path / f"{name}.md"
        path.write_text(
            f"---\ndate: {date}\n---\n\n# Fare\n\nThe fare of the Pell ferry is {fare} crowns.\n", "utf-8"
        )
        stamp = datetime(1970, 1, 1, tzinfo=UTC).timestamp()
        os.utime(path, (stamp, stamp))
    await index([tmp_path])
    state = await ask("What is the fare of the Pell ferry?", mode="extractive", recency="on")
    assert "4.20" in state["answer"].text
    weights = {Path(e["locator"]["file"]).stem: e["fresh"] for e in state["evidence"]}
    assert weights["b"] > weights["c"] >= weights["a"]
