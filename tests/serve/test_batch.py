"""A batch of questions at LangServe's door: it takes a few places at a time, and waits where there is none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from langserve import RemoteRunnable

from ragweave.graphs import run as graphs
from ragweave.nodes.answer import Answer
from ragweave.serve.access import Slots
from ragweave.serve.batch import AT_ONCE, LONGEST
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support.serving import Graph, on_loopback, until

BATCH = "/langserve/agent/batch"
INVOKE = "/langserve/agent/invoke"


def questions(n: int) -> list[dict[str, str]]:
    return [{"question": f"Question {i}?"} for i in range(n)]


class Counted:
    """A graph that answers with its question after a moment, and counts how many are under way."""

    def __init__(self) -> None:
        self.now = self.most = self.begun = 0
        self.may = asyncio.Event()
        self.may.set()

    async def astream(self, messages: Any, **options: Any) -> AsyncIterator[dict[str, Any]]:
        self.begun += 1
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(0.01)
            if "fails" in messages[-1].text:
                raise RuntimeError("a graph that fails")
            await self.may.wait()
            yield {"type": "state", "state": {"answer": Answer(text=messages[-1].text)}}
        finally:
            self.now -= 1


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    found = Counted()
    monkeypatch.setattr(graphs, "astream", found.astream)
    return found


@pytest.mark.parametrize(("allowed", "most"), [(None, AT_ONCE), (2, 2), (1_000, AT_ONCE)])
async def test_a_batch_that_is_longer_than_there_are_places_is_answered_a_few_at_a_time(
    notes: Any, app: FastAPI, counted: Counted, allowed: int | None, most: int
) -> None:
    asked = questions(ServeSettings.running + 6)
    counted.may.clear()
    async with on_loopback(app) as address:
        remote: RemoteRunnable[Any, Any] = RemoteRunnable(f"{address}/langserve/agent/")
        batch = remote.abatch(asked, config={"max_concurrency": allowed} if allowed else None)
        waiting = asyncio.create_task(batch)
        await until(lambda: counted.now >= most)
        counted.may.set()
        answers = await waiting
    assert [answer["text"] for answer in answers] == [one["question"] for one in asked]
    assert counted.most == most


async def test_a_batch_leaves_places_to_others(client: httpx.AsyncClient, app: FastAPI, graph: Graph) -> None:
    slots = app.state.app_state.slots
    under_way = asyncio.create_task(client.post(BATCH, json={"inputs": questions(100)}))
    await until(lambda: slots.taken >= AT_ONCE)
    other = asyncio.create_task(client.post(INVOKE, json={"input": {"question": "And I?"}}))
    await until(lambda: slots.taken > AT_ONCE)
    await asyncio.sleep(0.2)
    assert slots.taken == AT_ONCE + 1
    graph.may.set()
    assert [answer.status_code for answer in await asyncio.gather(under_way, other)] == [200, 200]


async def test_a_batch_waits_for_a_place_where_there_is_none(
    client: httpx.AsyncClient, app: FastAPI, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots, refused = app.state.app_state.slots, 0
    for _ in range(ServeSettings.running):
        slots.take()

    def take() -> None:
        nonlocal refused
        refused += 1
        Slots.take(slots)

    monkeypatch.setattr(slots, "take", take)
    waiting = asyncio.create_task(client.post(BATCH, json={"inputs": questions(3)}))
    await until(lambda: refused >= 3)
    assert counted.begun == 0 and not waiting.done()
    for _ in range(ServeSettings.running):
        slots.give()
    assert len((await waiting).json()["output"]) == 3


@pytest.mark.parametrize(
    ("path", "body", "begun"),
    [(BATCH, {"inputs": questions(50)}, AT_ONCE), (INVOKE, {"input": {"question": "And I?"}}, 1)],
)
async def test_what_a_client_waited_for_is_given_up_when_it_has_gone(
    notes: Any, app: FastAPI, counted: Counted, path: str, body: dict[str, Any], begun: int
) -> None:
    counted.may.clear()
    async with on_loopback(app) as address:
        async with httpx.AsyncClient(base_url=address) as client:
            asked = asyncio.create_task(client.post(path, json=body, timeout=60))
            await until(lambda: counted.begun >= begun)
            asked.cancel()
            await asyncio.wait([asked])
        await until(lambda: not counted.now)
    assert counted.begun == begun and app.state.app_state.slots.taken == 0


async def test_where_one_fails_the_rest_is_given_up_and_holds_no_places(
    client: httpx.AsyncClient, app: FastAPI, counted: Counted
) -> None:
    asked = [{"question": "Which one fails?"}, *questions(99)]
    counted.may.clear()
    assert (await client.post(BATCH, json={"inputs": asked})).status_code == 500
    assert app.state.app_state.slots.taken == 0 and counted.now == 0
    begun = counted.begun
    await asyncio.sleep(0.1)
    assert counted.begun == begun <= AT_ONCE + 1


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"inputs": questions(LONGEST + 1)}, f"most {LONGEST}"),
        ({"inputs": questions(2), "config": {"max_concurrency": 0}}, "max_concurrency"),
        ({"inputs": questions(2), "config": {"max_concurrency": "2"}}, "max_concurrency"),
    ],
)
async def test_a_batch_out_of_bounds_is_refused(
    client: httpx.AsyncClient, counted: Counted, body: dict[str, Any], told: str
) -> None:
    answer = await client.post(BATCH, json=body)
    assert answer.status_code == 422 and told in answer.json()["detail"] and counted.begun == 0
