"""Servers that say nothing, little, or never stop: how long they are waited for, and that leaving closes the call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from pydantic import BaseModel

from ragweave.models.chat import chat
from ragweave.models.errors import ModelError, ModelTransient, ReplyCut
from ragweave.models.meter import Meter
from ragweave.models.settings import model_settings
from ragweave.tests.support.bad_models import (
    BadServer,
    Send,
    Way,
    bad_server,
    complete,
    event,
    huge,
    repeated,
    silent,
    stalling,
    trickling,
)
from ragweave.tests.support.serving import until


class Grade(BaseModel):
    verdict: str


comments = repeated(b": still here\n\n", 0.02)
dripping = repeated(event("It is Paris. "), 0.02)
endless = repeated(event("built of stone and ") * 100, 0.0)
bytewise = trickling(0.05)
WAITED = r"gave no answer within (0\.[4-9]|\d+) s"


@asynccontextmanager
async def serving(way: Way, monkeypatch: pytest.MonkeyPatch, **settings: str) -> AsyncIterator[BadServer]:
    async with bad_server(way) as server:
        named = {
            "chat": "m",
            "chat_url": server.url,
            "chat_cache": "false",
            "chat_timeout": "0.4",
            **settings,
        }
        for name, value in named.items():
            monkeypatch.setenv(f"RAGWEAVE_{name.upper()}", value)
        yield server


@pytest.fixture(autouse=True, scope="module")
def imported() -> None:
    """Have the first call not be the one that imports a client: that takes longer than anything here is waited for."""

    async def once() -> None:
        with pytest.MonkeyPatch.context() as patch:
            async with serving(complete('{"verdict": "so"}'), patch, chat_timeout="60"):
                model_settings.cache_clear()
                await ask("json", [])
        model_settings.cache_clear()

    asyncio.run(once())


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
@pytest.mark.parametrize("way", [silent, bytewise, comments])
async def test_a_server_without_a_word_is_waited_for_once_and_the_seconds_are_told(
    monkeypatch: pytest.MonkeyPatch, way: Way, call: str
) -> None:
    async with serving(way, monkeypatch) as server:
        began = time.monotonic()
        with pytest.raises(ModelTransient, match=rf"{WAITED}\. Raise RAGWEAVE_CHAT_TIMEOUT"):
            await ask(call, [])
        assert time.monotonic() - began < 10, "imports included"
        assert server.begun == 1
        await until(lambda: server.gone == 1)


async def test_a_silence_within_a_reply_ends_it_and_what_came_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    async with serving(stalling, monkeypatch) as server:
        with pytest.raises(ModelTransient, match=WAITED):
            await ask("stream", seen)
        assert seen == ["It is Paris. "] and server.begun == 1


async def test_a_reply_that_drips_is_left_after_a_bound_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(dripping, monkeypatch) as server:
        with pytest.raises(ModelTransient, match="did not end"):
            await ask("text", [])
        await until(lambda: server.gone == 1)


@pytest.mark.parametrize(
    ("way", "kind", "why"),
    [(endless, ReplyCut, "was cut off after"), (huge, ModelError, "a line of more than 1 MiB")],
)
async def test_a_reply_without_end_is_read_as_far_as_an_answer_goes(
    monkeypatch: pytest.MonkeyPatch, way: Way, kind: type[Exception], why: str
) -> None:
    seen: list[str] = []
    async with serving(way, monkeypatch, chat_tokens="200", chat_timeout="20") as server:
        with pytest.raises(kind, match=why):
            await ask("stream", seen)
        assert len("".join(seen)) < 2_100
        await until(lambda: server.gone == 1)
        assert server.begun == 1


@pytest.mark.parametrize("call", ["text", "json", "stream"])
@pytest.mark.parametrize("way", [silent, bytewise, dripping, endless])
async def test_whoever_leaves_closes_the_call_within_a_second_and_none_begins_after_it(
    monkeypatch: pytest.MonkeyPatch, way: Way, call: str
) -> None:
    async with serving(way, monkeypatch, chat_timeout="30", chat_tokens="1000000") as server:
        asking = asyncio.create_task(ask(call, []))
        await server.asked.wait()
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
        await server.asked.wait()
        await asyncio.sleep(0.1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.sleep(1.2)
        assert server.begun == 1
