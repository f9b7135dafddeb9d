"""A server that is told to stop: answers under way come to their end, no new one begins, and a balancer can see it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.serve.doors import DOORS
from ragweave.tests.serve.test_killed_servers import CHAT, settings_of
from ragweave.tests.support.server import Received, ScriptedServer
from ragweave.tests.support.serving import begin, events_until, in_process, killed_at_the_end

SECONDS = "RAGWEAVE_SERVE_SHUTDOWN_SECONDS"

OTHER = "How often does the ferry sail?"


def react(request: Received) -> Any:
    """Answer in two sentences, of which the second one is long in coming."""
    if "numbered evidence" not in request.prompt:
        return "paragraph"
    lamp, ferry = (
        "The lamp of the lighthouse was first lit on 3 October 1874",
        "The ferry sails four times a day",
    )
    return [f"{ferry if OTHER in request.prompt else lamp} [1]. ", "It ", *["stands "] * 400]


@pytest.fixture
def model() -> Iterator[ScriptedServer]:
    """A model whose second sentence is minutes long, unless it is `closing`."""
    with ScriptedServer(react=react, part_delay=0.4) as server:
        yield server


async def until(status: int, ask: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
    """Ask until the answer has this status: a signal is on its way, and a worker without answers ends at once."""
    async with asyncio.timeout(100):
        while True:
            with suppress(httpx.TransportError):
                if (answer := await ask()).status_code == status:
                    return answer
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_server_that_is_stopped_ends_its_answers_and_refuses_new_ones_in_words(
    notes: Path, model: ScriptedServer, workers: str
) -> None:
    several = {"RAGWEAVE_SERVE_WORKERS": workers, SECONDS: "100"}
    async with killed_at_the_end(**settings_of(model), **several) as (client, process):
        unread = await begin(client, OTHER, **CHAT)
        await events_until(client, unread["run"], "sentence")
        run = await begin(client, QUESTION, **CHAT)
        events = asyncio.create_task(events_until(client, run["run"], "end"))
        await events_until(client, run["run"], "sentence")
        process.terminate()
        assert (await until(503, lambda: client.get("/readyz"))).json() == {"status": "draining"}
        assert (await until(200, lambda: client.get("/healthz"))).json() == {"status": "ok"}
        refused = await until(503, lambda: client.post("/api/ask", json={"question": QUESTION}))
        assert refused.headers["retry-after"]
        assert refused.json()["code"] == "draining" and "try again" in refused.json()["remedy"]
        asked = {"model": "agent", "messages": [{"role": "user", "content": QUESTION}]}
        refused = await until(503, lambda: client.post("/v1/chat/completions", json=asked))
        assert refused.json()["error"]["code"] == "draining"
        model.closing.set()
        shown = await events
        assert [e["type"] for e in shown][-2:] == ["answer", "end"] and shown[-1]["status"] == "done"
        assert "3 October 1874" in shown[-2]["answer"]["text"]
        async with asyncio.timeout(100):
            await process.wait()
    async with in_process(create_app(ServeSettings())) as client:
        for thread in (run["thread"], unread["thread"]):
            (turn,) = (await client.get(f"/api/threads/{thread}")).json()["turns"]
            assert turn["status"] == "done"


@asynccontextmanager
async def asked_at_each_door(
    client: httpx.AsyncClient, model: ScriptedServer
) -> AsyncIterator[dict[str, Any]]:
    """Ask at each door and lend what will be read there, once the model is at work for all: it takes eight at once."""
    doors = {name: door for name, door in DOORS.items() if name != "responses"}
    tasks = {
        name: asyncio.ensure_future(door(client, QUESTION, graph="crag")) for name, door in doors.items()
    }
    try:
        async with asyncio.timeout(100):
            while sum("numbered evidence" in r.prompt for r in model.requests) < len(tasks):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        yield tasks
    finally:
        for task in tasks.values():
            task.cancel()


BY_MODEL = {"RAGWEAVE_KNOBS": "mode=llm graph=crag"}


@pytest.mark.parametrize(
    ("seconds", "signals"), [("1", 1), ("100", 2)], ids=["the time is up", "a second signal"]
)
async def test_every_door_tells_in_its_own_form_that_an_answer_was_broken_off(
    notes: Path, model: ScriptedServer, seconds: str, signals: int
) -> None:
    async with killed_at_the_end(**settings_of(model), **BY_MODEL, **{SECONDS: seconds}) as (client, process):
        async with asked_at_each_door(client, model) as tasks:
            process.terminate()
            if signals > 1:
                await until(503, lambda: client.get("/readyz"))
                process.terminate()
            async with asyncio.timeout(100):
                told = {name: await task for name, task in tasks.items()}
        async with asyncio.timeout(100):
            await process.wait()
    others = {"mcp": 400, "chat streamed": 500, "responses streamed": 500}
    assert {name: reply.status for name, reply in told.items()} == {**dict.fromkeys(told, 503), **others}
    words = ("interrupted", "he server ended while it answered")
    assert [name for name, reply in told.items() if not any(word in reply.sent for word in words)] == []


async def test_every_door_answers_to_the_end_while_there_is_time(notes: Path, model: ScriptedServer) -> None:
    async with killed_at_the_end(**settings_of(model), **BY_MODEL, **{SECONDS: "100"}) as (client, process):
        async with asked_at_each_door(client, model) as tasks:
            process.terminate()
            await until(503, lambda: client.get("/readyz"))
            model.closing.set()
            async with asyncio.timeout(100):
                told = {name: await task for name, task in tasks.items()}
    assert {n: r.status for n, r in told.items() if r.status != 200 or "1874" not in r.text} == {}
