"""Ask `langgraph dev` a question by the two protocols of agents: A2A and MCP.

Start `langgraph dev` in the checkout, then run `python examples/agent_protocol.py "a question"`.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from typing import Any

import httpx
from mcp import Client

SERVER = "http://127.0.0.1:2024"


async def by_a2a(question: str, server: str = SERVER, conversation: str = "") -> tuple[str, str]:
    """Return the answer to a message, and the id with which the conversation continues."""
    async with httpx.AsyncClient(base_url=server, timeout=300) as client:
        found = await client.post("/assistants/search", json={"graph_id": "agent"})
        assistant = found.raise_for_status().json()[0]["assistant_id"]
        message: dict[str, Any] = {
            "role": "user",
            "parts": [{"kind": "text", "text": question}],
            "messageId": uuid.uuid4().hex,
        }
        if conversation:
            message["contextId"] = conversation
        call = {"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": {"message": message}}
        response = await client.post(f"/a2a/{assistant}", json=call)
    task = response.raise_for_status().json()["result"]
    return task["artifacts"][0]["parts"][0]["text"], task["contextId"]


async def by_mcp(question: str, server: str = SERVER) -> str:
    """Call the graph `agent` as a tool, and return its result: the whole state as text."""
    async with Client(f"{server}/mcp") as assistant:
        result = await assistant.call_tool("agent", {"question": question})
        return "\n".join([part.text for part in result.content if part.type == "text"])


async def main(question: str, server: str = SERVER) -> str:
    """Print the names of the tools, and return the answer by A2A."""
    async with Client(f"{server}/mcp") as assistant:
        listed = await assistant.list_tools()
        print([tool.name for tool in listed.tools])
    answer, _ = await by_a2a(question, server)
    return answer


if __name__ == "__main__":
    print(asyncio.run(main(" ".join(sys.argv[1:]) or "What do my notes say?")))
