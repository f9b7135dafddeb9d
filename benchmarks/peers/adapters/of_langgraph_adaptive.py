"""Adaptive RAG as LangGraph's tutorial describes it: self-RAG behind a router between the library and the web.

No web is reached here: a question that is sent there is answered from no passages.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from adapting import serve
from langgraph.graph import START, StateGraph
from prompt import HELD
from tutorial import SelfRag, State, index


class Asker(SelfRag):
    def begin(self, graph: StateGraph) -> None:
        graph.add_node("search_web", self.search_web)
        graph.add_edge("search_web", "generate")
        graph.add_conditional_edges(START, self.route, ["retrieve", "search_web"])

    async def route(self, state: State) -> str:
        return "retrieve" if await self.says_yes(HELD.format(question=state["query"])) else "search_web"

    async def search_web(self, state: State) -> State:
        return {"documents": []}


if __name__ == "__main__":
    asyncio.run(serve(index, Asker))
