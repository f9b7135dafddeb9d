"""Plain events give `ChatOpenAI` what the objects of OpenAI's client give it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from openai import AuthenticationError
from pydantic import SecretStr

from ragweave.models.chat_client import Served, build
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
