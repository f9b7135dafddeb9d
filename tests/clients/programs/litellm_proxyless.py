"""litellm: its OpenAI provider with another address."""

import json
import sys

import litellm
from common import FILE_PART, IMAGE_PART, LIT, SAILS, TOOL, TOOL_TURNS, WHO, turn, with_part

HOW = {"model": "openai/agent", "api_base": f"{sys.argv[1]}/v1", "api_key": "none"}


def chat(*messages, **more):
    return litellm.completion(messages=list(messages), **HOW, **more).choices[0].message


first = chat(turn("user", LIT))
stream = litellm.completion(messages=[turn("user", LIT)], stream=True, **HOW)
print(
    json.dumps(
        {
            "chat": first.content,
            "stream": "".join(c.choices[0].delta.content or "" for c in stream),
            "citations": first.annotations[0]["url_citation"]["url"],
            "follow-up": chat(
                turn("user", LIT), turn("assistant", first.content), turn("user", SAILS)
            ).content,
            "file": chat(with_part(WHO, FILE_PART)).content,
            "picture": chat(with_part(LIT, IMAGE_PART)).content,
            "tools": chat(*TOOL_TURNS, turn("user", LIT), tools=[TOOL]).content,
        }
    )
)
