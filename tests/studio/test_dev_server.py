"""`langgraph dev` starts without a network and streams a run to the real SDK client."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.testing import build_library

pytestmark = pytest.mark.studio
ROOT = Path(__file__).resolve().parent.parent.parent
_PATIENCE = 120
"""Seconds that a server may take to start on a busy machine; a test that waits so long has failed."""

TEXTS = {
    "lighthouse.md": "# The lighthouse\n\n## History\n\nThe lamp of the lighthouse was first lit on 3 October 1874.\n",
    "ferry.md": "# The ferry\n\n## Timetable\n\nThe ferry sails four times a day from April to October.\n",
}


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


@pytest.fixture
async def server(tmp_path: Path, home: Path) -> AsyncIterator[str]:
    """Start the server in a folder of its own, because it keeps its state where it runs."""
    await build_library(tmp_path / "notes", TEXTS)
    shutil.copy(ROOT / "langgraph.json", tmp_path)
    port = free_port()
    environment = {
        **os.environ,
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGGRAPH_NO_VERSION_CHECK": "true",
        "RAGWEAVE_OFFLINE": "true",
    }
    command = [str(Path(sys.executable).with_name("langgraph")), "dev", "--no-browser", "--no-reload"]
    log = tmp_path / "server.log"
    with log.open("wb") as out:
        process = await asyncio.create_subprocess_exec(
            *command, "--host", "127.0.0.1", "--port", str(port), cwd=tmp_path, env=environment, stdout=out, stderr=out
        )
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


async def _is_up(client: httpx.AsyncClient, url: str) -> bool:
    try:
        return (await client.get(f"{url}/ok")).status_code == 200
    except httpx.HTTPError:
        return False


async def test_studios_server_answers_a_thread_over_a_library(server: str) -> None:
    from langgraph_sdk import get_client

    client = get_client(url=server)
    graphs = {a["graph_id"] for a in await client.assistants.search()}
    assert graphs == {"agent", "universal_rag", "rag_fusion", "crag", "auto_rag"}

    assistant = (await client.assistants.search(graph_id="agent"))[0]["assistant_id"]
    form = (await client.assistants.get_schemas(assistant))["context_schema"]
    assert form is not None and "max_hops" in form["properties"]

    thread = (await client.threads.create())["thread_id"]
    first = await _ask(client, thread, "When was the lamp of the lighthouse first lit?")
    assert "1874" in first["answer"]["text"]
    assert first["answer"]["citations"][0]["locator"]["file"].endswith("lighthouse.md")
    assert {"frame", "route", "retrieve", "generate", "check"} <= set(first["nodes"])
    assert "1874" in " ".join(first["sentences"])

    second = await _ask(client, thread, "And how often does the ferry sail from April to October?")
    assert "four times" in second["answer"]["text"]
    kept = (await client.threads.get_state(thread))["values"]
    assert [m["type"] for m in kept["messages"]] == ["human", "ai", "human", "ai"]


async def _ask(client: Any, thread: str, question: str) -> dict[str, Any]:
    """Stream one run; returns its last answer, the nodes that told of themselves and the sentences as they came."""
    told: dict[str, Any] = {"nodes": [], "sentences": []}
    stream = client.runs.stream(
        thread,
        "agent",
        input={"messages": [{"role": "user", "content": question}]},
        context={"mind": "small"},
        stream_mode=["custom", "values"],
    )
    async for part in stream:
        assert part.event != "error", part.data
        if part.event == "custom" and part.data["type"] == "step":
            told["nodes"].append(part.data["node"])
        elif part.event == "custom" and part.data["type"] == "sentence":
            told["sentences"].append(part.data["text"])
        elif part.event == "values" and part.data.get("answer"):
            told["answer"] = part.data["answer"]
    return told
