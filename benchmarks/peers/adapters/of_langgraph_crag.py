"""Corrective RAG as LangGraph's tutorial describes it: retrieve, grade each passage, rewrite where one fails, generate.

The tutorial searches the web after a rewrite; no web is reached here, so the rewritten question searches the
library again.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from adapting import serve
from langgraph.graph import END, START, StateGraph
from tutorial import K, State, Steps, index


class Asker(Steps):
    def built(self) -> Any:
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
        return graph.compile()

    async def again(self, state: State) -> State:
        return {"documents": state["documents"] + await self.kept.asimilarity_search(state["query"], k=K)}


if __name__ == "__main__":
    asyncio.run(serve(index, Asker))
