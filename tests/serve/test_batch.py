"""A batch of questions at LangServe's door: it takes a few places at a time, and waits where there is none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ragweave.components.answer import Answer
from ragweave.graphs import run as graphs
from ragweave.serve.batch import AT_ONCE, LONGEST
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support.serving import on_loopback, until

BATCH = "/langserve/agent/batch"


def questions(n: int) -> list[dict[str, str]]:
    return [{"question": f"Question {i}?"} for i in range(n)]


class Counted:
    """A graph that answers with its question when it may, and counts how many are under way."""

    def __init__(self) -> None:
        self.now = self.most = self.begun = 0
        self.may = asyncio.Event()

    async def astream(self, messages: Any, **options: Any) -> AsyncIterator[dict[str, Any]]:
        self.begun += 1
        self.now += 1
        self.most = max(self.most, self.now)
        try:
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
async def test_a_long_batch_is_answered_a_few_at_a_time_and_leaves_places_to_others(
    client: httpx.AsyncClient, counted: Counted, allowed: int | None, most: int
) -> None:
    asked = questions(ServeSettings.running + 6)
    config = {"max_concurrency": allowed} if allowed else {}
    under_way = asyncio.create_task(client.post(BATCH, json={"inputs": asked, "config": config}))
    await until(lambda: counted.now >= most)
    other = asyncio.create_task(
        client.post("/langserve/agent/invoke", json={"input": {"question": "And I?"}})
    )
    await until(lambda: counted.now > most)
    counted.may.set()
    answers = (await under_way).json()["output"]
    assert [answer["content"] for answer in answers] == [one["question"] for one in asked]
    assert (await other).status_code == 200 and counted.most == most + 1


async def test_a_batch_waits_for_a_place_where_there_is_none(
    client: httpx.AsyncClient, app: FastAPI, counted: Counted
) -> None:
    slots = app.state.app_state.slots
    for _ in range(ServeSettings.running):
        slots.take()
    counted.may.set()
    waiting = asyncio.create_task(client.post(BATCH, json={"inputs": questions(3)}))
    await until(lambda: slots.waiting >= 3)
    assert counted.begun == 0 and not waiting.done()
    for _ in range(ServeSettings.running):
        slots.give()
    assert len((await waiting).json()["output"]) == 3


async def test_a_batch_whose_client_has_gone_or_of_which_one_fails_is_given_up(
    notes: Any, app: FastAPI, counted: Counted
) -> None:
    async with on_loopback(app) as address, httpx.AsyncClient(base_url=address, timeout=60) as client:
        asked = asyncio.create_task(client.post(BATCH, json={"inputs": questions(50)}))
        await until(lambda: counted.begun >= AT_ONCE)
        asked.cancel()
        await asyncio.wait([asked])
        await until(lambda: not counted.now)
        assert counted.begun == AT_ONCE and app.state.app_state.slots.taken == 0
        failing = [{"question": "Which one fails?"}, *questions(99)]
        assert (await client.post(BATCH, json={"inputs": failing})).status_code == 500
        assert app.state.app_state.slots.taken == 0 and counted.now == 0 and counted.begun <= 2 * AT_ONCE + 1


async def test_a_batch_out_of_bounds_is_refused(client: httpx.AsyncClient, counted: Counted) -> None:
    at_once: list[Any] = [
        ({"inputs": questions(2), "config": {"max_concurrency": n}}, "max_con") for n in (0, "2")
    ]
    for body, told in (*at_once, ({"inputs": questions(LONGEST + 1)}, f"most {LONGEST}")):
        answer = await client.post(BATCH, json=body)
        assert answer.status_code == 422 and told in answer.json()["detail"] and counted.begun == 0
