"""The server under test: in this process without a socket, or on a free port of loopback."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from langchain_core.messages import HumanMessage

from ragweave.components.answer import Answer
from ragweave.serve import guard
from ragweave.serve.workers import config_of, listen

BASE = "http://127.0.0.1:8765"


@asynccontextmanager
async def in_process(app: FastAPI, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Run an app and yield a client that calls it directly; a response arrives when it is complete."""
    async with running(app), direct_client(app, **options) as client:
        yield client


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """Run the lifespan of an app in one task from beginning to end, as servers do."""
    begun, end = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        async with app.router.lifespan_context(app):
            begun.set()
            await end.wait()

    task, waiting = asyncio.create_task(live()), asyncio.create_task(begun.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not begun.is_set():
            await task
        yield
    finally:
        waiting.cancel()
        end.set()
        await task


def direct_client(app: FastAPI, **options: Any) -> httpx.AsyncClient:
    """Return a further client of an app that runs in this process."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=BASE, timeout=60, **options)


@asynccontextmanager
async def on_loopback(app: FastAPI, proxies: str = "") -> AsyncIterator[str]:
    """Serve an app on a free port and yield its address; streams arrive as they are sent."""
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    server = uvicorn.Server(config_of(app, 2, proxies))
    # `serve` would take over the signals of the test run.
    task = asyncio.create_task(server._serve(sockets=[listener]))
    try:
        while not server.started:
            if task.done():
                await task
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await task


async def until(holds: Callable[[], object]) -> None:
    """Wait until a condition is true, and fail after a minute."""
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def clock_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of the rate limit, so that it forgets no request however long the test takes."""
    now = time.time()
    monkeypatch.setattr(guard, "time", SimpleNamespace(time=lambda: now, monotonic=time.monotonic))


def parse_events(text: str) -> list[dict[str, Any]]:
    """Return the data of server-sent events, with their number as `id`."""
    found: list[dict[str, Any]] = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, colon, value = line.partition(": ")
            if name and colon and not line.startswith(":"):
                fields[name] = value
        if "data" in fields:
            found.append({**json.loads(fields["data"]), "id": int(fields["id"])})
    return found


async def ask_over_http(client: httpx.AsyncClient, question: str, **body: Any) -> list[dict[str, Any]]:
    """Ask, wait, and return every event of the run."""
    run = await begin(client, question, **body)
    return await run_events(client, run["run"])


async def begin(client: httpx.AsyncClient, question: str, **body: Any) -> dict[str, Any]:
    """Ask, and return the ids of the run."""
    answer = await client.post("/api/ask", json={"question": question, **body})
    assert answer.status_code == 202, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def run_events(client: httpx.AsyncClient, run: str, after: int = 0) -> list[dict[str, Any]]:
    """Return the events of a run after a number, once it has ended."""
    answer = await client.get(f"/api/runs/{run}/events", params={"after": after})
    return parse_events(answer.text)


def bearer(secret: str) -> dict[str, str]:
    """Return the header that sends a key."""
    return {"authorization": f"Bearer {secret}"}


class Graph:
    """A run that streams one step, waits until the test lets it continue, and answers its question."""

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.waits = asyncio.Event()
        self.stopped = 0
        self.stopped_now = asyncio.Event()
        self.consent = False
        self.error: Exception | None = None

    async def astream(self, messages: list[HumanMessage], **options: Any) -> AsyncIterator[dict[str, Any]]:
        question = messages[-1].text
        step = {"node": "route", "hop": 1, "by": "local", "seconds": 0.0, "data": {}}
        yield {"type": "step", **step, "summary": question}
        if self.consent and options.get("resume") is None:
            yield {"type": "consent", "action": "search_web", "query": question, "provider": "searx"}
            yield {"type": "state", "state": {}}
            return
        self.waits.set()
        try:
            await self.may.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            self.stopped_now.set()
            raise
        if self.error:
            raise self.error
        yield {"type": "state", "state": {"answer": Answer(text=f"{question}: {options.get('resume')}")}}


@asynccontextmanager
async def killed_at_the_end(
    *options: str, **environment: str
) -> AsyncIterator[tuple[httpx.AsyncClient, Process]]:
    """Serve the home of the test in a process that is killed at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "ragweave.app.cli", "serve", "--port", "0", *(options or ("--log", "none")),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, env={**os.environ, **environment},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        found = re.search(r"http://[\d.:]+", line)
        assert found, line + (await process.stdout.read()).decode()
        async with httpx.AsyncClient(base_url=found.group(), timeout=60, trust_env=False) as client:
            while True:
                try:
                    await client.get("/healthz")
                    break
                except (httpx.ConnectError, httpx.ReadTimeout):
                    await asyncio.sleep(0.05)
            yield client, process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def events_until(
    client: httpx.AsyncClient, run: str, last: str, after: int = 0
) -> list[dict[str, Any]]:
    """Return the events of a run up to one of type `last`; reconnect after an error as a browser does."""
    events: list[dict[str, Any]] = []
    async with asyncio.timeout(60):
        while last not in [event["type"] for event in events]:
            text, at = "", {"after": events[-1]["id"] if events else after}
            with suppress(httpx.TransportError):
                async with client.stream("GET", f"/api/runs/{run}/events", params=at) as stream:
                    async for part in stream.aiter_text():
                        text += part.replace("\r\n", "\n")
                        if f"event: {last}\n" in text and text.endswith("\n\n"):
                            break
            events += parse_events(text[: text.rfind("\n\n") + 2])
    return events
