"""The server under test: in this process without a socket, or for real on a free port of loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from ragweave.app.commands.serve import config_of, listen

BASE = "http://127.0.0.1:8765"


@asynccontextmanager
async def in_process(app: FastAPI, **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Run an app and yield a client that calls it directly; an answer arrives when it is whole."""
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
async def on_loopback(app: FastAPI) -> AsyncIterator[str]:
    """Serve an app on a free port and yield its address; streams arrive as they are sent."""
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    server = uvicorn.Server(config_of(app, 2))
    # The signals belong to the test run.
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


def parse_events(text: str) -> list[dict[str, Any]]:
    """Return server-sent events with their data, and their number as `id`."""
    found: list[dict[str, Any]] = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line and not line.startswith(":"))
        if "data" in fields:
            found.append({**json.loads(fields["data"]), "id": int(fields["id"])})
    return found


async def ask_over_http(client: httpx.AsyncClient, question: str, **body: Any) -> list[dict[str, Any]]:
    """Ask, wait, and return every event of the run."""
    started = await client.post("/api/ask", json={"question": question, **body})
    started.raise_for_status()
    return parse_events((await client.get(f"/api/runs/{started.json()['run']}/events")).text)


def bearer(secret: str) -> dict[str, str]:
    """Return the header that brings a key."""
    return {"authorization": f"Bearer {secret}"}
