"""openai-python: chat completions and responses."""

import json
import sys

from common import FILE, FILE_PART, IMAGE_PART, LIT, SAILS, TOOL, TOOL_TURNS, WHO, turn, with_part
from openai import OpenAI

client = OpenAI(base_url=f"{sys.argv[1]}/v1", api_key="none", max_retries=0)


def chat(*messages, **more):
    return client.chat.completions.create(model="agent", messages=list(messages), **more).choices[0].message


first = chat(turn("user", LIT))
chunks = list(client.chat.completions.create(model="agent", messages=[turn("user", LIT)], stream=True))
asked = [{"role": "user", "content": [{"type": "input_text", "text": WHO}]}]
asked[0]["content"].append({"type": "input_file", "filename": "kiln.md", "file_data": FILE})
print(
    json.dumps(
        {
            "chat": first.content,
            "stream": "".join(c.choices[0].delta.content or "" for c in chunks if c.choices),
            "citations": first.annotations[0].url_citation.url,
            "follow-up": chat(
                turn("user", LIT), turn("assistant", first.content), turn("user", SAILS)
            ).content,
            "file": chat(with_part(WHO, FILE_PART)).content,
            "picture": chat(with_part(LIT, IMAGE_PART)).content,
            "tools": chat(*TOOL_TURNS, turn("user", LIT), tools=[TOOL]).content,
            "responses": client.responses.create(model="agent", input=LIT).output_text,
            "responses with a file": client.responses.create(model="agent", input=asked).output_text,
        }
    )
)
