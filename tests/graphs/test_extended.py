"""Graphs of other people: a node in the place of ours, another retriever, a node in between (CONTRIBUTING)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langgraph.graph import END, START

from ragweave.components.context import Context
from ragweave.graphs.agent import DECISIONS, VERDICTS, judged
from ragweave.graphs.base import Builder, new_graph
from ragweave.graphs.crag import build as build_crag
from ragweave.models.chat import override
from ragweave.nodes.check import check
from ragweave.nodes.condense import condense
from ragweave.nodes.expand import expand
from ragweave.nodes.generate import generate
from ragweave.nodes.grade import grade
from ragweave.nodes.reason import after_reason, reason
from ragweave.nodes.recall import recall
from ragweave.nodes.refine import refine
from ragweave.nodes.retrieve_with import retrieve_with
from ragweave.nodes.search_web import search_web
from ragweave.nodes.state import State, Update, numbered

OPENED = "When was the Corvane Observatory opened?"


@pytest.mark.usefixtures("library")
async def test_the_answer_that_a_node_of_somebody_else_writes_is_kept_checked_and_cited(play: Any) -> None:
    async def generate(state: State) -> Update:
        rows = {e["id"]: e for e in state["evidence"]}
        number = 1 + next(n for n, i in enumerate(numbered(state)) if "1931" in rows[i]["text"])
        return {
            "messages": [AIMessage(f"It was opened in 1931 [{number}]. It was closed in 1950 [{number}].")]
        }

    builder = build_crag()
    builder.nodes["generate"] = new_graph(generate=generate).nodes["generate"]
    with override(writer=play()):
        state = await builder.compile().ainvoke({"question": OPENED}, context=Context())  # type: ignore[arg-type]
    answer = state["answer"]
    assert [s.text for s in answer.sentences] == ["It was opened in 1931.", "It was closed in 1950."]
    assert [s.support for s in answer.sentences] == ["verified", "unverified"]
    assert answer.citations and answer.mode == "llm"
    assert [m.type for m in state["messages"]] == ["human", "ai"]


def retrieving_graph(retriever: BaseRetriever) -> Builder:
    """Return CRAG and the loop of Auto-RAG over a retriever of LangChain."""
    verbs = (condense, grade, expand, refine, search_web, reason, recall, generate, check)
    builder = new_graph(*verbs, retrieve=retrieve_with(retriever))
    builder.path(START, "condense", "retrieve", "grade")
    builder.add_conditional_edges("grade", judged, VERDICTS)
    builder.path("expand", "retrieve")
    builder.path("refine", "reason")
    builder.path("search_web", "reason")
    builder.add_conditional_edges("reason", after_reason, {**DECISIONS, "ask on": "retrieve"})
    builder.path("recall", "reason")
    builder.path("generate", "check", END)
    return builder


class Shelf(BaseRetriever):
    """Finds documents that share a long word with the query."""

    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        asked = {*re.findall(r"\w{6,}", query.lower())}
        return [d for d in self.documents if asked & {*re.findall(r"\w{6,}", d.page_content.lower())}]


SHELF = Shelf(
    documents=[
        Document(
            "The telescope of the Corvane was built by Ostrander.", metadata={"source": "scope.md", "page": 3}
        ),
        Document(
            "Ostrander Works were founded by Ada Ostrander.",
            metadata={"source": "works.md", "title": "Works"},
        ),
    ]
)


@pytest.mark.usefixtures("library")
async def test_the_loop_runs_over_a_retriever_of_langchain(play: Any) -> None:
    model = play(
        reason=[
            "It was Ostrander [1].\nQuery: founder of the Ostrander Works",
            "Final Answer: Ada Ostrander [2].",
        ]
    )
    with override(writer=model):
        graph = retrieving_graph(SHELF).compile()
        sent: Any = {"question": "Who founded the firm that built the telescope?"}
        state = await graph.ainvoke(sent, context=Context())
    assert [h["query"] for h in state["hops"]][1:] == ["founder of the Ostrander Works"]
    assert state["answer"].text.startswith("Ada Ostrander")
    assert state["answer"].citations[0].locator["file"] == "works.md"


@pytest.mark.usefixtures("library")
async def test_a_retriever_that_finds_nothing_ends_in_words(play: Any) -> None:
    model = play(reason="Query: something else again")
    with override(writer=model):
        graph = retrieving_graph(Shelf(documents=[])).compile()
        state = await graph.ainvoke({"question": OPENED}, context=Context(max_hops=2))  # type: ignore[arg-type]
    assert state["answer"].abstained and state["answer"].why


@pytest.mark.usefixtures("library")
async def test_a_node_in_between_is_written_as_contributing_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(\"\"\"Tell how many passages.*?)```", page, re.S)
    made: dict[str, Any] = {}
    exec(code, made)
    builder = build_crag()
    builder.add_node("tally", made["tally"])
    builder.edges.discard(("fuse", "grade"))
    builder.path("fuse", "tally", "grade")
    events = []
    sent: Any = {"question": OPENED}
    async for part in builder.compile().astream(
        sent, context=Context(mode="extractive"), stream_mode="custom"
    ):
        events.append(part)
    (told,) = [e["summary"] for e in events if e.get("node") == "tally"]
    assert re.fullmatch(r"\d+ passages kept", told)
