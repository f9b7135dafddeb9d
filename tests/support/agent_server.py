"""A real `langgraph dev` over the graphs of langgraph.json."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parent.parent.parent
_PATIENCE = 180
"""Seconds that a server may take to start on a busy machine; a test that waits so long has failed."""


@asynccontextmanager
async def agent_server(folder: Path, **environment: str) -> AsyncIterator[str]:
    """Serve the graphs from a temporary folder, because the server saves its state there; yield its URL."""
    shutil.copy(ROOT / "langgraph.json", folder)
    (folder / ".env").touch()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = (
        "-m",
        "langgraph_cli",
        "dev",
        "--no-browser",
        "--no-reload",
        "--host",
        "127.0.0.1",
        "--port",
        port,
    )
    quiet = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "true"}
    env = {**os.environ, **quiet, **environment}
    with (log := folder / "server.log").open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, cwd=folder, env=env, stdout=out, stderr=out
        )
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            give_up = time.monotonic() + _PATIENCE
            while not await _is_up(client):
                assert process.returncode is None and time.monotonic() < give_up, log.read_text()[-4000:]
                await asyncio.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def _is_up(client: httpx.AsyncClient) -> bool:
    try:
        return (await client.get("/ok")).status_code == 200
    except httpx.HTTPError:
        return False
