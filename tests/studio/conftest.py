"""A real `langgraph dev` over a tiny library."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
import time
from collections.abc import AsyncIterator
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


@pytest.fixture
async def server(tmp_path: Path, home: Path) -> AsyncIterator[str]:
    """Serve the graphs of langgraph.json, in a folder of its own, because the server keeps its state where it runs."""
    await build_library(tmp_path / "notes", TEXTS)
    (folder := tmp_path / "dev").mkdir()
    shutil.copy(ROOT / "langgraph.json", folder)
    (web := tmp_path / "web").mkdir()  # stands in for the web
    (web / "chess.md").write_text("# Chess\n\nThe chess tournament of Zanzibar in 1911 was won by Ada Brandt.\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser", "--no-reload"]
    quiet = {"LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "true"}
    env = {**os.environ, **quiet, "RAGWEAVE_WEB_FOLDER": str(web)}
    with (log := folder / "server.log").open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            *command, "--host", "127.0.0.1", "--port", port, cwd=folder, env=env, stdout=out, stderr=out
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
