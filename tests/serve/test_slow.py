"""Slow clients, over real sockets: each ends in bounded time and holds nobody up."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from starlette.responses import StreamingResponse

from ragweave.serve import guard
from ragweave.tests.support.serving import on_loopback

HEAD = (
    b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length:"
    b" 4000\r\n\r\n"
)
WHOLE = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of a fraction of a second."""
    monkeypatch.setattr(guard, "_UNREAD", 0.5)
    monkeypatch.setattr(guard, "_STALL", 0.5)


async def talk(address: str, first: bytes, then: bytes = b"") -> bytes:
    """Send `first`, then `then` byte by byte, and return what came back until the server hung up."""
    reader, writer = await asyncio.open_connection(*address.removeprefix("http://").split(":"))
    writer.write(first)

    async def dribble() -> None:
        for n in range(len(then)):
            writer.write(then[n : n + 1])
            await asyncio.sleep(0.1)

    dribbling, told = asyncio.create_task(dribble()), b""
    try:
        # Whoever still sends when the server hangs up may see the connection reset.
        async with asyncio.timeout(20):
            with contextlib.suppress(ConnectionResetError):
                while part := await reader.read(1 << 16):
                    told += part
        return told
    finally:
        dribbling.cancel()
        writer.close()


async def test_a_head_that_does_not_arrive_holds_nobody_up(app: FastAPI) -> None:
    async with on_loopback(app) as address:
        slow = [
            asyncio.create_task(talk(address, b"GET / HTTP/1.1\r\n", b"X-Slow: " + b"a" * 500))
            for _ in range(20)
        ]
        async with httpx.AsyncClient(base_url=address) as client:
            assert (await client.get("/healthz")).status_code == 200
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)


@pytest.mark.parametrize("then", [b"", b"x" * 200], ids=["stalled", "letter by letter"])
async def test_a_body_that_does_not_arrive_is_given_up_with_a_problem(
    hasty: None, app: FastAPI, then: bytes
) -> None:
    async with on_loopback(app) as address:
        head, _, body = (await talk(address, HEAD + b'{"question": "', then)).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408")
        assert "did not arrive" in json.loads(body)["title"]


async def test_who_does_not_read_an_answer_is_hung_up_on_and_the_work_for_it_ends(
    hasty: None, app: FastAPI, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = asyncio.Event()

    async def long() -> AsyncIterator[bytes]:
        try:
            while True:
                yield bytes(1 << 16)
                await asyncio.sleep(0)
        finally:
            ended.set()

    app.add_api_route("/endless", lambda: StreamingResponse(long()))
    # A server that an earlier test started in this process keeps its log to itself.
    monkeypatch.setattr(logging.getLogger("ragweave.serve"), "propagate", True)
    caplog.set_level(logging.INFO, "ragweave.serve")
    async with on_loopback(app) as address:
        host, port = address.removeprefix("http://").split(":")
        _, writer = await asyncio.open_connection(host, port)
        writer.write(WHOLE.replace(b"/healthz", b"/endless"))
        await asyncio.wait_for(ended.wait(), 20)
        writer.close()
    assert "GET /endless 200" in caplog.text and "Traceback" not in caplog.text
    assert "graceful shutdown exceeded" not in caplog.text
