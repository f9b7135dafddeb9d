"""Runs and jobs: coming back, consent, and what happens while something of them is written down."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ragweave.serve import remote_journal
from ragweave.serve.access import Caller
from ragweave.serve.app import create_app
from ragweave.serve.conversations import latest
from ragweave.serve.records import Records
from ragweave.serve.settings import ServeSettings
from ragweave.serve.store import Store
from ragweave.tests.serve.conftest import QUESTION, Pause
from ragweave.tests.support.serving import Graph, ask_over_http, begin, in_process, parse_events, run_events


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
    ending, runs, graph.consent = paused(Records, "end"), app.state.app_state.runs, asks
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
