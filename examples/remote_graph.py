"""Ragweave in another process as a node of your graph: LangGraph's RemoteGraph, over `langgraph dev`.

Start `langgraph dev` in the checkout, then run `python examples/remote_graph.py "a question"`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.pregel.remote import RemoteGraph

SERVER = "http://127.0.0.1:2024"


def as_node(server: str = SERVER) -> Any:
    """Return a graph in which Ragweave is one node; both share `messages`."""
    outer = StateGraph(MessagesState)
    outer.add_node("notes", RemoteGraph("agent", url=server))
    outer.add_edge(START, "notes")
    outer.add_edge("notes", END)
    return outer.compile()


async def main(question: str, server: str = SERVER) -> str:
    """Print the steps of a run, and return the answer of the outer graph."""
    notes = RemoteGraph("agent", url=server)
    async for event in notes.astream({"question": question}, context={"top_k": 5}, stream_mode="custom"):
        print(f"{event['node']}: {event['summary']}" if event["type"] == "step" else event["type"])
    end = await as_node(server).ainvoke({"messages": [HumanMessage(question)]})
    return str(end["messages"][-1].content)


if __name__ == "__main__":
    print(asyncio.run(main(" ".join(sys.argv[1:]) or "What do my notes say?")))
