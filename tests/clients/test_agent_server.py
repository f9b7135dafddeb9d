"""The recipes over `langgraph dev`: RemoteGraph, the SDK, A2A and MCP; each is a file of examples/."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.tests.clients.matrix import ROOT
from ragweave.tests.support import build_library
from ragweave.tests.support.notes import TEXTS

pytestmark = [
    pytest.mark.clients,
    pytest.mark.skipif(find_spec("langgraph_cli") is None, reason="langgraph-cli is missing: make setup-dev"),
]
LIT, SAILS = "When was the lamp of the lighthouse first lit?", "How often does the ferry sail?"
PATIENCE = 120
"""Seconds in which a server is up on a busy machine."""


@pytest.fixture
async def server(home: Path, tmp_path: Path) -> AsyncIterator[str]:
    """Serve the graphs with `langgraph dev`, in a folder of its own."""
    await build_library(tmp_path / "notes", TEXTS)
    (folder := tmp_path / "dev").mkdir()
    shutil.copy(ROOT / "langgraph.json", folder)
    (folder / ".env").touch()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    env = {**os.environ, "LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "true"}
    command = ("-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", port)
    with (log := folder / "log").open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, cwd=folder, env=env, stdout=out, stderr=out
        )
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            for _ in range(5 * PATIENCE):
                assert process.returncode is None, log.read_text()[-3_000:]
                if await _is_up(client):
                    break
                await asyncio.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def _is_up(client: httpx.AsyncClient) -> bool:
    try:
        return (await client.get("/ok")).status_code == 200
    except httpx.TransportError:
        return False


def example(name: str) -> Any:
    """Import a file of examples/."""
    spec = spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_recipes_of_the_agent_server_run_and_unknown_knobs_are_refused(
    server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from langgraph_sdk import get_client

    assert "1874" in await example("remote_graph").main(LIT, server)
    protocol = example("agent_protocol")
    assert "1874" in await protocol.main(LIT, server)
    told = capsys.readouterr().out
    assert "check:" in told and "'agent'" in told
    _, conversation = await protocol.by_a2a(LIT, server)
    assert "four times a day" in (await protocol.by_a2a(SAILS, server, conversation))[0]
    assert "1874" in await protocol.by_mcp(LIT, server)
    sdk = get_client(url=server)
    end: Any = await sdk.runs.wait(None, "agent", input={"question": LIT}, context={"top_k": 2})
    assert "1874" in end["answer"]["text"]
    wrong: Any
    for wrong in ({"context": {"top_kk": 1}}, {"context": {"colour": 1}}, {"config": {"configurable": {"top_kk": 1}}}):
        with pytest.raises(httpx.HTTPStatusError, match="422"):
            await sdk.runs.wait(None, "agent", input={"question": LIT}, **wrong)
