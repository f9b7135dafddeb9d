"""One way to ask at every door of the server, and to read what each says in its own form."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import unquote

import httpx

from ragweave.tests.support.serving import parse_events

EVENTS = {"accept": "application/json, text/event-stream"}
Headers = dict[str, str]


@dataclass(frozen=True)
class Asked:
    """A question, with what a door may take beside it."""

    question: str
    library: str | None = None
    graph: str = "agent"
    said: Sequence[tuple[str, str]] = ()
    pictures: Sequence[str] = ()
    knobs: dict[str, Any] = field(default_factory=dict)

    @property
    def messages(self) -> list[dict[str, Any]]:
        urls = [{"type": "image_url", "image_url": {"url": url}} for url in self.pictures]
        content: Any = [{"type": "text", "text": self.question}, *urls] if urls else self.question
        return [
            *({"role": role, "content": text} for role, text in self.said),
            {"role": "user", "content": content},
        ]

    @property
    def model(self) -> str:
        return f"{self.graph}@{self.library}" if self.library else self.graph


@dataclass(frozen=True)
class Reply:
    """What a door said: its status, all that it sent, the text of the answer and the ids of what it cites."""

    status: int
    sent: str
    text: str = ""
    cited: tuple[str, ...] = ()


def _of_answer(sent: str, answer: Any) -> Reply:
    text = answer["text"] if "text" in answer else answer["content"]  # as LangServe's door calls it
    return Reply(200, sent, text, tuple(c["id"] for c in answer["citations"]))


def _of_links(sent: str, text: str, urls: Sequence[str]) -> Reply:
    opened = (unquote(url.split("/open/")[1].split("/")[1].split("?")[0]) for url in urls)
    return Reply(200, sent, text, tuple(dict.fromkeys(opened)))


async def _page(client: httpx.AsyncClient, asked: Asked, headers: Headers) -> Reply:
    one = (
        {"messages": asked.messages}
        if asked.said
        else {"question": asked.question, "pictures": asked.pictures}
    )
    body = {**one, "context": asked.knobs, "library": asked.library, "graph": asked.graph}
    begun = await client.post("/api/ask", json=body, headers=headers)
    if begun.status_code != 202:
        return Reply(begun.status_code, begun.text)
    told = await client.get(f"/api/runs/{begun.json()['run']}/events", headers=headers)
    last = parse_events(told.text)[-2]
    failed = last["type"] == "error"
    return Reply(last["problem"]["status"], told.text) if failed else _of_answer(told.text, last["answer"])


async def _mcp(client: httpx.AsyncClient, asked: Asked, headers: Headers) -> Reply:
    given = {"question": asked.question, "library": asked.library or "", "pictures": list(asked.pictures)}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": given}}
    told = await client.post("/mcp", json=call, headers={**EVENTS, **headers})
    if told.status_code != 200:
        return Reply(told.status_code, told.text)
    result = json.loads(told.text.rsplit("data: ", 1)[-1])["result"]
    return (
        Reply(400, told.text) if result.get("isError") else _of_answer(told.text, result["structuredContent"])
    )


async def _chat(stream: bool, client: httpx.AsyncClient, asked: Asked, headers: Headers) -> Reply:
    body = {
        "model": asked.model,
        "messages": asked.messages,
        "ragweave": {"context": asked.knobs},
        "stream": stream,
    }
    told = await client.post("/v1/chat/completions", json=body, headers=headers)
    if told.status_code != 200:
        return Reply(told.status_code, told.text)
    if stream:
        rows = [json.loads(row[6:]) for row in told.text.split("\n\n") if row.startswith("data: {")]
        if any("error" in row for row in rows):
            return Reply(500, told.text)
        parts = [row["choices"][0]["delta"] for row in rows if row.get("choices")]
    else:
        parts = [told.json()["choices"][0]["message"]]
    notes = [note["url_citation"]["url"] for part in parts for note in part.get("annotations") or ()]
    return _of_links(told.text, "".join(part.get("content") or "" for part in parts), notes)


async def _responses(stream: bool, client: httpx.AsyncClient, asked: Asked, headers: Headers) -> Reply:
    body = {
        "model": asked.model,
        "input": asked.messages,
        "ragweave": {"context": asked.knobs},
        "stream": stream,
    }
    told = await client.post("/v1/responses", json=body, headers=headers)
    if told.status_code != 200:
        return Reply(told.status_code, told.text)
    whole = json.loads(told.text.rsplit("data: ", 1)[1])["response"] if stream else told.json()
    if whole["status"] == "failed":
        return Reply(500, told.text)
    (part,) = whole["output"][0]["content"]
    return _of_links(told.text, part["text"], [note["url"] for note in part["annotations"]])


async def _langserve(stream: bool, client: httpx.AsyncClient, asked: Asked, headers: Headers) -> Reply:
    one = (
        {"messages": asked.messages}
        if asked.said
        else {"question": asked.question, "pictures": [*asked.pictures]}
    )
    config = {"configurable": {**asked.knobs, **({"library": asked.library} if asked.library else {})}}
    at = f"/langserve/{asked.graph}/{'stream' if stream else 'invoke'}"
    told = await client.post(at, json={"input": one, "config": config}, headers=headers)
    if told.status_code != 200:
        return Reply(told.status_code, told.text)
    if not stream:
        return _of_answer(told.text, told.json()["output"])
    rows = [json.loads(row.split("data: ", 1)[1]) for row in told.text.split("\r\n\r\n") if "data: {" in row]
    failed = rows[-1]["type"] == "error"
    return Reply(rows[-1]["problem"]["status"], told.text) if failed else _of_answer(told.text, rows[-1])


def _door(
    ask: Callable[[httpx.AsyncClient, Asked, Headers], Awaitable[Reply]],
) -> Callable[..., Awaitable[Reply]]:
    async def door(
        client: httpx.AsyncClient, question: str, headers: Headers | None = None, **given: Any
    ) -> Reply:
        return await ask(client, Asked(question, **given), headers or {})

    return door


DOORS: dict[str, Callable[..., Awaitable[Reply]]] = {
    "page": _door(_page),
    "mcp": _door(_mcp),
    "chat": _door(partial(_chat, False)),
    "chat streamed": _door(partial(_chat, True)),
    "responses": _door(partial(_responses, False)),
    "responses streamed": _door(partial(_responses, True)),
    "langserve": _door(partial(_langserve, False)),
    "langserve streamed": _door(partial(_langserve, True)),
}
