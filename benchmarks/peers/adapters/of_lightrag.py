"""LightRAG: its own graph of entities and relations, mode `mix` (graph and vectors).

It takes texts: pages of a PDF and paragraphs of a DOCX are read as its server does, the rest as it stands.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from hashlib import sha256
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import numpy as np
from adapting import serve, text_of
from lightrag import LightRAG, QueryParam
from lightrag.base import DocStatus
from lightrag.utils import EmbeddingFunc, Tokenizer, setup_logger
from openai import AsyncOpenAI

CLIENT = AsyncOpenAI(base_url=os.environ["PEER_URL"], api_key="peer", timeout=7_200)
setup_logger("lightrag", level="ERROR", enable_file_logging=False)


async def complete(
    prompt: str, system_prompt: str = "", history_messages: list | None = None, **_: object
) -> str:
    said = [{"role": "system", "content": system_prompt}] if system_prompt else []
    said += [*(history_messages or []), {"role": "user", "content": prompt}]
    reply = await CLIENT.chat.completions.create(model="desk", messages=said)
    return reply.choices[0].message.content or ""


async def embed(texts: list[str]) -> np.ndarray:
    reply = await CLIENT.embeddings.create(model="encoder", input=texts, encoding_format="float")
    return np.array([d.embedding for d in reply.data], dtype=np.float32)


class Fours:
    """Four bytes a token: the table that it counts with is fetched from the network, which is not reached here."""

    def encode(self, text: str) -> list[int]:
        raw = text.encode()
        return [int.from_bytes(raw[n : n + 4].ljust(4, b" ")) for n in range(0, len(raw), 4)]

    def decode(self, tokens: list[int]) -> str:
        return b"".join(t.to_bytes(4) for t in tokens).decode(errors="ignore")


async def made(store: Path) -> LightRAG:
    width = (await embed(["x"])).shape[1]
    rag = LightRAG(
        working_dir=str(store),
        tokenizer=Tokenizer("fours", Fours()),
        default_llm_timeout=7_200,
        enable_llm_cache=False,
        llm_model_func=complete,
        llm_model_max_async=64,
        max_parallel_insert=64,
        entity_extract_max_gleaning=0,
        embedding_func=EmbeddingFunc(embedding_dim=width, max_token_size=8_192, func=embed),
    )
    await rag.initialize_storages()
    return rag


async def index(store: Path, folder: Path) -> int:
    rag = await made(store)
    files = [(p, text) for p in sorted(folder.rglob("*")) if p.is_file() and (text := text_of(p)).strip()]
    wanted = {sha256(f"{p}\n{text}".encode()).hexdigest(): (str(p), text) for p, text in files}
    for gone in (await rag.doc_status.get_docs_by_statuses(list(DocStatus))).keys() - wanted.keys():
        await rag.adelete_by_doc_id(gone)
    paths, texts = zip(*wanted.values(), strict=True)
    await rag.ainsert(list(texts), ids=list(wanted), file_paths=list(paths))
    await rag.finalize_storages()
    return len(files)


class Asker:
    def __init__(self, store: Path) -> None:
        self.store = store

    async def ready(self) -> None:
        self.rag = await made(self.store)

    async def find(self, question: str) -> list[str]:
        data = await self.rag.aquery_data(
            question, QueryParam(mode="mix", chunk_top_k=10, enable_rerank=False)
        )
        return [c["file_path"] for c in data.get("data", {}).get("chunks", [])]

    async def ask(self, question: str, previous: list[str]) -> tuple[str, list[str]]:
        told = [{"role": "user", "content": p} for p in previous]
        given = QueryParam(mode="mix", chunk_top_k=10, enable_rerank=False, conversation_history=told)
        answer = str(await self.rag.aquery(question, given))
        # Its references name files by number below the answer.
        named = dict(re.findall(r"^\s*[-*]?\s*\[(\d+)\]\s*(\S.*)$", answer, re.M))
        return answer, [named.get(str(n), "") for n in range(1, max(map(int, named), default=0) + 1)]


if __name__ == "__main__":
    asyncio.run(serve(index, Asker))
