"""Haystack: BM25 and vectors joined by reciprocal rank, ten passages, one call of its chat generator."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from adapting import serve
from haystack.components.converters import (
    CSVToDocument,
    DOCXToDocument,
    HTMLToDocument,
    PyPDFToDocument,
    TextFileToDocument,
    XLSXToDocument,
)
from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from prompt import SYSTEM, user

GIVEN = {
    "api_base_url": os.environ["PEER_URL"],
    "api_key": Secret.from_token("peer"),
    "timeout": 7_200,
}
CONVERTERS = {
    ".csv": CSVToDocument,
    ".docx": DOCXToDocument,
    ".html": HTMLToDocument,
    ".pdf": PyPDFToDocument,
    ".xlsx": XLSXToDocument,
}


def index(store: Path, folder: Path) -> int:
    documents = []
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    for suffix in {p.suffix for p in files}:
        given = [p for p in files if p.suffix == suffix]
        made = CONVERTERS.get(suffix, TextFileToDocument)(store_full_path=True).run(sources=given)[
            "documents"
        ]
        documents += [d for d in made if d.content]
    splitter = DocumentSplitter(split_by="word", split_length=200, split_overlap=20)
    splitter.warm_up() if hasattr(splitter, "warm_up") else None
    cut = splitter.run(documents=documents)["documents"]
    embedder = OpenAIDocumentEmbedder(**GIVEN, model="encoder", batch_size=64, progress_bar=False)
    kept = InMemoryDocumentStore()
    kept.write_documents(embedder.run(documents=cut)["documents"])
    kept.save_to_disk(str(store / "store.json"))
    return len(documents)


class Asker:
    def __init__(self, store: Path) -> None:
        kept = InMemoryDocumentStore.load_from_disk(str(store / "store.json"))
        self.lexical = InMemoryBM25Retriever(kept, top_k=10)
        self.dense = InMemoryEmbeddingRetriever(kept, top_k=10)
        self.embedder = OpenAITextEmbedder(**GIVEN, model="encoder")
        self.joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=10)
        self.generator = OpenAIChatGenerator(**GIVEN, model="desk")

    def search(self, question: str) -> list:
        vector = self.embedder.run(text=question)["embedding"]
        lists = [
            self.lexical.run(query=question)["documents"],
            self.dense.run(query_embedding=vector)["documents"],
        ]
        return self.joiner.run(documents=lists)["documents"]

    async def find(self, question: str) -> list[str]:
        return [d.meta["file_path"] for d in await asyncio.to_thread(self.search, question)]

    async def ask(self, question: str, previous: list[str]) -> tuple[str, list[str]]:
        found = await asyncio.to_thread(self.search, " ".join([*previous, question]))
        told = user([f"{Path(d.meta['file_path']).name}\n{d.content}" for d in found], question, previous)
        messages = [ChatMessage.from_system(re.sub(r"\s+", " ", SYSTEM)), ChatMessage.from_user(told)]
        reply = await self.generator.run_async(messages=messages)
        return reply["replies"][0].text, [d.meta["file_path"] for d in found]


if __name__ == "__main__":
    asyncio.run(serve(index, Asker))
