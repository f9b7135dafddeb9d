"""Corrective RAG as LangGraph's tutorial describes it: retrieve, grade each passage, rewrite where one fails, generate.

The tutorial searches the web after a rewrite; no web is reached here, so the rewritten question searches the library
again. Chroma holds the vectors, as there.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import Any, TypedDict

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from adapting import serve, text_of
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter
from langgraph.graph import END, START, StateGraph
from prompt import GRADE, REWRITE, SYSTEM, user

GIVEN: dict[str, Any] = {"base_url": os.environ["PEER_URL"], "api_key": "peer", "timeout": 7_200}
K = 4


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
    answer: str


class Asker:
    def __init__(self, store: Path) -> None:
        self.kept, self.model = opened(store), ChatOpenAI(model="desk", **GIVEN)
        graph = StateGraph(State)
        for step in (self.retrieve, self.grade, self.rewrite, self.again, self.generate):
            graph.add_node(step.__name__, step)
        graph.add_edge(START, "retrieve")
        graph.add_edge("retrieve", "grade")
        graph.add_conditional_edges(
            "grade", lambda s: "rewrite" if s["missed"] else "generate", ["rewrite", "generate"]
        )
        graph.add_edge("rewrite", "again")
        graph.add_edge("again", "generate")
        graph.add_edge("generate", END)
        self.graph = graph.compile()

    async def retrieve(self, state: State) -> State:
        return {"documents": await self.kept.asimilarity_search(state["query"], k=K)}

    async def grade(self, state: State) -> State:
        asked = [GRADE.format(passage=d.page_content, question=state["query"]) for d in state["documents"]]
        said = await asyncio.gather(*(self.model.ainvoke(a) for a in asked))
        kept = [d for d, s in zip(state["documents"], said, strict=True) if "yes" in str(s.content).lower()]
        return {"documents": kept, "missed": len(kept) < len(said)}

    async def rewrite(self, state: State) -> State:
        return {"query": str((await self.model.ainvoke(REWRITE.format(question=state["query"]))).content)}

    async def again(self, state: State) -> State:
        return {"documents": state["documents"] + await self.kept.asimilarity_search(state["query"], k=K)}

    async def generate(self, state: State) -> State:
        told = user([d.page_content for d in state["documents"]], state["question"], state["previous"])
        said = await self.model.ainvoke([("system", re.sub(r"\s+", " ", SYSTEM)), ("user", told)])
        return {"answer": str(said.content)}

    async def find(self, question: str) -> list[str]:
        return [d.metadata["file"] for d in await self.kept.asimilarity_search(question, k=10)]

    async def ask(self, question: str, previous: list[str]) -> tuple[str, list[str]]:
        given = {"question": question, "query": " ".join([*previous, question]), "previous": previous}
        state = await self.graph.ainvoke(given)
        return state["answer"], [d.metadata["file"] for d in state["documents"]]


if __name__ == "__main__":
    asyncio.run(serve(index, Asker))
