"""Ragweave as it is installed: the agent, with the settings that it comes with."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from uuid import uuid4

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from adapting import serve

STORE = Path(sys.argv[2]) if len(sys.argv) > 2 else Path()
os.environ |= {
    "RAGWEAVE_HOME": str(STORE / "home"),
    "RAGWEAVE_CHAT": "openai:desk",
    "RAGWEAVE_CHAT_URL": os.environ["PEER_URL"],
    "RAGWEAVE_CHAT_KEY": "peer",
    "RAGWEAVE_CHAT_CACHE": "false",
    "RAGWEAVE_CHAT_TIMEOUT": "7200",
    "OPENBLAS_NUM_THREADS": "1",  # as its commands set it
}


def index(store: Path, folder: Path) -> int:
    from ragweave.app.api import index as index_

    report = index_([folder])
    for path, reason in report.failed:  # as `ragweave index` prints them
        print(f"{path}: {reason}", file=sys.stderr)
    return report.indexed


class Asker:
    def __init__(self, store: Path) -> None:
        from langgraph.checkpoint.memory import InMemorySaver

        from ragweave.components import reason, write
        from ragweave.graphs.agent import build

        reason.today = write.today = lambda: "2025-11-28"
        self.graph = build().compile(checkpointer=InMemorySaver())

    async def ready(self) -> None:
        await self.find("What is here?")

    async def find(self, question: str) -> list[str]:
        from ragweave.app.api import asearch

        return [r["locator"].get("file", "") for r in await asearch(question)]

    async def ask(self, question: str, previous: list[str]) -> tuple[str, list[str]]:
        from ragweave.app.api import astate

        thread = uuid4().hex
        for text in [*previous, question]:
            state = await astate(text, thread=thread, graph=self.graph)
        answer = state["answer"]
        # Its citations carry numbers of their own; the files stand in that order.
        named = {c.n: c.locator.get("file", "") for c in answer.citations}
        return answer.text, [named.get(n, "") for n in range(1, max(named, default=0) + 1)]


if __name__ == "__main__":
    asyncio.run(serve(index, Asker))
