"""Haystack: OpenAIChatGenerator."""

import json
import os
import sys

from common import FILE, LIT, PICTURE, SAILS, WHO

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["OPENAI_API_KEY"] = "none"

from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, FileContent, ImageContent

model = OpenAIChatGenerator(model="agent", api_base_url=f"{sys.argv[1]}/v1", max_retries=0)


def chat(*messages, **more):
    return model.run(messages=list(messages), **more)["replies"][0].text


first, parts = chat(ChatMessage.from_user(LIT)), []
chat(ChatMessage.from_user(LIT), streaming_callback=lambda chunk: parts.append(chunk.content))
image = ImageContent(base64_image=PICTURE.partition(",")[2], mime_type="image/png")
file = FileContent(base64_data=FILE.partition(",")[2], mime_type="text/markdown", filename="kiln.md")
said = [ChatMessage.from_user(LIT), ChatMessage.from_assistant(first), ChatMessage.from_user(SAILS)]
print(
    json.dumps(
        {
            "chat": first,
            "stream": "".join(parts),
            "citations": first,
            "follow-up": chat(*said),
            "file": chat(ChatMessage.from_user(content_parts=[WHO, file])),
            "picture": chat(ChatMessage.from_user(content_parts=[LIT, image])),
        }
    )
)
