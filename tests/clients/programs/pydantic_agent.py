"""pydantic-ai: an Agent with OpenAIChatModel, and with OpenAIResponsesModel."""

import asyncio
import base64
import json
import sys

from common import FILE, LIT, PICTURE, SAILS, WHO
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

provider = OpenAIProvider(base_url=f"{sys.argv[1]}/v1", api_key="none")
agent = Agent(OpenAIChatModel("agent", provider=provider))


def bytes_of(url, kind):
    return BinaryContent(base64.b64decode(url.partition(",")[2]), media_type=kind)


async def main():
    first = await agent.run(LIT)
    async with agent.run_stream(LIT) as run:
        stream = [text async for text in run.stream_text()][-1]
    responses = Agent(OpenAIResponsesModel("agent", provider=provider))
    turns = await responses.run(LIT)
    tooled = Agent(OpenAIChatModel("agent", provider=provider), tools=[tide])
    return {
        "chat": first.output,
        "stream": stream,
        "citations": first.output,
        "follow-up": (await agent.run(SAILS, message_history=first.all_messages())).output,
        "file": (await agent.run([WHO, bytes_of(FILE, "text/plain")])).output,
        "picture": (await agent.run([LIT, bytes_of(PICTURE, "image/png")])).output,
        "tools": (await tooled.run(LIT)).output,
        "responses": turns.output,
        "responses, second turn": (await responses.run(SAILS, message_history=turns.all_messages())).output,
    }


def tide() -> str:
    """Tell the tide."""
    return "high"


print(json.dumps(asyncio.run(main())))
