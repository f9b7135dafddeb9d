"""txtai: its embeddings database, hybrid (BM25 and vectors, their scores joined), ten passages of 200 words, one call.

Texts are cut here: its own extraction of text starts a Java server. It knows no changed files.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import numpy as np
from adapting import serve, text_of
from openai import AsyncOpenAI, OpenAI
from prompt import SYSTEM, user
from txtai import Embeddings

GIVEN = {"base_url": os.environ["PEER_URL"], "api_key": "peer", "timeout": 7_200}
ENCODER, MODEL = OpenAI(**GIVEN), AsyncOpenAI(**GIVEN)
WORDS, OVERLAP = 200, 20


def encode(texts: list[str]) -> np.ndarray:
    made = []
    for n in range(0, len(texts), 64):
        reply = ENCODER.embeddings.create(model="encoder", input=texts[n : n + 64], encoding_format="float")
        made += [d.embedding for d in reply.data]
    return np.array(made, dtype=np.float32)


def opened() -> Embeddings:
    return Embeddings(method="external", transform=encode, content=True, hybrid=True)


def cut(path: Path) -> list[dict[str, str]]:
    words = re.findall(r"\S+\s*", text_of(path))
    starts = range(0, max(len(words) - OVERLAP, 1), WORDS - OVERLAP)
    return [{"text": "".join(words[n : n + WORDS]), "file": str(path)} for n in starts if words]


def index(store: Path, folder: Path) -> int:
    files = [p for p in sorted(folder.rglob("*")) if p.is_file()]
    kept = opened()
    kept.index([piece for p in files for piece in cut(p)])
    kept.save(str(store / "index"))
    return len(files)


class Asker:
    def __init__(self, store: Path) -> None:
        self.kept = opened()
        self.kept.load(str(store / "index"), config={"transform": encode})

    def search(self, question: str) -> list[dict[str, str]]:
        wanted = "select text, file from txtai where similar(:question) limit 10"
        return self.kept.search(wanted, parameters={"question": question})

    async def find(self, question: str) -> list[str]:
        return [row["file"] for row in self.search(question)]

    async def ask(self, question: str, previous: list[str]) -> tuple[str, list[str]]:
        found = self.search(" ".join([*previous, question]))  # SQLite's connection stays in its thread
        told = user([f"{Path(row['file']).name}\n{row['text']}" for row in found], question, previous)
        messages = [
            {"role": "system", "content": re.sub(r"\s+", " ", SYSTEM)},
            {"role": "user", "content": told},
        ]
        reply = await MODEL.chat.completions.create(model="desk", messages=messages)
        return reply.choices[0].message.content or "", [row["file"] for row in found]


if __name__ == "__main__":
    asyncio.run(serve(index, Asker))
