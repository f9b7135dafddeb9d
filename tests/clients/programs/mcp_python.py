"""The MCP SDK in Python, over HTTP."""

import asyncio
import json
import sys

from common import KILN, LIT, WHO
from mcp import Client
from mcp_types import EmbeddedResource, TextResourceContents


async def main():
    async with Client(f"{sys.argv[1]}/mcp") as assistant:
        tools = [tool.name for tool in (await assistant.list_tools()).tools]
        answer = await assistant.call_tool("ask", {"question": LIT})
        text = "\n".join(part.text for part in answer.content if part.type == "text")
        resource = {"uri": "file:///kiln.md", "mimeType": "text/markdown", "text": KILN}
        file = EmbeddedResource(resource=TextResourceContents(**resource)).model_dump(
            mode="json", by_alias=True
        )
        with_file = await assistant.call_tool("ask", {"question": WHO, "files": [file]})
        return {
            "chat": text,
            "citations": json.dumps(answer.structured_content),
            "file": with_file.structured_content["text"],
            "tools": " ".join(tools),
        }


print(json.dumps(asyncio.run(main())))
