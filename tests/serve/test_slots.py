"""Places for answers under way: how many are given at once, in which order, and what those hear who wait."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from ragweave.serve.problems import Refused
from ragweave.serve.slots import Slots
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.support.serving import begin, run_events, until


async def waiters(
    slots: Slots, who: str, order: list[str], places: dict[str, list[int]] | None = None
) -> None:
    """Take turns under names of callers, a letter each; `order` has them as they are let in."""

    async def one(name: str) -> None:
        heard = (places if places is not None else {}).setdefault(name, [])
        await slots.turn(name[0], heard.append)
        order.append(name)

    async with asyncio.TaskGroup() as group:
        for n, letter in enumerate(who):
            group.create_task(one(f"{letter}{n}"))
            await asyncio.sleep(0)


def full(total: int = 64, **more: Any) -> Slots:
    slots = Slots(total, 60, **more)
    for _ in range(total):
        slots.take()
    return slots


async def test_callers_take_turns_however_many_questions_one_of_them_has() -> None:
    slots, order = full(1), list[str]()
    waiting = asyncio.create_task(waiters(slots, "aaaab", order))
    await until(lambda: slots.waiting == 5)
    for n in range(5):
        slots.give()
        await until(lambda n=n: len(order) == n + 1)
    await waiting
    assert order == ["a0", "b4", "a1", "a2", "a3"] and (slots.taken, slots.waiting) == (1, 0)


async def test_a_crowd_is_let_in_while_the_loop_keeps_up_and_not_all_at_once_while_it_does_not() -> None:
    idle, order = Slots(64, 60), list[str]()
    await asyncio.wait_for(waiters(idle, "a" * 40, order), 20)
    assert idle.taken == 40

    busy, order = Slots(64, 60), list[str]()
    crowd = asyncio.create_task(waiters(busy, "a" * 40, order))
    for _ in range(20):
        await asyncio.sleep(0)
        time.sleep(0.03)  # noqa: ASYNC251 (the loop is to be late)
        assert busy.taken <= 20
    crowd.cancel()


async def test_an_answer_that_appears_stands_back_for_a_first_sentence_while_the_loop_is_late() -> None:
    slots, order = Slots(64, 60), list[str]()
    slots.take()
    slots.take()
    going_on = asyncio.create_task(slots.appears())
    await asyncio.sleep(0)
    for _ in range(10):
        await asyncio.sleep(0)
        time.sleep(0.03)  # noqa: ASYNC251 (the loop is to be late)
        assert not going_on.done() and slots.silent == 1
    await waiters(slots, "ab", order)
    slots.give()
    slots.give()
    slots.give()
    await asyncio.wait_for(going_on, 1)
    slots.give(appeared=True)
    assert (slots.taken, slots.silent) == (0, 0)


async def test_an_answer_goes_on_while_the_loop_keeps_up_and_after_a_while_in_any_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slots = Slots(64, 60)
    slots.take()
    slots.take()
    await asyncio.wait_for(slots.appears(), 1)
    monkeypatch.setattr("ragweave.serve.slots._LATE", -1.0)
    monkeypatch.setattr("ragweave.serve.slots._BACK", 0.05)
    slots.take()
    await asyncio.wait_for(slots.appears(), 1)
    assert slots.silent == 1


async def test_who_waits_hears_of_its_place_and_of_each_that_it_moves_up() -> None:
    slots, order, places = full(1), list[str](), dict[str, list[int]]()
    waiting = asyncio.create_task(waiters(slots, "abc", order, places))
    await until(lambda: places.get("c2"))
    slots.give()
    await until(lambda: len(places["c2"]) == 2)
    assert (places["c2"], places["b1"], order) == ([3, 2], [2, 1], ["a0"])
    waiting.cancel()
    await asyncio.wait([waiting])
    assert slots.waiting == 0


async def test_beyond_those_that_may_wait_and_while_it_stops_a_server_refuses() -> None:
    slots = full(1, waiting=1)
    first = asyncio.create_task(slots.turn("a"))
    await until(lambda: slots.waiting == 1)
    with pytest.raises(Refused, match="under way"):
        await slots.turn("b")
    slots.draining = True
    with pytest.raises(Refused, match="stopped"):
        await slots.turn("b")
    first.cancel()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=12))
def test_a_place_is_never_lost_whoever_leaves_while_it_waits(who: list[tuple[str, bool]]) -> None:
    async def run() -> None:
        slots = full(2)
        tasks = [(asyncio.create_task(slots.turn(name)), leaves) for name, leaves in who]
        await asyncio.sleep(0)
        slots.give()
        slots.give()
        for task, leaves in tasks:
            if leaves:
                task.cancel()
        while not all(task.done() for task, _ in tasks):
            await asyncio.sleep(0.001)
            if slots.waiting and slots.taken:
                slots.give()
        got = sum(not task.cancelled() for task, _ in tasks)
        for _ in range(slots.taken):
            slots.give()
        assert (slots.taken, slots.waiting) == (0, 0) and got >= sum(not leaves for _, leaves in who)

    asyncio.run(run())


async def test_a_question_that_waits_tells_its_place_in_the_stream_and_is_answered(
    client: httpx.AsyncClient, app: FastAPI
) -> None:
    slots = app.state.app_state.slots
    while slots.taken < 64:
        slots.take()
    asked = await begin(client, QUESTION)
    stream = asyncio.create_task(run_events(client, asked["run"]))
    await until(lambda: slots.waiting == 1)
    await asyncio.sleep(1.6)
    assert (await client.post("/search", json={"query": QUESTION})).status_code == 200  # it waits for nobody
    for _ in range(64):
        slots.give()
    events = await stream
    assert [e["place"] for e in events if e["type"] == "queue"] == [1] and "1874" in events[-2]["answer"][
        "text"
    ]


async def test_a_question_that_waits_can_be_stopped(client: httpx.AsyncClient, app: FastAPI) -> None:
    slots = app.state.app_state.slots
    while slots.taken < 64:
        slots.take()
    asked = await begin(client, QUESTION)
    await until(lambda: slots.waiting == 1)
    assert (await client.post(f"/api/runs/{asked['run']}/cancel")).json()["status"] == "cancelled"
    assert slots.waiting == 0 and slots.taken == 64
