"""A question to `langgraph dev` by the two protocols that other agents speak: A2A, and MCP.

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
    """Return the answer to a message, and the conversation to go on with."""
    async with httpx.AsyncClient(base_url=server, timeout=300) as client:
        found = (
            (await client.post("/assistants/search", json={"graph_id": "agent"})).raise_for_status().json()
        )
        message: dict[str, Any] = {"role": "user", "parts": [{"kind": "text", "text": question}]}
        message |= {"messageId": uuid.uuid4().hex, **({"contextId": conversation} if conversation else {})}
        call = {"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": {"message": message}}
        told = (await client.post(f"/a2a/{found[0]['assistant_id']}", json=call)).raise_for_status().json()
    task = told["result"]
    return task["artifacts"][0]["parts"][0]["text"], task["contextId"]


async def by_mcp(question: str, server: str = SERVER) -> str:
    """Return what the graph `agent` gives as a tool: its whole state, as text."""
    async with Client(f"{server}/mcp") as assistant:
        told = await assistant.call_tool("agent", {"question": question})
        return "\n".join(part.text for part in told.content if part.type == "text")


async def main(question: str, server: str = SERVER) -> str:
    """Print the names of the tools, and return the answer by A2A."""
    async with Client(f"{server}/mcp") as assistant:
        print([tool.name for tool in (await assistant.list_tools()).tools])
    return (await by_a2a(question, server))[0]


if __name__ == "__main__":
    print(asyncio.run(main(" ".join(sys.argv[1:]) or "What do my notes say?")))
