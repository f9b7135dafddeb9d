"""A server is killed while its model answers the first call of a run, then the second, and so on: each run goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.tests.support.library import build_library
from ragweave.tests.support.server import Received, ScriptedServer
from ragweave.tests.support.serving import killed_at_the_end, parse_events

pytestmark = pytest.mark.hard

QUESTION = "When was the lamp of the lighthouse first lit?"
NOTE = "# The lighthouse\n\nThe lamp of the lighthouse was first lit on 3 October 1874.\n"
SENTENCE = "The lamp of the lighthouse was first lit on 3 October 1874 [1]. "


def hanging(at: int, prompts: list[str]) -> Callable[[Received], Any]:
    """Return a model whose call number `at` takes two minutes."""

    def react(request: Received) -> Any:
        prompts.append(request.prompt)
        if len(prompts) == at:
            return ["wait "] * 400
        return SENTENCE if "numbered evidence" in request.prompt else "paragraph"

    return react


async def until_it_hangs(client: httpx.AsyncClient, run: str, at: int, prompts: list[str]) -> bool:
    """Wait for call number `at`; return False if the run ends before."""
    async with asyncio.timeout(120):
        while len(prompts) < at:
            if (await client.get(f"/api/runs/{run}")).json()["status"] != "running":
                return False
            await asyncio.sleep(0.1)
    return True


async def events(client: httpx.AsyncClient, run: str, last: int) -> list[dict[str, Any]]:
    """Return the events after one, as a browser that comes back asks for them."""
    at, headers = f"/api/runs/{run}/events", {"last-event-id": str(last)}
    text = ""
    async with asyncio.timeout(120), client.stream("GET", at, headers=headers) as stream:
        async for part in stream.aiter_text():
            text += part.replace("\r\n", "\n")
    return parse_events(text)


async def shown_by(client: httpx.AsyncClient, run: str) -> list[dict[str, Any]]:
    """Return the events of a run so far."""
    text = ""
    try:
        async with asyncio.timeout(2), client.stream("GET", f"/api/runs/{run}/events") as stream:
            async for part in stream.aiter_text():
                text += part.replace("\r\n", "\n")
    except TimeoutError:
        return parse_events(text[: text.rfind("\n\n") + 2])
    return parse_events(text)


@pytest.mark.parametrize("graph", ["agent", "auto_rag", "rag_fusion", "crag", "universal_rag"])
async def test_a_run_goes_on_at_whichever_call_of_its_model_the_server_was_killed(
    graph: str, home: Path, tmp_path: Path
) -> None:
    await build_library(tmp_path / "notes", {"lighthouse.md": NOTE})
    for at in range(1, 20):
        prompts: list[str] = []
        with ScriptedServer(react=hanging(at, prompts), part_delay=0.3) as model:
            chat = {
                "RAGWEAVE_CHAT": "scripted",
                "RAGWEAVE_CHAT_URL": model.base_url,
                "RAGWEAVE_CHAT_KEY": "none",
            }
            async with killed_at_the_end(**chat) as (client, _):
                body = {"question": QUESTION, "graph": graph, "context": {"mode": "llm"}}
                run = (await client.post("/api/ask", json=body)).json()["run"]
                if not await until_it_hangs(client, run, at, prompts):
                    break
                shown = await shown_by(client, run)
            async with killed_at_the_end(**chat) as (client, _):
                rest = await events(client, run, shown[-1]["id"])
        assert [e["id"] for e in (*shown, *rest)] == list(range(1, len(shown) + len(rest) + 1))
        assert rest[0]["type"] == "resumed" and rest[-1]["status"] == "done", (at, rest)
        (answer,) = [e["answer"]["text"] for e in rest if e["type"] == "answer"]
        assert "1874" in answer
    assert at > 1
