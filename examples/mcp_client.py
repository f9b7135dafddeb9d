"""What an assistant does with `mcp.json`: start `ragweave mcp`, list its tools, and look something up.

Index something first (`ragweave index FOLDER`), then run `python examples/mcp_client.py "a question"`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters

TOLD = Path(__file__).with_name("mcp.json")
"""The lines that an assistant takes into its own settings."""


def server_of(told: Path = TOLD) -> StdioServerParameters:
    """Read how the server is started."""
    row = json.loads(told.read_text(encoding="utf-8"))["mcpServers"]["ragweave"]
    return StdioServerParameters(command=row["command"], args=row["args"], env={**os.environ})


async def main(question: str, server: StdioServerParameters) -> str:
    """Print the tools, and return what `ask` answers."""
    async with Client(server) as assistant:
        print([tool.name for tool in (await assistant.list_tools()).tools])
        answer = await assistant.call_tool("ask", {"question": question})
        return "\n".join(part.text for part in answer.content if part.type == "text")


if __name__ == "__main__":
    print(asyncio.run(main(" ".join(sys.argv[1:]) or "What do my notes say?", server_of())))
