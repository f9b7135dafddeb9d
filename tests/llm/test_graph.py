"""The whole graph against a real language model: it proves that every part reaches its node, never quality."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk

from ragweave.components.context import Context
from ragweave.graphs.agent import graph
from ragweave.tests.support.library import build_library

pytestmark = pytest.mark.llm

TEXTS = {
    "tower.md": (
        "# Helder tower\n\nThe Helder tower was built in 1931 by the Ostrander Works. It is 42 metres tall.\n"
    ),
    "works.md": (
        "# Ostrander Works\n\nThe Ostrander Works were founded by Ada Ostrander in 1889 in the town of"
        " Pell.\n"
    ),
    "bread.md": "# Rye bread\n\nRye bread is baked at 250 degrees for ten minutes and then at 190 degrees.\n",
}
QUESTIONS = (
    "When was the Helder tower built?",
    "Who founded the Ostrander Works?",
    "How tall is the Helder tower?",
)
DECIDING = ("route", "expand", "grade", "reason", "generate")
MISREAD = "local, llm unreadable"
"""The model was asked and replied; so small a one seldom keeps the form of a turn."""
ROUTED = Context(mode="llm", route_by="llm", grade_by="llm", top_k=3, max_hops=2)
"""Router and evaluator are small unless a run asks for the model."""
TOLD = Context(
    mode="llm",
    grade_by="llm",
    top_k=3,
    max_hops=2,
    corpora=("paragraph",),
    effort="high",
    method={"upper": 1.0, "lower": -1.0},
)
"""So small a model may route every question to `none`; the nodes behind retrieval are driven where it is not asked.
Every round is ambiguous, and with high effort searched in other words."""


@pytest.mark.usefixtures("llm_server")
async def test_every_deciding_node_reaches_the_model_and_most_can_read_it(tmp_path: Path) -> None:
    await build_library(tmp_path / "texts", TEXTS)
    by: dict[str, Counter[str]] = defaultdict(Counter)
    answers: list[Any] = []

    async def ask(question: str, context: Context) -> None:
        sent: Any = {"messages": [("human", question)]}
        stream = graph.astream(
            sent, context=context, stream_mode=["custom", "messages", "values"], version="v2"
        )
        state: Any = {}
        pushed = ""
        async for part in stream:
            if part["type"] == "custom" and part["data"]["type"] == "step":
                by[part["data"]["node"]][part["data"]["by"]] += 1
            elif part["type"] == "messages" and isinstance(part["data"][0], AIMessageChunk):
                pushed += part["data"][0].text
            elif part["type"] == "values":
                state = part["data"]
        answer = state["answer"]
        answers.append(answer)
        # Marks come below the text that was pushed, and in the text of the answer. Quotes are pushed as
        # Markdown.
        assert bool(pushed) != answer.abstained
        assert all(s.text in pushed for s in answer.sentences if s.support != "quoted")

    # A model of this size misses a form now and then; a second round tells that from a node it never reaches.
    for _ in range(2):
        await asyncio.gather(ask(QUESTIONS[0], ROUTED), *(ask(q, TOLD) for q in QUESTIONS))
        if all(by[node]["llm"] for node in DECIDING):
            break
    for node in DECIDING:
        assert by[node]["llm"] + by[node][MISREAD] > 0, f"no call of {node} was answered: {dict(by[node])}"
    assert sum(by[node]["llm"] > 0 for node in DECIDING) >= 3
    for answer in answers:
        assert answer.model_calls > 0
        assert answer.tokens > 0
        assert all(s.citations for s in answer.sentences if s.support == "verified")
