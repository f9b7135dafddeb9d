"""One way to ask at every door of the server, and to read what each says in its own form."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import httpx

from ragweave.tests.support.serving import parse_events

EVENTS = {"accept": "application/json, text/event-stream"}


@dataclass(frozen=True)
class Reply:
    """What a door said: its status, all that it sent, the text of the answer and the ids of what it cites."""

    status: int
    sent: str
    text: str = ""
    cited: tuple[str, ...] = ()


Door = Callable[..., Awaitable[Reply]]
Said = Sequence[tuple[str, str]]


def _opened(url: str) -> str:
    return unquote(url.split("/open/")[1].split("/")[1].split("?")[0])


def _messages(question: str, said: Said, pictures: Sequence[str]) -> list[dict[str, Any]]:
    parts: Any = question
    if pictures:
        urls = [{"type": "image_url", "image_url": {"url": url}} for url in pictures]
        parts = [{"type": "text", "text": question}, *urls]
    return [*({"role": role, "content": text} for role, text in said), {"role": "user", "content": parts}]


async def page(
    client: httpx.AsyncClient,
    question: str,
    library: str | None = None,
    said: Said = (),
    pictures: Sequence[str] = (),
    knobs: dict[str, Any] | None = None,
    **more: Any,
) -> Reply:
    body: dict[str, Any] = {"context": knobs or {}, **({"library": library} if library else {})}
    body |= {"messages": _messages(question, said, pictures)} if said else {"question": question, "pictures": pictures}
    begun = await client.post("/api/ask", json=body, **more)
    if begun.status_code != 202:
        return Reply(begun.status_code, begun.text)
    told = await client.get(f"/api/runs/{begun.json()['run']}/events", **more)
    last = parse_events(told.text)[-2]
    if last["type"] == "error":
        return Reply(last["problem"]["status"], told.text)
    return Reply(200, told.text, last["answer"]["text"], tuple(c["id"] for c in last["answer"]["citations"]))


async def tools(
    client: httpx.AsyncClient, question: str, library: str | None = None, said: Said = (), **more: Any
) -> Reply:
    told = await client.post("/tools/ask", json={"question": question, "library": library or ""}, **more)
    return _of_tools(told.status_code, told.text, told.json())


def _of_tools(status: int, sent: str, body: Any) -> Reply:
    if status != 200:
        return Reply(status, sent)
    return Reply(status, sent, body["text"], tuple(c["id"] for c in body["citations"]))


async def mcp(
    client: httpx.AsyncClient,
    question: str,
    library: str | None = None,
    said: Said = (),
    pictures: Sequence[str] = (),
    headers: dict[str, str] | None = None,
) -> Reply:
    arguments = {"question": question, "library": library or "", "pictures": list(pictures)}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": arguments}}
    told = await client.post("/mcp", json=call, headers={**EVENTS, **(headers or {})})
    if told.status_code != 200:
        return Reply(told.status_code, told.text)
    data = told.text.rsplit("data: ", 1)[-1] if told.text.startswith("event") else told.text
    result = json.loads(data)["result"]
    return Reply(400, told.text) if result.get("isError") else _of_tools(200, told.text, result["structuredContent"])


def _chat(stream: bool) -> Door:
    async def chat(
        client: httpx.AsyncClient,
        question: str,
        library: str | None = None,
        said: Said = (),
        pictures: Sequence[str] = (),
        knobs: dict[str, Any] | None = None,
        **more: Any,
    ) -> Reply:
        body = {"model": f"agent@{library}" if library else "agent", "stream": stream}
        body |= {"messages": _messages(question, said, pictures), "ragweave": {"context": knobs or {}}}
        told = await client.post("/v1/chat/completions", json=body, **more)
        if told.status_code != 200:
            return Reply(told.status_code, told.text)
        if stream:
            rows = [json.loads(row[6:]) for row in told.text.split("\n\n") if row.startswith("data: {")]
            if error := next((row["error"] for row in rows if "error" in row), None):
                return Reply(500, json.dumps(error))
            deltas = [row["choices"][0]["delta"] for row in rows if row.get("choices")]
            text = "".join(d.get("content") or "" for d in deltas)
            notes = next((d["annotations"] for d in deltas if d.get("annotations")), [])
        else:
            message = told.json()["choices"][0]["message"]
            text, notes = message["content"], message.get("annotations") or []
        return Reply(200, told.text, text, tuple(dict.fromkeys(_opened(n["url_citation"]["url"]) for n in notes)))

    return chat


def _responses(stream: bool) -> Door:
    async def responses(
        client: httpx.AsyncClient,
        question: str,
        library: str | None = None,
        said: Said = (),
        knobs: dict[str, Any] | None = None,
        **more: Any,
    ) -> Reply:
        body = {"model": f"agent@{library}" if library else "agent", "stream": stream}
        body |= {"input": _messages(question, said, ()), "ragweave": {"context": knobs or {}}}
        told = await client.post("/v1/responses", json=body, **more)
        if told.status_code != 200:
            return Reply(told.status_code, told.text)
        if stream:
            whole = json.loads(told.text.rsplit("data: ", 1)[1])["response"]
            if whole["status"] == "failed":
                return Reply(500, told.text)
        else:
            whole = told.json()
        (part,) = whole["output"][0]["content"]
        return Reply(200, told.text, part["text"], tuple(dict.fromkeys(_opened(n["url"]) for n in part["annotations"])))

    return responses


def _langserve(stream: bool) -> Door:
    async def langserve(
        client: httpx.AsyncClient,
        question: str,
        library: str | None = None,
        said: Said = (),
        pictures: Sequence[str] = (),
        knobs: dict[str, Any] | None = None,
        **more: Any,
    ) -> Reply:
        given: dict[str, Any] = {"question": question, "pictures": list(pictures)}
        given = {"messages": _messages(question, said, pictures)} if said else given
        config = {"configurable": {**({"library": library} if library else {}), **(knobs or {})}}
        at = f"/langserve/agent/{'stream' if stream else 'invoke'}"
        told = await client.post(at, json={"input": given, "config": config}, **more)
        if told.status_code != 200:
            return Reply(told.status_code, told.text)
        if stream:
            rows = [json.loads(row.split("data: ", 1)[1]) for row in told.text.split("\r\n\r\n") if "data: {" in row]
            last = rows[-1]
            if last["type"] == "error":
                return Reply(last["problem"]["status"], told.text)
            answer = last["answer"]
        else:
            answer = told.json()["output"]
        return Reply(200, told.text, answer["text"], tuple(c["id"] for c in answer["citations"]))

    return langserve


DOORS: dict[str, Door] = {
    "page": page,
    "tools": tools,
    "mcp": mcp,
    "chat": _chat(False),
    "chat streamed": _chat(True),
    "responses": _responses(False),
    "responses streamed": _responses(True),
    "langserve": _langserve(False),
    "langserve streamed": _langserve(True),
}
