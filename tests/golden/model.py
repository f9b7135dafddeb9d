"""A chat model without a mind: speaks the OpenAI chat protocol, by rules that no wording of a prompt changes.

It knows of each question which words its answer `holds`, and replies with the sentence that has them once it
is shown
one: so it tells whether the passage reached the model. A form that is demanded is filled; where corpora are
named as labels it says `paragraph`. `alone` is a follow-up in full, `says` is made up, `query` is what it
looks for."""

from __future__ import annotations

import json
import re
from typing import Any

from ragweave.tests.support.server import Received, ScriptedServer


def fill(schema: dict[str, Any], question: str, whole: dict[str, Any], n: int = 1) -> Any:
    """Return a value of a JSON schema: the first of a choice, the question as text, true, and n as number."""
    if "$ref" in schema:
        return fill(whole["$defs"][schema["$ref"].rsplit("/", 1)[-1]], question, whole, n)
    if "anyOf" in schema:
        return fill(schema["anyOf"][0], question, whole, n)
    if "enum" in schema:
        return next(c for c in schema["enum"] if c != "none")
    if schema.get("type") == "object":
        return {k: fill(v, question, whole, n) for k, v in schema.get("properties", {}).items()}
    if schema.get("type") == "array":
        item = schema["items"]
        many = "$ref" in item or item.get("type") == "object"
        return [fill(item, question, whole, i) for i in range(1, 6 if many else 2)]
    return {"integer": n, "number": 1.0, "boolean": True, "null": None}.get(schema.get("type", ""), question)


def reply(body: dict[str, Any], question: str, knows: dict[str, str]) -> str:
    """Return what the model says to a request."""
    texts = [str(m.get("content") or "") for m in body["messages"]]
    shown = "\n".join(t for m, t in zip(body["messages"], texts, strict=True) if m["role"] == "user")
    form = body.get("response_format", {}).get("json_schema", {}).get("schema")
    if form:
        return json.dumps(fill(form, question, form), ensure_ascii=False)
    if re.search(r"^paragraph\b[^\n]*\n+document\b", "\n".join(texts), re.M):
        return "paragraph"
    found, mark = "", ""
    for sentence in re.split(r"(?<=[.!?])\s+|\n+", shown):
        number = re.search(r"(?:\[|Document_)(\d+)", sentence)
        mark = f" [{number[1]}]" if number else mark
        if "holds" in knows and knows["holds"] in sentence and not found:
            found = re.sub(r"^(\[[^\]]*\]|\W)+", "", sentence) + mark
    if len(shown) > 600 and "says" in knows:
        found = knows["says"]
    # The protocol of Auto-RAG ends a turn with one of two lines; elsewhere the words stand alone.
    if "Final Answer" in "\n".join(texts):
        if found or sum(m["role"] == "assistant" for m in body["messages"]) >= 2:
            return f"Final Answer: {found or 'UNKNOWN'}"
        return f"Query: {knows.get('query', question)}"
    return found or (knows.get("alone", question) if len(shown) < 600 else "UNKNOWN")


class Model:
    """The server, on a free port of 127.0.0.1; `calls` counts the requests since it was last set to 0."""

    def __init__(self, knows: dict[str, dict[str, str]]) -> None:
        self.calls, self.question, self.knows = 0, "", knows
        self.url = ScriptedServer(react=self._reply).__enter__().base_url

    def _reply(self, request: Received) -> str:
        self.calls += 1
        return reply(request.body, self.question, self.knows.get(self.question, {}))
