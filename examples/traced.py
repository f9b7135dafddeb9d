"""Trace a question: in the terminal, or at LangSmith or Langfuse, which get questions and passages.

Index something first (`ragweave index FOLDER`), then run `python examples/traced.py "a question"`. LangSmith
needs no code, but LANGSMITH_TRACING=true and LANGSMITH_API_KEY. For Langfuse put its own handler into
`handlers`: `from langfuse.langchain import CallbackHandler` (pip install langfuse; LANGFUSE_PUBLIC_KEY,
LANGFUSE_SECRET_KEY).
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from ragweave import build_agent


class Printed(BaseCallbackHandler):
    """Prints each step of the graph with its milliseconds."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self._begun: dict[UUID, tuple[str, float]] = {}

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: UUID, **more: Any) -> None:
        """Remember when a step began."""
        name = str(more.get("name") or "")
        metadata = more.get("metadata") or {}
        if name == metadata.get("langgraph_node"):
            self._begun[run_id] = (name, time.perf_counter())

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **more: Any) -> None:
        """Print a step that ended."""
        if run_id in self._begun:
            name, began = self._begun.pop(run_id)
            self.steps.append(name)
            print(f"{name:<12}{1_000 * (time.perf_counter() - began):7.1f} ms")


async def main(question: str, handlers: Sequence[BaseCallbackHandler]) -> str:
    """Ask a question, pass every step to the handlers, and return the text of the answer."""
    state = await build_agent().ainvoke({"question": question}, config={"callbacks": [*handlers]})
    return str(state["answer"].text)


if __name__ == "__main__":
    print(asyncio.run(main(" ".join(sys.argv[1:]) or "What do my notes say?", [Printed()])))
