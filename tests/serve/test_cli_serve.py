"""The commands `serve` and `keys`, what they refuse, and a library that is deleted beside a running server."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ragweave.app.commands import serve as cli_serve
from ragweave.components.answer import Answer
from ragweave.corpora.store.library import create_library
from ragweave.graphs import run as graphs
from ragweave.serve.batch import AT_ONCE, LONGEST
from ragweave.serve.direct import events_of
from ragweave.serve.process import only_server
from ragweave.serve.settings import ServeSettings
from ragweave.tests.conftest import Main
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.support.serving import ask_over_http, bearer, begin, on_loopback, until


def test_a_key_is_made_listed_and_revoked(main: Main) -> None:
    asyncio.run(create_library("notes"))
    code, secret, told = main("keys", "create", "Open WebUI", "--library", "notes")
    assert (
        code == 0
        and secret.startswith("rw_")
        and "opens library notes" in told
        and secret.strip() not in told
    )
    _, listed, _ = main("keys", "list", "--json")
    assert main("keys", "--json")[1] == listed
    (key,) = json.loads(listed)
    assert key["name"] == "Open WebUI" and secret.strip() not in listed and "hash" not in key
    assert main("keys", "revoke", key["id"])[0] == 0 and "revoked" in main("keys", "list")[1]
    code, _, told = main("keys", "revoke", key["id"])
    assert code == 2 and "no working key" in told
    for options in ((), ("--all", "--library", "notes"), ("--library", "nothing")):
        code, out, told = main("keys", "create", "x", *options)
        assert code == 2 and not out and ("some libraries or all" in told or "no library named" in told)
    assert main("serve", "--host", "0.0.0.0", "--port", "0")[0] == 2  # a revoked key does not count


def test_other_machines_are_not_let_in_without_a_key(main: Main) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        code, _, told = main("serve", "--host", host, "--port", "0")
        assert code == 2 and "no API key" in told and "ragweave keys create" in told, host


def test_what_counts_as_open_to_others(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    for host in ("127.0.0.1", "::1", "localhost"):
        assert not cli_serve.is_exposed(ServeSettings(host=host, names=""))
    monkeypatch.setenv("RAGWEAVE_SERVE_NAMES", "my.host")
    code, _, told = main("serve", "--port", "0")
    assert (
        code == 2 and "RAGWEAVE_SERVE_NAMES" in told and "my.host" in told and "127.0.0.1 can be" not in told
    )


def test_a_server_that_cannot_begin_says_why(main: Main, home: Path) -> None:
    main("keys", "create", "x", "--all")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused = {
            ("--port", str(taken.getsockname()[1])): "is in use",
            ("--host", "192.0.2.1"): "cannot listen",
        }
        for options, words in refused.items():
            code, _, told = main("serve", *options)
            assert code == 2 and words in told
    with only_server():
        code, _, told = main("serve", "--port", "0")
    assert code == 2 and "runs already, as process" in told and "RAGWEAVE_HOME" in told


def _kept(home: Path, conversations: Sequence[str]) -> set[str]:
    """Return the tables that hold rows of conversations."""
    ids = {"threads": "id", "turns": "thread", "runs": "thread"}
    ids |= {"steps.checkpoints": "thread_id", "steps.writes": "thread_id"}
    of = f"IN ({', '.join('?' * len(conversations))})"
    with closing(sqlite3.connect(home / "serve.sqlite")) as db:
        db.execute("ATTACH ? AS steps", [str(home / "conversations.sqlite")])
        return {
            t
            for t, id in ids.items()
            if db.execute(f"SELECT 1 FROM {t} WHERE {id} {of}", conversations).fetchone()
        }


async def test_a_library_that_is_deleted_on_the_command_line_takes_what_a_running_server_keeps_of_it_along(
    app: FastAPI, client: httpx.AsyncClient, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = (await ask_over_http(client, "How hot is tea brewed?", library="tea room"))[0]["thread"]
    thread = (await ask_over_http(client, QUESTION))[0]["thread"]
    client.headers.update(bearer(app.state.keys.create("mine", None)[1]))
    begun, may = asyncio.Event(), asyncio.Event()

    async def slowly(*args: Any, **how: Any) -> AsyncIterator[dict[str, Any]]:
        async with aclosing(events_of(*args, **how)) as events:
            async for event in events:
                begun.set()
                await may.wait()
                yield event

    monkeypatch.setattr("ragweave.serve.run_driver.events_of", slowly)
    late = await begin(client, QUESTION)
    await begun.wait()
    tables = {"threads", "turns", "runs", "steps.checkpoints"}
    assert _kept(home, [thread, late["thread"]]) == tables
    command = [sys.executable, "-m", "ragweave.app.cli", "library", "delete", "default", "--yes"]
    await asyncio.to_thread(subprocess.run, command, check=True)
    under_way = [run.task for run in app.state.app_state.runs._runs.values()]
    may.set()
    await asyncio.wait(under_way, timeout=30)
    assert _kept(home, [thread, late["thread"]]) == set()
    assert (await client.get(f"/api/threads/{other}")).json()["turns"][0]["status"] == "done"


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
