"""A server whose model is bad, over real sockets: others are served beside it, and a signal ends it in time."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from ragweave.models.settings import model_settings
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.serve.doors import DOORS
from ragweave.tests.serve.test_doors import LEFT
from ragweave.tests.support.bad_models import KINDS, bad_server
from ragweave.tests.support.serving import killed_at_the_end, on_loopback, until

ASKING = ("page", "chat streamed", "responses streamed", "langserve streamed", "mcp")


def peak(pid: int) -> float:
    """Return the most memory that a process has taken, in MB."""
    (row,) = (r for r in Path(f"/proc/{pid}/status").read_text().splitlines() if r.startswith("VmHWM"))
    return int(row.split()[1]) / 1024


@pytest.mark.hard
@pytest.mark.parametrize("kind", KINDS)
async def test_a_bad_model_harms_nobody_beside_it_and_a_signal_ends_the_server_in_time(
    notes: Path, kind: str
) -> None:
    async with bad_server(KINDS[kind]) as model:
        given = {"RAGWEAVE_CHAT": "m", "RAGWEAVE_CHAT_URL": model.url, "RAGWEAVE_CHAT_CACHE": "false"}
        async with killed_at_the_end(**given) as (client, process):
            search = partial(client.post, "/search", json={"query": QUESTION})
            slowest = {"/healthz": 0.0, "/search": 0.0}
            await search()
            before = peak(process.pid)
            asking = [asyncio.ensure_future(DOORS[name](client, QUESTION)) for name in ASKING]
            await until(lambda: model.begun)
            ends = time.monotonic() + 3
            while time.monotonic() < ends:
                for path, ask in (("/healthz", partial(client.get, "/healthz")), ("/search", search)):
                    began = time.monotonic()
                    assert (await ask()).status_code == 200
                    slowest[path] = max(slowest[path], time.monotonic() - began)
            grown = peak(process.pid) - before
            process.terminate()
            began = time.monotonic()
            await process.wait()
            ended = time.monotonic() - began
            await asyncio.wait(asking)
    waits = " | ".join(f"{seconds:.2f} s" for seconds in slowest.values())
    print(f"\n| {kind} | {waits} | {grown:.0f} MB | {ended:.1f} s |")
    assert slowest["/healthz"] < 1 and slowest["/search"] < 5 and grown < 250 and ended < 10


@pytest.mark.parametrize("kind", ["silent", "a sentence every half second"])
async def test_who_leaves_a_door_closes_the_call_of_a_bad_model_and_none_begins_after_it(
    notes: Path, app: FastAPI, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    async with bad_server(KINDS[kind]) as model, on_loopback(app) as address:
        for name, value in {"CHAT": "m", "CHAT_URL": model.url, "CHAT_CACHE": "false"}.items():
            monkeypatch.setenv(f"RAGWEAVE_{name}", value)
        model_settings.cache_clear()
        for door in LEFT:
            before = model.begun
            async with httpx.AsyncClient(base_url=address, timeout=60) as client:
                asking = asyncio.create_task(DOORS[door](client, QUESTION))
                await until(lambda before=before: model.begun > before)
                await asyncio.sleep(0.2)
                asking.cancel()
                await asyncio.wait([asking])
            left = time.monotonic()
            await until(lambda: model.gone == model.begun and not app.state.app_state.slots.taken)
            assert time.monotonic() - left < 2, door
            begun = model.begun
            await asyncio.sleep(0.5)
            assert model.begun == begun, door
