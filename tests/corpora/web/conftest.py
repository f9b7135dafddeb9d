"""A small web server on loopback whose answers are raw bytes, so that it can misbehave in every way."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

Handler = Callable[[asyncio.StreamWriter], Awaitable[None]]


class Answers:
    """Raw answers, made plainly."""

    @staticmethod
    def http(
        body: bytes | str = b"", *, status: str = "200 OK", type: str = "text/html; charset=utf-8", **headers: str
    ) -> bytes:
        data = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status}", "Connection: close", f"Content-Length: {len(data)}"]
        if type:
            lines.append(f"Content-Type: {type}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + data

    @staticmethod
    def redirect(location: str, status: str = "302 Found") -> bytes:
        return Answers.http(status=status, type="", Location=location)

    @staticmethod
    def json(value: Any, **more: Any) -> bytes:
        return Answers.http(json.dumps(value), type="application/json", **more)

    @staticmethod
    def article(title: str, *paragraphs: str) -> bytes:
        body = "".join(f"<p>{p}</p>" for p in paragraphs)
        head = f"<html><head><title>{title}</title></head>"
        return Answers.http(f"{head}<body><article><h1>{title}</h1>{body}</article></body></html>")


class Site(Answers):
    """Serves `routes`; keeps the request heads it saw."""

    def __init__(self) -> None:
        self.routes: dict[str, bytes | Handler] = {}
        self.seen: list[str] = []
        self.port = 0
        self.scheme = "http"
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[Any]] = set()

    async def start(self, tls: ssl.SSLContext | None = None) -> None:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0, ssl=tls)
        self.port = self._server.sockets[0].getsockname()[1]
        self.scheme = "https" if tls else "http"

    async def stop(self) -> None:
        for task in self._open:
            task.cancel()
        assert self._server is not None
        self._server.close()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def paths(self) -> list[str]:
        return [head.split(" ")[1] for head in self.seen]

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.seen.append(head)
            answer = self.routes.get(
                head.split(" ")[1].partition("?")[0], self.http("no such page", status="404 Not Found")
            )
            if isinstance(answer, bytes):
                writer.write(answer)
            else:
                await answer(writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    found = Site()
    await found.start()
    yield found
    await found.stop()


@pytest.fixture
async def sites() -> AsyncIterator[Callable[[ssl.SSLContext | None], Awaitable[Site]]]:
    """Start more sites, with TLS where a context is given."""
    started: list[Site] = []

    async def start(tls: ssl.SSLContext | None = None) -> Site:
        found = Site()
        await found.start(tls)
        started.append(found)
        return found

    yield start
    for found in started:
        await found.stop()
