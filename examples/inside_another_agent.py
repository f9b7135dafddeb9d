"""Ragweave inside another LangGraph agent: as a sub-graph, and as a tool that a model may call.

Index something first (`ragweave index FOLDER`), then run `python examples/inside_another_agent.py "a
question"`.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from ragweave import Context, as_tool, build_agent


def as_sub_graph() -> Any:
    """Return an agent in which Ragweave is one node.

    Both share `messages`; the context of the outer run reaches the inner one. A saver of the outer graph also
    saves the inner one, so that a run can wait for consent to a web search.
    """
    outer = StateGraph(MessagesState, context_schema=Context)
    outer.add_node("notes", build_agent("agent"))
    outer.add_node(
        "sign", lambda state: {"messages": [AIMessage(f"Your notes say: {state['messages'][-1].text}")]}
    )
    outer.add_edge(START, "notes")
    outer.add_edge("notes", "sign")
    outer.add_edge("sign", END)
    return outer.compile()


def with_tool(model: Any) -> Any:
    """Return an agent whose model may look things up.

    Args:
        model: chat model that can call tools, such as `init_chat_model(...)`; or a function of the messages.
    """
    look_up = as_tool(name="look_up")
    outer = StateGraph(MessagesState)
    bound = model.bind_tools([look_up]) if hasattr(model, "bind_tools") else model

    async def think(state: MessagesState) -> dict[str, Any]:
        if hasattr(bound, "ainvoke"):
            reply = await bound.ainvoke(state["messages"])
        else:
            reply = bound(state["messages"])
        return {"messages": [reply]}

    outer.add_node("think", think)
    outer.add_node("tools", ToolNode([look_up]))
    outer.add_edge(START, "think")
    outer.add_conditional_edges(
        "think", lambda s: "tools" if s["messages"][-1].tool_calls else END, ["tools", END]
    )
    outer.add_edge("tools", "think")
    return outer.compile()


async def main(question: str) -> None:
    """Ask the agent that has Ragweave as a node."""
    end = await as_sub_graph().ainvoke({"messages": [HumanMessage(question)]}, context=Context())
    print(end["messages"][-1].text)


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "What do my notes say?"))
