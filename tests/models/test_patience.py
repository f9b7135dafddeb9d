"""Servers that say nothing, little, or never stop: how long they are waited for, and that leaving closes the call."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from pydantic import BaseModel

from ragweave.models import chat as module
from ragweave.models.chat import chat
from ragweave.models.errors import ModelTransient, ReplyCut
from ragweave.models.meter import Meter

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
Send = Callable[[bytes], Any]


class Grade(BaseModel):
    verdict: str


def event(text: str) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}
    made = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(made).encode() + b"\n\n"


async def silent(send: Send) -> None:
    await asyncio.Event().wait()


async def trickling(send: Send) -> None:
    await send(HEAD)
    for byte in event("It is Paris. ") * 100:
        await send(bytes([byte]))
        await asyncio.sleep(0.05)


async def comments(send: Send) -> None:
    await send(HEAD)
    while True:
        await send(b": still here\n\n")
        await asyncio.sleep(0.02)


async def stalling(send: Send) -> None:
    await send(HEAD + event("It is Paris. "))
    await asyncio.Event().wait()


async def dripping(send: Send) -> None:
    await send(HEAD)
    while True:
        await send(event("It is Paris. "))
        await asyncio.sleep(0.02)


async def endless(send: Send) -> None:
    await send(HEAD)
    while True:
        await send(event("built of stone and ") * 100)


async def huge(send: Send) -> None:
    await send(HEAD + event("stone " * 1_700_000))
    await asyncio.Event().wait()


class Server:
    """Answers every request in one way, and notes when requests come and when their connections are gone."""

    def __init__(self, way: Callable[[Send], Any]) -> None:
        self.way = way
        self.begun = self.gone = 0
        self.told = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def send(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        async def answer() -> None:
            self.begun += 1
            self.told.set()
            with suppress(ConnectionError):
                await self.way(send)

        await reader.readuntil(b"\r\n\r\n")
        answering = asyncio.create_task(answer())
        with suppress(ConnectionError):
            while await reader.read(65_536):
                pass
        self.gone += 1
        answering.cancel()
        writer.close()


@asynccontextmanager
async def serving(
    way: Callable[[Send], Any], monkeypatch: pytest.MonkeyPatch, **settings: str
) -> AsyncIterator[Server]:
    server = Server(way)
    http = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{http.sockets[0].getsockname()[1]}/v1"
    named = {"chat": "m", "chat_url": address, "chat_cache": "false", "chat_timeout": "0.4", **settings}
    for name, value in named.items():
        monkeypatch.setenv(f"RAGWEAVE_{name.upper()}", value)
    try:
        yield server
    finally:
        http.close()


async def ask(way: str, seen: list[str]) -> None:
    model, asked, given = chat(), [("user", "Capital of France?")], {"node": "n", "meter": Meter()}
    assert model is not None
    if way == "stream":
        async for part in model.stream(asked, **given):
            seen.append(part)
    elif way == "json":
        await model.json(asked, Grade, **given)
    else:
        seen.append(await model.text(asked, **given))


@pytest.mark.parametrize("call", ["text", "json", "stream"])
@pytest.mark.parametrize("way", [silent, trickling, comments])
async def test_a_server_without_a_word_is_waited_for_once_and_the_seconds_are_told(
    monkeypatch: pytest.MonkeyPatch, way: Any, call: str
) -> None:
    async with serving(way, monkeypatch) as server:
        began = time.monotonic()
        with pytest.raises(ModelTransient, match=r"gave no answer within 0\.[4-9] s\. Raise RAGWEAVE_CHAT_TIMEOUT"):
            await ask(call, [])
        assert time.monotonic() - began < 10, "imports included"
        assert server.begun == 1
        await until(lambda: server.gone == 1)


async def test_a_silence_within_a_reply_ends_it_and_what_came_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    async with serving(stalling, monkeypatch) as server:
        with pytest.raises(ModelTransient, match=r"gave no answer within 0\.[4-9] s"):
            await ask("stream", seen)
        assert seen == ["It is Paris. "] and server.begun == 1


async def test_a_reply_that_drips_is_left_after_a_bound_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DRIPS", 1)
    async with serving(dripping, monkeypatch) as server:
        with pytest.raises(ModelTransient, match="did not end"):
            await ask("text", [])
        await until(lambda: server.gone == 1)


@pytest.mark.parametrize("way", [endless, huge])
async def test_a_reply_without_end_is_read_as_far_as_an_answer_goes(monkeypatch: pytest.MonkeyPatch, way: Any) -> None:
    seen: list[str] = []
    async with serving(way, monkeypatch, chat_tokens="200", chat_timeout="20") as server:
        with pytest.raises(ReplyCut, match="was cut off after"):
            await ask("stream", seen)
        assert len("".join(seen)) < (210_000 if way is huge else 2_100)
        await until(lambda: server.gone == 1)
        assert server.begun == 1


@pytest.mark.parametrize("call", ["text", "json", "stream"])
@pytest.mark.parametrize("way", [silent, trickling, dripping, endless])
async def test_whoever_leaves_closes_the_call_within_a_second_and_none_begins_after_it(
    monkeypatch: pytest.MonkeyPatch, way: Any, call: str
) -> None:
    async with serving(way, monkeypatch, chat_timeout="30", chat_tokens="1000000") as server:
        asking = asyncio.create_task(ask(call, []))
        await server.told.wait()
        await asyncio.sleep(0.1)
        left = time.monotonic()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await until(lambda: server.gone == 1)
        assert time.monotonic() - left < 1
        await asyncio.sleep(0.2)
        assert server.begun == 1


async def test_leaving_while_a_client_pauses_before_its_next_try_ends_the_tries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def busy(send: Send) -> None:
        await send(b"HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n")

    async with serving(busy, monkeypatch, chat_timeout="30") as server:
        asking = asyncio.create_task(ask("text", []))
        await server.told.wait()
        await asyncio.sleep(0.1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.sleep(1.2)
        assert server.begun == 1


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(2):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
