"""Plain events give `ChatOpenAI` what the objects of OpenAI's client give it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from openai import AuthenticationError
from pydantic import SecretStr

from ragweave.models.chat_client import Served, build
from ragweave.models.chat_events import PlainCompletions
from ragweave.tests.support import ScriptedServer

QUESTION = [HumanMessage("How high is the tower?")]


def client(server: ScriptedServer) -> Any:
    return build(Served("scripted", "here", "openai", server.base_url, SecretStr(""), None))


async def parts_of(model: Any) -> list[Any]:
    bound = model.bind(extra_body={"max_tokens": 7})
    return [(p.content, p.usage_metadata, p.response_metadata) async for p in bound.astream(QUESTION)]


async def test_a_stream_is_read_as_the_client_itself_reads_it() -> None:
    reply = ["It is ", "forty metres ", "high [1]."]
    with ScriptedServer([reply, reply]) as server:
        model = client(server)
        plain = await parts_of(model)
        model.async_client = model.root_async_client.chat.completions
        assert plain == await parts_of(model)
        assert server.requests[0].body == server.requests[1].body


async def test_a_reply_that_is_not_streamed_is_left_to_the_client() -> None:
    with ScriptedServer(["Forty metres."]) as server:
        completion = await client(server).async_client.create(
            model="scripted", messages=[{"role": "user", "content": "How high?"}]
        )
        assert completion.choices[0].message.content == "Forty metres."


async def test_a_refusal_is_the_error_of_the_client() -> None:
    with ScriptedServer() as server:
        server.key = "another"
        with pytest.raises(AuthenticationError):
            await parts_of(client(server))


def event(text: str, **choice: int) -> dict[str, Any]:
    return {"id": "r", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [
        {"delta": {"content": text}, **choice}
    ]}  # fmt: skip


async def streamed(events: list[dict[str, Any]]) -> str:
    lines = [f"data: {json.dumps(e)}\n\n" for e in events]
    body = "".join([*lines, "data: [DONE]\n\n"]).encode()

    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=body, headers={"content-type": "text/event-stream"})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        model: Any = ChatOpenAI(model="scripted", api_key=SecretStr("none"), http_async_client=http)
        model.async_client = PlainCompletions(model.root_async_client)
        return "".join([part.text async for part in model.astream(QUESTION)])


async def test_the_parts_of_a_second_choice_are_left_out() -> None:
    both = event("It is ", index=0)
    both["choices"].append({"index": 1, "delta": {"content": "Maybe "}})
    mixed = [both, event("ninety", index=1), event("forty metres.", index=0), event(" high.", index=1)]
    assert await streamed(mixed) == "It is forty metres."


@pytest.mark.parametrize("number", [{}, {"index": 1}])
async def test_a_choice_counts_whatever_its_number(number: dict[str, int]) -> None:
    assert await streamed([event("It is ", **number), event("forty.", **number)]) == "It is forty."
