"""The MCP SDK in Python, over HTTP."""

import asyncio
import json
import sys

from common import LIT
from mcp import Client


async def main():
    async with Client(f"{sys.argv[1]}/mcp") as assistant:
        tools = [tool.name for tool in (await assistant.list_tools()).tools]
        answer = await assistant.call_tool("ask", {"question": LIT})
        text = "\n".join(part.text for part in answer.content if part.type == "text")
        return {"chat": text, "citations": json.dumps(answer.structured_content), "tools": " ".join(tools)}


print(json.dumps(asyncio.run(main())))
