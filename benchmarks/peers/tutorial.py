"""What LangGraph's tutorials of corrective, self-reflective and adaptive RAG share: a store, and the steps of a graph.

Chroma holds the vectors, as there. Grades are asked for as single words instead of by a tool, so that any
model can give them. The passages are graded side by side.
"""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Any, TypedDict

from adapting import text_of
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter
from langgraph.graph import END, START, StateGraph
from prompt import GRADE, GROUNDED, REWRITE, SYSTEM, USEFUL, user

GIVEN: dict[str, Any] = {"base_url": os.environ["PEER_URL"], "api_key": "peer", "timeout": 7_200}
K = 4
MOST = 2
"""Rewrites of a question, and writings of an answer, at most; the tutorials go round without end."""


def opened(store: Path) -> Chroma:
    encoder = OpenAIEmbeddings(model="encoder", check_embedding_ctx_length=False, chunk_size=64, **GIVEN)
    return Chroma("notes", encoder, persist_directory=str(store))


def index(store: Path, folder: Path) -> int:
    files = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    documents = [Document(text_of(p), metadata={"file": str(p)}) for p in files]
    cut = RecursiveCharacterTextSplitter(chunk_size=1_000, chunk_overlap=100).split_documents(documents)
    kept = opened(store)
    kept.reset_collection()  # it knows no changed files: what is indexed again is made anew
    for n in range(0, len(cut), 1_000):
        kept.add_documents(cut[n : n + 1_000])
    return len(files)


class State(TypedDict, total=False):
    question: str
    query: str
    previous: list[str]
    documents: list[Document]
    missed: bool
    rewrites: int
    written: int
    answer: str


class Steps:
    """The steps; a graph is what an adapter makes of them."""

    def __init__(self, store: Path) -> None:
        self.kept, self.model = opened(store), ChatOpenAI(model="desk", **GIVEN)
        self.graph = self.built()

    def built(self) -> Any:
        raise NotImplementedError

    async def says_yes(self, prompt: str) -> bool:
        return "yes" in str((await self.model.ainvoke(prompt)).content).lower()

    async def retrieve(self, state: State) -> State:
        return {"documents": await self.kept.asimilarity_search(state["query"], k=K)}

    async def grade(self, state: State) -> State:
        asked = [GRADE.format(passage=d.page_content, question=state["query"]) for d in state["documents"]]
        said = await asyncio.gather(*(self.says_yes(a) for a in asked))
        kept = [d for d, yes in zip(state["documents"], said, strict=True) if yes]
        return {"documents": kept, "missed": len(kept) < len(said)}

    async def rewrite(self, state: State) -> State:
        said = await self.model.ainvoke(REWRITE.format(question=state["query"]))
        return {"query": str(said.content), "rewrites": state.get("rewrites", 0) + 1}

    async def generate(self, state: State) -> State:
        told = user([d.page_content for d in state["documents"]], state["question"], state["previous"])
        said = await self.model.ainvoke([("system", re.sub(r"\s+", " ", SYSTEM)), ("user", told)])
        return {"answer": str(said.content), "written": state.get("written", 0) + 1}

    async def find(self, question: str) -> list[str]:
        return [d.metadata["file"] for d in await self.kept.asimilarity_search(question, k=10)]

    async def ask(self, question: str, previous: list[str]) -> tuple[str, list[str]]:
        given = {"question": question, "query": " ".join([*previous, question]), "previous": previous}
        state = await self.graph.ainvoke(given)
        return state["answer"], [d.metadata["file"] for d in state["documents"]]


class SelfRag(Steps):
    """Self-RAG: what is retrieved is graded, and so is what is written.

    Where no passage passes, or the answer misses the question, the question is rewritten and searched again;
    an answer that the passages do not support is written again.
    """

    def built(self) -> Any:
        graph = StateGraph(State)
        for step in (self.retrieve, self.grade, self.rewrite, self.generate):
            graph.add_node(step.__name__, step)
        self.begin(graph)
        graph.add_edge("retrieve", "grade")
        graph.add_conditional_edges("grade", self.found, ["rewrite", "generate"])
        graph.add_edge("rewrite", "retrieve")
        graph.add_conditional_edges("generate", self.judged, ["rewrite", "generate", END])
        return graph.compile()

    def begin(self, graph: StateGraph) -> None:
        graph.add_edge(START, "retrieve")

    async def found(self, state: State) -> str:
        return "generate" if state["documents"] or state.get("rewrites", 0) >= MOST else "rewrite"

    async def judged(self, state: State) -> str:
        shown = "\n\n".join(d.page_content for d in state["documents"])
        if not await self.says_yes(GROUNDED.format(passages=shown, answer=state["answer"])):
            return END if state["written"] >= MOST else "generate"
        resolved = await self.says_yes(USEFUL.format(question=state["question"], answer=state["answer"]))
        return END if resolved or state.get("rewrites", 0) >= MOST else "rewrite"
