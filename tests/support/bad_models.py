"""Broken servers of chat models, on a socket or inside the event loop."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import lru_cache

import httpx

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
Send = Callable[[bytes], Awaitable[None]]
Way = Callable[[Send], Awaitable[None]]


def event(text: str, finish: str | None = None) -> bytes:
    """Return an event of a stream of the OpenAI API."""
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": finish}
    made = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(made).encode() + b"\n\n"


@lru_cache(maxsize=1)
def _ten_megabytes() -> bytes:
    return event("stone " * 1_700_000)


async def silent(send: Send) -> None:
    """Accept a connection, and send nothing."""
    await asyncio.Event().wait()


async def headed(send: Send) -> None:
    """Send only the head of a response."""
    await send(HEAD)
    await asyncio.Event().wait()


def repeated(part: bytes, seconds: float, first: bytes = b"") -> Way:
    """Send a part again and again, after so many seconds each time."""

    async def way(send: Send) -> None:
        await send(HEAD + first)
        while True:
            await send(part)
            await asyncio.sleep(seconds)

    return way


def trickling(seconds: float = 1.0) -> Way:
    """Send events letter by letter."""

    async def way(send: Send) -> None:
        await send(HEAD)
        for byte in itertools.cycle(event("It is Paris. ")):
            await send(bytes([byte]))
            await asyncio.sleep(seconds)

    return way


async def stalling(send: Send) -> None:
    """Send one sentence and then nothing."""
    await send(HEAD + event("It is Paris. "))
    await asyncio.Event().wait()


async def huge(send: Send) -> None:
    """Send an event of ten megabytes without an end."""
    await send(HEAD + _ten_megabytes())
    await asyncio.Event().wait()


def plain(status: str, body: bytes, kind: str = "application/json", **headers: str) -> Way:
    """Send one whole response."""
    more = ""
    for name, value in headers.items():
        more += f"{name.replace('_', '-')}: {value}\r\n"
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {len(body)}\r\n\r\n"

    async def way(send: Send) -> None:
        await send(head.encode() + body)

    return way


def complete(text: str, finish: str | None = "stop") -> Way:
    """Send one whole stream."""
    return plain("200 OK", event(text, finish) + b"data: [DONE]\n\n", "text/event-stream")


KINDS: dict[str, Way] = {
    "silent": silent,
    "head alone": headed,
    "one byte a second": trickling(),
    "comments alone": repeated(b": still here\n\n", 0.5),
    "empty parts": repeated(event(""), 0.5),
    "a thought without end": repeated(event("hm "), 0.5, event("<think>")),
    "a sentence, then silence": stalling,
    "a sentence every half second": repeated(event("It is Paris. "), 0.5),
    "a query without end": repeated(event("and "), 0.5, event("Query: ")),
    "endless": repeated(event("built of stone and ") * 100, 0.0),
    "10 MB": huge,
    "refuses the key": plain("401 Unauthorized", b'{"error": {"message": "no"}}'),
    "limits for an hour": plain(
        "429 Too Many Requests", b'{"error": {"message": "wait"}}', Retry_After="3600"
    ),
    "fails": plain("500 Internal Server Error", b"oops", "text/plain"),
    "busy": plain("503 Busy", b"", "text/plain", Retry_After="5"),
    "a web page": plain("200 OK", b"<html><body>Sign in</body></html>", "text/html"),
    "broken events": plain("200 OK", b'data: {"choices": [{"del\n\n' * 3, "text/event-stream"),
    "asks the same again": complete("Query: When was the lamp lit?"),
}
"""What a bad model may do, by name. Endless ones continue until the client disconnects."""


class BadServer:
    """Answers every request in one way, and counts requests and closed connections."""

    def __init__(self, way: Way) -> None:
        self.way, self.url = way, ""
        self.begun = self.gone = 0
        self.asked = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a connection."""

        async def send(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        async def answer() -> None:
            self.begun += 1
            self.asked.set()
            with suppress(ConnectionError):
                await self.way(send)
            writer.close()

        await reader.readuntil(b"\r\n\r\n")
        answering = asyncio.create_task(answer())
        with suppress(ConnectionError):
            while await reader.read(65_536):
                pass
        self.gone += 1
        answering.cancel()
        writer.close()


@asynccontextmanager
async def bad_server(way: Way) -> AsyncIterator[BadServer]:
    """Serve on loopback."""
    server = BadServer(way)
    http = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{http.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        http.close()


class BadTransport(httpx.AsyncBaseTransport):
    """The same without a socket, for an event loop whose time is not that of the world."""

    def __init__(self, way: Way) -> None:
        self.way, self.begun, self.open = way, 0, 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request once the head of its reply has come."""
        self.begun += 1
        self.open += 1
        parts: asyncio.Queue[bytes | None] = asyncio.Queue(1)

        async def answer() -> None:
            await self.way(parts.put)
            await parts.put(None)

        answering = asyncio.create_task(answer())

        class Body(httpx.AsyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                yield rest
                while (part := await parts.get()) is not None:
                    yield part

            async def aclose(self) -> None:
                answering.cancel()

        answering.add_done_callback(self._closed)
        try:
            head, _, rest = (await parts.get() or b"").partition(b"\r\n\r\n")
        except BaseException:
            answering.cancel()
            raise
        first, *lines = head.decode().split("\r\n")
        headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
        return httpx.Response(int(first.split()[1]), headers=headers, stream=Body(), request=request)

    def _closed(self, _: object) -> None:
        self.open -= 1
