"""LlamaIndex's sub-question engine: the question is split, its citation engine answers each part, one call joins them.

The joining prompt knows no sources: what the parts cite counts as cited by the whole.
"""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from adapting import serve
from llama import index, opened
from llama_index.core import PromptTemplate, Settings, get_response_synthesizer
from llama_index.core.query_engine import SubQuestionQueryEngine
from llama_index.core.question_gen import LLMQuestionGenerator
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import QueryEngineTool

JOINED = PromptTemplate(
    "Answer the question from these parts alone, in its language, in one to three sentences. If they do not"
    " hold the answer, reply with the single word UNKNOWN. Today is 2025-11-28.\n\n{context_str}\n\nQuestion:"
    " {query_str}"
)
HELD = (
    "notes, letters, price lists and minutes of a household, clubs, a museum and a vet's practice; articles"
)


class Asker:
    def __init__(self, store: Path) -> None:
        self.retriever, engine = opened(store)
        self.engine = SubQuestionQueryEngine.from_defaults(
            [QueryEngineTool.from_defaults(engine, name="library", description=HELD)],
            question_gen=LLMQuestionGenerator.from_defaults(Settings.llm),
            response_synthesizer=get_response_synthesizer(text_qa_template=JOINED, use_async=True),
            verbose=False,
        )

    async def ask(self, question: str, previous: list[str]) -> tuple[str, list[str]]:
        reply = await self.engine.aquery(" ".join([*previous, question]))
        files = list(dict.fromkeys(cited(reply.source_nodes)))
        numbers = "" if "UNKNOWN" in str(reply) else "".join(f"[{n}]" for n in range(1, len(files) + 1))
        bare = re.sub(r"\s*\[[\d, ]+\]", "", str(reply))
        return f"{bare} {numbers}".strip(), files

    async def find(self, question: str) -> list[str]:
        return [n.metadata.get("file_path", "") for n in await self.retriever.aretrieve(question)]


def cited(nodes: list[NodeWithScore]) -> list[str]:
    """Return the files that the parts cite: first come the parts, then the sources of each, numbered from 1."""
    parts = [n.text for n in nodes if n.text.startswith("Sub question:")]
    sources: list[list[str]] = []
    for node in nodes[len(parts) :]:
        if node.text.startswith("Source 1:"):
            sources.append([])
        sources[-1].append(node.metadata.get("file_path", ""))
    return [
        files[int(n) - 1]
        for part, files in zip(parts, sources, strict=False)
        for n in re.findall(r"\[(\d+)\]", part)
        if 0 < int(n) <= len(files)
    ]


if __name__ == "__main__":
    asyncio.run(serve(index, Asker))
