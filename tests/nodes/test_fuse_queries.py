"""Queries that look like query syntax, or like nothing at all, through the whole of RAG-Fusion."""

from __future__ import annotations

from typing import Any

import pytest

from ragweave.components.context import Context
from ragweave.graphs.rag_fusion import graph

TEXTS = {
    "note.md": '# Note\n\nThe NEAR keyword and the quote " belong to the query syntax of FTS5.\n',
    "who.md": "# The Who\n\nThe Who are a band.\n",
}


@pytest.fixture
def library(stock: Any) -> None:
    stock(TEXTS)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "question",
    [
        "who are you and what was it",
        "to be or not to be",
        'NEAR("query syntax", 3)',
        '"unbalanced quote',
        "title:note AND * OR (",
        "FTS5 -keyword ^quote {text} : *",
        "'; DROP TABLE items; --",
        "% _ \\ \x00 keyword",
        "a" * 7_000,
        "keyword " * 900,
        "关键词\u200b 🙂 keyword",
    ],
)
async def test_odd_query_is_searched_literally(question: str) -> None:
    sent: Any = {"messages": [("human", question)]}
    state = await graph.ainvoke(sent, context=Context(mode="extractive"))
    assert state["answer"] is not None
    assert not any("could not be searched" in n for n in state["notes"])
