"""Servers over one PostgreSQL, or workers over one home: what one begins another one reads, resumes and stops."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ragweave.corpora.store.stores import stores
from ragweave.serve import uploads
from ragweave.serve.access import OWNER
from ragweave.serve.app import create_app
from ragweave.serve.event_writer import EventWriter
from ragweave.serve.journal import Entry
from ragweave.serve.records import Record, Records, RunLost
from ragweave.serve.settings import ServeSettings
from ragweave.serve.store import Store
from ragweave.tests.serve.conftest import QUESTION, TEA, TEXTS
from ragweave.tests.support.library import build_library
from ragweave.tests.support.serving import (
    Graph,
    ask_over_http,
    bearer,
    begin,
    clock_stands,
    direct_client,
    events_until,
    in_process,
    on_loopback,
    parse_events,
    run_events,
)

pytestmark = pytest.mark.both


@pytest.fixture
async def two(home: Path, tmp_path: Path) -> AsyncIterator[tuple[httpx.AsyncClient, httpx.AsyncClient]]:
    """Clients of two servers over the same notes."""
    await build_library(tmp_path / "notes", TEXTS)
    settings = ServeSettings(per_minute=100, workers=2)
    async with (
        on_loopback(create_app(settings)) as one,
        on_loopback(create_app(settings)) as other,
        httpx.AsyncClient(base_url=one, timeout=60) as a,
        httpx.AsyncClient(base_url=other, timeout=60) as b,
    ):
        yield a, b


async def test_a_conversation_is_begun_on_one_server_and_gone_on_with_on_the_other(two: Any) -> None:
    a, b = two
    thread = (await ask_over_http(a, QUESTION))[0]["thread"]
    answer = (await ask_over_http(b, "And the ferry, how often does it sail?", thread=thread))[-2]["answer"]
    assert "four times" in answer["text"]
    for client in two:
        turns = (await client.get(f"/api/threads/{thread}")).json()["turns"]
        assert [t["status"] for t in turns] == ["done", "done"] and "1874" in turns[0]["answer"]["text"]
        assert [
            t["id"] for t in (await client.get("/api/threads", params={"q": "SAIL"})).json()["threads"]
        ] == [thread]


async def test_the_stream_of_a_run_is_read_from_the_other_server_while_it_runs_from_any_number(
    two: Any, graph: Graph
) -> None:
    a, b = two
    run = (await begin(a, QUESTION))["run"]
    assert [e["type"] for e in await events_until(b, run, "step")] == ["start", "step"]
    following = asyncio.create_task(run_events(b, run))
    await asyncio.sleep(0.3)
    graph.may.set()
    whole = await run_events(a, run)
    assert await following == whole and [e["id"] for e in whole] == [1, 2, 3, 4]
    assert [await run_events(b, run, after=n) for n in range(5)] == [whole[n:] for n in range(5)]


async def test_consent_asked_for_on_one_server_is_given_once_on_either_and_both_tell_the_rest(
    two: Any, graph: Graph
) -> None:
    a, b = two
    graph.consent = True
    graph.may.set()
    run = (await begin(a, QUESTION, context={"web": "ask"}))["run"]
    before = await events_until(a, run, "consent")
    waiting = asyncio.create_task(run_events(a, run, after=len(before)))
    resume = f"/api/runs/{run}/resume"
    given = await asyncio.gather(*(client.post(resume, json={"consent": True}) for client in (b, a, b, a)))
    assert sorted(g.status_code for g in given) == [202, 409, 409, 409]
    rest = await run_events(b, run, after=len(before))
    assert [e["type"] for e in rest] == ["consented", "step", "answer", "end"]
    assert await waiting == rest and rest[0]["id"] == len(before) + 1


async def test_a_run_is_stopped_and_its_conversation_deleted_through_the_other_server(
    two: Any, graph: Graph
) -> None:
    a, b = two
    first, second = await begin(a, QUESTION), await begin(a, QUESTION)
    assert (await b.post(f"/api/runs/{first['run']}/cancel", json={})).json()["status"] == "cancelled"
    assert graph.stopped == 1 and (await run_events(a, first["run"]))[-1]["status"] == "cancelled"
    assert (await b.delete(f"/api/threads/{second['thread']}")).status_code == 204
    assert graph.stopped == 2 and (await a.get(f"/api/threads/{second['thread']}")).status_code == 404
    assert (await a.get(f"/api/runs/{second['run']}")).status_code == 404


async def test_two_servers_do_not_answer_one_conversation_at_once(two: Any, graph: Graph) -> None:
    a, b = two
    thread = (await a.post("/api/threads", json={})).json()["id"]
    asked = [
        client.post("/api/ask", json={"question": QUESTION, "thread": thread}) for client in (a, b, a, b)
    ]
    assert sorted(x.status_code for x in await asyncio.gather(*asked)) == [202, 409, 409, 409]


async def test_a_key_and_a_limit_of_one_server_count_on_the_other(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock_stands(monkeypatch)
    await build_library(tmp_path / "notes", TEXTS)
    await build_library(tmp_path / "tea", TEA, "tea room")
    apps: list[FastAPI] = [create_app(ServeSettings(per_minute=6, workers=2)) for _ in range(2)]
    async with in_process(apps[0]) as a, in_process(apps[1]) as b:
        libraries = {row["name"]: row["id"] for row in (await a.get("/api/libraries")).json()["libraries"]}
        keys, (key, secret) = apps[0].state.keys, apps[0].state.keys.create("tea", (libraries["tea room"],))
        assert (await b.get("/api/threads")).status_code == 401
        async with direct_client(apps[1], headers=bearer(secret)) as tea:
            assert [row["name"] for row in (await tea.get("/api/libraries")).json()["libraries"]] == [
                "tea room"
            ]
            _, other = keys.create("notes", (libraries["default"],))
            async with direct_client(apps[0], headers=bearer(other)) as notes:
                mine = (await ask_over_http(notes, QUESTION, library="default"))[0]
            # What belongs to one key is not there for another one, whichever server is asked.
            for client in (tea, direct_client(apps[0], headers=bearer(secret))):
                for path in (f"/api/threads/{mine['thread']}", f"/api/runs/{mine['run']}/events"):
                    assert (await client.get(path)).status_code == 404
                assert (await client.get("/api/threads")).json()["threads"] == []
            made = [
                (await direct_client(app, headers=bearer(secret)).post("/api/threads", json={})).status_code
                for app in (*apps, *apps, *apps, *apps)
            ]
            assert made == [201] * 6 + [429] * 2
            keys.revoke(key.id)
            assert (await tea.get("/api/libraries")).status_code == 401


async def test_what_a_server_that_is_gone_had_in_hand_is_ended_and_its_uploads_are_indexed(
    two: Any, home: Path
) -> None:
    a, b = two
    library = stores().catalog.library("default").id
    kept = uploads.keep("left.md", io.BytesIO(b"# Mill\n\nThe mill was built in 1702.\n"), library)
    records = Records(Store(home / "serve.sqlite"), "gone")
    writer = EventWriter(records)
    records.begin(Record("job-1", OWNER, library, "", 0, {"paths": [str(kept)]}, "running", "gone"))
    await writer.tell("job-1", [Entry(1, "started", '{"type": "started"}')])
    thread = (await a.post("/api/threads", json={})).json()["id"]
    about = {"graph": "agent", "question": QUESTION, "context": {}}
    records.begin(Record("run-1", OWNER, library, thread, 0, about, "running", "gone"), knobs={})
    shown = {"type": "sentence", "text": "It was lit.", "citations": [], "support": "verified"}
    await writer.tell("run-1", [Entry(1, "sentence", json.dumps(shown))])
    async with asyncio.timeout(60):
        for client in two:
            assert [e["type"] for e in await run_events(client, "run-1")] == ["sentence", "error", "end"]
            events = parse_events((await client.get("/api/jobs/job-1/events")).text)
            assert [e["type"] for e in events] == ["started", "error", "end"]
        while not [s for s in stores().catalog.sources(library) if s.path == str(kept) and s.items]:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    (turn,) = (await b.get(f"/api/threads/{thread}")).json()["turns"]
    assert turn["trail"] == [shown] and turn["problem"]["code"] == "interrupted"
    with pytest.raises(RunLost):  # what it still sends after all
        await writer.tell("run-1", [Entry(2, "sentence", json.dumps(shown))])
