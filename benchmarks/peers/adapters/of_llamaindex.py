"""LlamaIndex: BM25 and vectors fused by reciprocal rank, ten passages, its citation query engine."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from adapting import serve
from llama import index, opened


class Asker:
    def __init__(self, store: Path) -> None:
        self.retriever, self.engine = opened(store)

    async def ask(self, question: str, previous: list[str]) -> tuple[str, list[str]]:
        told = " ".join([*previous, question])
        reply = await self.engine.aquery(told)
        return str(reply), [n.metadata.get("file_path", "") for n in reply.source_nodes]

    async def find(self, question: str) -> list[str]:
        return [n.metadata.get("file_path", "") for n in await self.retriever.aretrieve(question)]


if __name__ == "__main__":
    asyncio.run(serve(index, Asker))
