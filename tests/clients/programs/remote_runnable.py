"""LangServe's RemoteRunnable in Python."""

import asyncio
import json
import sys
from typing import TypedDict

from common import FILE_PART, IMAGE_PART, LIT, SAILS, WHO, with_part
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langserve import RemoteRunnable

agent = RemoteRunnable(f"{sys.argv[1]}/langserve/agent/")
first = agent.invoke({"question": LIT})
events = list(agent.stream({"question": LIT}))
thread = {"configurable": {"thread_id": "1"}}
agent.invoke({"question": LIT}, thread)


class State(TypedDict):
    """The state of a graph of somebody else."""

    question: str
    answer: str


graph = StateGraph(State)
graph.add_node(
    "ask",
    RunnableLambda(lambda state: {"question": state["question"]})
    | agent
    | (lambda a: {"answer": a["content"]}),
)
graph.add_edge(START, "ask")
in_graph = graph.compile(checkpointer=InMemorySaver())
ferry = {"configurable": {"thread_id": "2"}}
agent.invoke({"question": "Tell me about the ferry."}, ferry)


async def inner_events():
    """Return the names of the custom events of a run."""
    names = []
    async for event in agent.astream_events({"question": LIT}, version="v2"):
        if event["event"] == "on_custom_event":
            names.append(event["name"])
    return names


names = asyncio.run(inner_events())
assert {"step", "sentence"} <= set(names), names
print(
    json.dumps(
        {
            "chat": first["content"],
            "stream": events[-1]["content"],
            "citations": "".join(c["open"]["href"] for c in first["citations"]),
            "file": agent.invoke({"messages": [with_part(WHO, FILE_PART)]})["content"],
            "picture": agent.invoke({"messages": [with_part(LIT, IMAGE_PART)]})["content"],
            "chat in a graph": in_graph.invoke({"question": LIT}, {"configurable": {"thread_id": "outer"}})[
                "answer"
            ],
            "chat in a chain": (agent | (lambda a: a["content"])).invoke({"question": LIT}),
            "follow-up of a thread": agent.invoke({"question": "How often does it sail?"}, ferry)["content"],
            "follow-up": agent.invoke({"question": SAILS}, thread)["content"],
        }
    )
)
