"""nano-graphrag: its graph of entities and communities, mode `local`.

It takes texts and keeps no names of files: each text begins with its file's, which is what an answer can
cite.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import numpy as np
import tiktoken
from adapting import serve, text_of
from nano_graphrag import GraphRAG, QueryParam
from nano_graphrag._utils import EmbeddingFunc
from openai import AsyncOpenAI

CLIENT = AsyncOpenAI(base_url=os.environ["PEER_URL"], api_key="peer", timeout=7_200)
STYLE = (
    "One to three sentences, each followed by the file that it rests on in square brackets, like [notes/a.md]"
)


class Fours:
    """Four bytes a token: the table that it counts with is fetched from the network, which is not reached here."""

    def encode(self, text: str) -> list[int]:
        raw = text.encode()
        return [int.from_bytes(raw[n : n + 4].ljust(4, b" ")) for n in range(0, len(raw), 4)]

    def decode(self, tokens: list[int]) -> str:
        return b"".join(t.to_bytes(4) for t in tokens).decode(errors="ignore")

    def encode_batch(self, texts: list[str], **_: object) -> list[list[int]]:
        return [self.encode(t) for t in texts]

    def decode_batch(self, rows: list[list[int]]) -> list[str]:
        return [self.decode(r) for r in rows]


tiktoken.encoding_for_model = lambda _: Fours()


async def complete(
    prompt: str, system_prompt: str | None = None, history_messages: list | None = None, **_: object
) -> str:
    said = [{"role": "system", "content": system_prompt}] if system_prompt else []
    said += [*(history_messages or []), {"role": "user", "content": prompt}]
    reply = await CLIENT.chat.completions.create(model="desk", messages=said)
    return reply.choices[0].message.content or ""


async def embed(texts: list[str]) -> np.ndarray:
    reply = await CLIENT.embeddings.create(model="encoder", input=texts, encoding_format="float")
    return np.array([d.embedding for d in reply.data], dtype=np.float32)


async def made(store: Path) -> GraphRAG:
    width = (await embed(["x"])).shape[1]
    return GraphRAG(
        working_dir=str(store),
        embedding_func=EmbeddingFunc(embedding_dim=width, max_token_size=8_192, func=embed),
        best_model_func=complete,
        cheap_model_func=complete,
        best_model_max_async=64,
        cheap_model_max_async=64,
        entity_extract_max_gleaning=0,
        enable_llm_cache=False,
    )


async def index(store: Path, folder: Path) -> int:
    files = [(p, text) for p in sorted(folder.rglob("*")) if p.is_file() and (text := text_of(p)).strip()]
    await (await made(store)).ainsert([f"File: {p}\n\n{text}" for p, text in files])
    return len(files)


class Asker:
    def __init__(self, store: Path) -> None:
        self.store = store

    async def ready(self) -> None:
        self.rag = await made(self.store)

    async def find(self, question: str) -> list[str]:
        told = await self.rag.aquery(question, QueryParam(mode="local", only_need_context=True)) or ""
        return list(dict.fromkeys(re.findall(r"File: (\S+)", told)))

    async def ask(self, question: str, previous: list[str]) -> tuple[str, list[str]]:
        answer = await self.rag.aquery(
            " ".join([*previous, question]), QueryParam(mode="local", response_type=STYLE)
        )
        files = list(dict.fromkeys(re.findall(r"\[([^\[\]\s]+\.\w+)\]", answer)))
        for n, file in enumerate(files, 1):
            answer = answer.replace(f"[{file}]", f"[{n}]")
        return answer, files


if __name__ == "__main__":
    asyncio.run(serve(index, Asker))
