"""A real `langgraph dev` over a tiny library."""

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
import pytest

from ragweave.tests.support import build_library

ROOT = Path(__file__).resolve().parent.parent.parent
_PATIENCE = 180
"""Seconds that a server may take to start on a busy machine; a test that waits so long has failed."""

TEXTS = {
    "lighthouse.md": "# The lighthouse\n\n## History\n\nThe lamp of the lighthouse was first lit on 3 October 1874.\n",
    "ferry.md": "# The ferry\n\n## Timetable\n\nThe ferry sails four times a day from April to October.\n",
}


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@asynccontextmanager
async def dev_server(folder: Path, *options: str, **environment: str) -> AsyncIterator[str]:
    """Start the server in a folder that holds a langgraph.json, and yield its address."""
    port = free_port()
    command = [str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser", *options]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    log = folder / "server.log"
    quiet = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "true"}
    with log.open("wb") as out:
        env = {**os.environ, **quiet, **environment}
        process = await asyncio.create_subprocess_exec(*command, cwd=folder, env=env, stdout=out, stderr=out)
    try:
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(trust_env=False) as client:
            give_up = time.monotonic() + _PATIENCE
            while not await _is_up(client, url):
                assert process.returncode is None and time.monotonic() < give_up, log.read_text()[-4000:]
                await asyncio.sleep(0.2)
        yield url
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


@pytest.fixture
async def server(tmp_path: Path, home: Path) -> AsyncIterator[str]:
    """Serve the graphs of langgraph.json, in a folder of its own, because the server keeps its state where it runs."""
    await build_library(tmp_path / "notes", TEXTS)
    folder = tmp_path / "dev"
    folder.mkdir()
    shutil.copy(ROOT / "langgraph.json", folder)
    web = tmp_path / "web"  # stands in for the web
    web.mkdir()
    (web / "chess.md").write_text("# Chess\n\nThe chess tournament of Zanzibar in 1911 was won by Ada Brandt.\n")
    async with dev_server(folder, "--no-reload", RAGWEAVE_WEB_FOLDER=str(web)) as url:
        yield url


async def _is_up(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(f"{url}/ok")).status_code == 200
    except httpx.HTTPError:
        return False
