"""Do what an assistant does with `mcp.json`: start `ragweave mcp`, list its tools, and ask a question.

Index something first (`ragweave index FOLDER`), then run `python examples/mcp_client.py "a question"`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters

SETTINGS = Path(__file__).with_name("mcp.json")
"""Settings of an assistant, with the entry that starts Ragweave."""


def server_of(settings: Path = SETTINGS) -> StdioServerParameters:
    """Return how the settings start the server."""
    row = json.loads(settings.read_text(encoding="utf-8"))["mcpServers"]["ragweave"]
    return StdioServerParameters(command=row["command"], args=row["args"], env={**os.environ})


async def main(question: str, server: StdioServerParameters) -> str:
    """Print the names of the tools, and return the answer of the tool `ask`."""
    async with Client(server) as assistant:
        listed = await assistant.list_tools()
        print([tool.name for tool in listed.tools])
        answer = await assistant.call_tool("ask", {"question": question})
        return "\n".join([part.text for part in answer.content if part.type == "text"])


if __name__ == "__main__":
    print(asyncio.run(main(" ".join(sys.argv[1:]) or "What do my notes say?", server_of())))
