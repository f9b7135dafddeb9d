"""openai-python: chat completions and responses."""

import json
import sys

from common import FILE, FILE_PART, IMAGE_PART, KILN, LIT, SAILS, TOOL, TOOL_TURNS, WHO, turn, with_part
from openai import OpenAI

client = OpenAI(base_url=f"{sys.argv[1]}/v1", api_key="none", max_retries=0)


def chat(*messages, **more):
    return client.chat.completions.create(model="agent", messages=list(messages), **more).choices[0].message


first = chat(turn("user", LIT))
chunks = list(client.chat.completions.create(model="agent", messages=[turn("user", LIT)], stream=True))
asked = [{"role": "user", "content": [{"type": "input_text", "text": WHO}]}]
asked[0]["content"].append({"type": "input_file", "filename": "kiln.md", "file_data": FILE})
kept = client.files.create(file=("kiln.md", KILN.encode()), purpose="user_data")
assert kept.id in [file.id for file in client.files.list()] and client.files.retrieve(kept.id).bytes
part = {"type": "file", "file": {"file_id": kept.id}}
named = [{"role": "user", "content": [{"type": "input_text", "text": WHO}]}]
named[0]["content"].append({"type": "input_file", "file_id": kept.id})
before = client.responses.create(model="agent", input=LIT)
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
            "file that is kept": chat(with_part(WHO, part)).content,
            "file that is kept, in responses": client.responses.create(
                model="agent", input=named
            ).output_text,
            "follow-up by the id of a response": client.responses.create(
                model="agent", input=SAILS, previous_response_id=before.id
            ).output_text,
            "picture": chat(with_part(LIT, IMAGE_PART)).content,
            "tools": chat(*TOOL_TURNS, turn("user", LIT), tools=[TOOL]).content,
            "responses": client.responses.create(model="agent", input=LIT).output_text,
            "responses with a file": client.responses.create(model="agent", input=asked).output_text,
        }
    )
)
