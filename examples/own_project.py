"""A LangGraph project of your own around Ragweave's agent; conversations survive a restart.

LangGraph loads from a checkpoint only the types that a program names. It warns about any other type, and
refuses it if LANGGRAPH_STRICT_MSGPACK is true. `own_project.json` names the types for `langgraph dev`,
`serializer` for your own saver.

Index something first (`ragweave index FOLDER`), then run `python examples/own_project.py "a question" "and
another"`.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, MessagesState, StateGraph

from ragweave import Context, build_agent
from ragweave.nodes.state import SAVED


@dataclass
class Slip:
    """A type of your own in the state."""

    questions: int


class Conversation(MessagesState):
    """The state of your graph; Ragweave shares its `messages`."""

    slip: Slip


def count(state: Conversation) -> dict[str, Any]:
    """Count the questions of a conversation."""
    before = state.get("slip")
    return {"slip": Slip(before.questions + 1 if before else 1)}


def builder() -> StateGraph[Any, Any, Any, Any]:
    """Return your graph, in which Ragweave is one node."""
    outer: StateGraph[Any, Any, Any, Any] = StateGraph(Conversation, context_schema=Context)
    outer.add_node("count", count)
    outer.add_node("notes", build_agent("agent"))
    outer.add_edge(START, "count")
    outer.add_edge("count", "notes")
    outer.add_edge("notes", END)
    return outer


def serializer() -> JsonPlusSerializer:
    """Return a serializer that loads Ragweave's types and yours."""
    return JsonPlusSerializer(allowed_msgpack_modules=[*SAVED, Slip])


graph = builder().compile()
"""The graph for `langgraph dev`, which has its own saver and takes the types from own_project.json."""


async def main(questions: list[str]) -> list[str]:
    """Ask questions in one conversation; each loads the conversation as a new process would."""
    saver = InMemorySaver(serde=serializer())
    config: Any = {"configurable": {"thread_id": "one"}}
    answers = []
    for question in questions:
        agent = builder().compile(checkpointer=saver)
        end = await agent.ainvoke({"messages": [HumanMessage(question)]}, config, context=Context())
        answers.append(f"{end['slip'].questions}. {end['messages'][-1].text}")
    return answers


if __name__ == "__main__":
    print("\n".join(asyncio.run(main(sys.argv[1:] or ["What do my notes say?", "And what else?"]))))
