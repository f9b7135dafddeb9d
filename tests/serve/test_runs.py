"""Runs and jobs: coming back, consent, and what happens while something of them is written down."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from ragweave.serve import remote_journal
from ragweave.serve.access import Caller
from ragweave.serve.app import create_app
from ragweave.serve.conversations import latest
from ragweave.serve.problems import Refused
from ragweave.serve.records import Records
from ragweave.serve.settings import ServeSettings
from ragweave.serve.slots import Slots
from ragweave.serve.store import Store
from ragweave.tests.serve.conftest import QUESTION, Pause
from ragweave.tests.support.serving import (
    Graph,
    ask_over_http,
    begin,
    in_process,
    parse_events,
    run_events,
    until,
)


async def resumed(client: httpx.AsyncClient, run: str, last: int) -> list[dict[str, Any]]:
    return parse_events(
        (await client.get(f"/api/runs/{run}/events", headers={"last-event-id": str(last)})).text
    )


async def wait_for(client: httpx.AsyncClient, run: str, status: str) -> None:
    async with asyncio.timeout(60):
        while (await client.get(f"/api/runs/{run}")).json()["status"] != status:  # noqa: ASYNC110 - over HTTP
            await asyncio.sleep(0.01)


async def test_a_run_goes_on_without_listeners_and_tells_all_who_come(
    client: httpx.AsyncClient, graph: Graph
) -> None:
    run = await begin(client, QUESTION)
    graph.may.set()
    await wait_for(client, run["run"], "done")
    everything = await run_events(client, run["run"])
    assert [e["type"] for e in everything] == ["start", "step", "answer", "end"]
    for n in range(len(everything) + 1):
        assert await resumed(client, run["run"], n) == everything[n:]
        assert await run_events(client, run["run"], after=n) == everything[n:]
    at = f"/api/runs/{run['run']}/events"
    for number in ("x", "-1", "1e9", "٣", "9" * 30):
        assert (await client.get(at, params={"after": number})).status_code == 400, number
    assert (await client.get(at, headers={"last-event-id": "4"})).status_code == 204
    assert (await client.get(at, params={"after": "9999"})).status_code == 204


async def test_who_comes_while_consent_is_taken_is_told_the_rest(
    client: httpx.AsyncClient, graph: Graph, paused: Callable[..., Pause]
) -> None:
    graph.consent = True
    graph.may.set()
    run = (await begin(client, QUESTION, context={"web": "ask"}))["run"]
    await wait_for(client, run, "waiting")
    claim = paused(Records, "claim")
    given = asyncio.create_task(client.post(f"/api/runs/{run}/resume", json={"consent": True}))
    await claim.begun.wait()
    reading = asyncio.create_task(run_events(client, run))
    await asyncio.sleep(0.1)
    claim.may.set()
    assert (await given).status_code == 202
    async with asyncio.timeout(20):
        kinds = [e["type"] for e in await reading]
    assert kinds == ["start", "step", "consent", "consented", "step", "answer", "end"]


async def test_a_question_whose_conversation_is_deleted_while_it_is_written_down_leaves_nothing(
    client: httpx.AsyncClient, app: FastAPI, graph: Graph, paused: Callable[..., Pause]
) -> None:
    thread = (await client.post("/api/threads", json={})).json()["id"]
    written = paused(Records, "begin", after=True)
    asked = asyncio.create_task(client.post("/api/ask", json={"question": QUESTION, "thread": thread}))
    await written.begun.wait()
    deleting = asyncio.create_task(client.delete(f"/api/threads/{thread}"))
    await asyncio.sleep(0.2)
    written.may.set()
    assert ((await deleting).status_code, (await asked).status_code) == (204, 202)
    assert app.state.app_state.runs._runs == {}
    assert await latest(app.state.app_state.saver, 10) == []


async def test_two_tabs_that_replace_one_question_at_once_leave_the_answer_of_the_faster(
    client: httpx.AsyncClient, graph: Graph, paused: Callable[..., Pause]
) -> None:
    graph.may.set()
    run = await begin(client, QUESTION)
    await wait_for(client, run["run"], "done")
    graph.may.clear()
    looked = paused(Store, "turns", once=True)
    replacing = {"question": QUESTION, "thread": run["thread"], "replaces": 1}
    late = asyncio.create_task(client.post("/api/ask", json=replacing))
    await looked.begun.wait()
    first = (await client.post("/api/ask", json=replacing)).json()["run"]
    looked.may.set()
    assert (await late).status_code == 409
    graph.may.set()
    await wait_for(client, first, "done")
    (turn,) = (await client.get(f"/api/threads/{run['thread']}")).json()["turns"]
    assert (turn["run"], turn["status"]) == (first, "done")


@pytest.mark.parametrize("asks", [False, True])
async def test_who_stops_a_run_whose_end_is_written_down_waits_for_it_and_for_no_other_server(
    client: httpx.AsyncClient,
    app: FastAPI,
    graph: Graph,
    monkeypatch: pytest.MonkeyPatch,
    paused: Any,
    asks: bool,
) -> None:
    elsewhere: list[str] = []
    monkeypatch.setattr(Records, "stop", lambda self, id: elsewhere.append(id))
    monkeypatch.setattr(remote_journal, "_STOPS", 0)
    ending, runs, graph.consent = paused(Records, "add_end"), app.state.app_state.runs, asks
    graph.may.set()
    run = await begin(client, QUESTION)
    await ending.begun.wait()
    stopped = asyncio.create_task(runs.cancel(await runs.get(Caller(), run["run"])))
    await asyncio.sleep(0)
    ending.may.set()
    await stopped
    assert elsewhere == []
    assert (await runs.get(Caller(), run["run"])).status == ("cancelled" if asks else "done")
    assert [e["type"] for e in await run_events(client, run["run"])][-1] == "end"


async def test_a_question_that_is_refused_leaves_no_conversation_and_takes_nothing_out_of_one(
    client: httpx.AsyncClient, app: FastAPI, graph: Graph
) -> None:
    graph.may.set()
    run = await begin(client, QUESTION)
    await wait_for(client, run["run"], "done")
    replacing = {"question": QUESTION, "thread": run["thread"], "replaces": 1}
    for body in ({"question": QUESTION}, replacing):
        assert (await client.post("/api/ask", json={**body, "graph": "none"})).status_code == 400
        app.state.app_state.slots.draining = True
        assert (await client.post("/api/ask", json=body)).status_code == 503
        app.state.app_state.slots.draining = False
    (thread,) = (await client.get("/api/threads")).json()["threads"]
    (turn,) = (await client.get(f"/api/threads/{thread['id']}")).json()["turns"]
    assert (turn["run"], turn["status"]) == (run["run"], "done")


async def test_a_conversation_goes_on_after_a_restart_and_stays_small(
    notes: Path, app: FastAPI, home: Path
) -> None:
    async with in_process(app) as client:
        thread = (await ask_over_http(client, "How often does the ferry sail?"))[0]["thread"]
    async with in_process(create_app(ServeSettings())) as client:
        for _ in range(3):
            told = await ask_over_http(client, "And how often does it sail?", thread=thread)
        assert "four times" in told[-2]["answer"]["text"]
        turns = (await client.get(f"/api/threads/{thread}")).json()["turns"]
        assert [t["n"] for t in turns] == [1, 2, 3, 4] and all(t["answer"]["citations"] for t in turns)
    with sqlite3.connect(home / "conversations.sqlite") as db:
        rows, size = db.execute("SELECT count(*), sum(length(checkpoint)) FROM checkpoints").fetchone()
        others = db.execute(
            "SELECT count(DISTINCT json_extract(CAST(metadata AS TEXT), '$.run')) FROM checkpoints"
        )
        assert others.fetchone() == (1,)  # the steps of the last turn alone
    assert rows < 20 and size < 600_000


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
