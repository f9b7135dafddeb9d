"""Servers and workers that are killed while they answer, or stopped while they begin; a database that is restarted."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.stores import close_stores
from ragweave.models.subprocess_env import import_path
from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.serve.conftest import QUESTION, TEXTS
from ragweave.tests.support.library import build_library
from ragweave.tests.support.postgres import binaries, private_postgres
from ragweave.tests.support.server import Received, ScriptedServer
from ragweave.tests.support.serving import (
    Graph,
    ask_over_http,
    bearer,
    begin,
    events_until,
    in_process,
    killed_at_the_end,
    on_loopback,
    run_events,
)

CHAT = {"graph": "crag", "context": {"mode": "llm"}}


FIRST = "The lamp of the lighthouse was first lit on 3 October 1874 [1]. "


def react(times: int = 1) -> Any:
    """Answer in two sentences, of which the second one is long in coming so many times."""
    asked: list[str] = []

    def answer(request: Received) -> Any:
        if "numbered evidence" not in request.prompt:
            return "paragraph"
        asked.append(request.prompt)
        return [FIRST, "It ", *["stands "] * 400] if len(asked) <= times else FIRST

    return answer


def settings_of(model: ScriptedServer) -> dict[str, str]:
    """Return the variables of a server that asks this model."""
    return {"RAGWEAVE_CHAT": "scripted", "RAGWEAVE_CHAT_URL": model.base_url, "RAGWEAVE_CHAT_KEY": "none"}


async def goes_on(client: httpx.AsyncClient, run: dict[str, Any], shown: list[dict[str, Any]]) -> None:
    """Read on where the server of a run was killed: nothing is missing or doubled, and the conversation goes on."""
    rest: list[dict[str, Any]] = []
    async with asyncio.timeout(120):
        while not rest:
            # What was connected to the killed one is cut off: a client comes again.
            with suppress(httpx.TransportError):
                rest = await run_events(client, run["run"], after=len(shown))
    assert rest[0]["type"] == "resumed" and rest[-1] == {
        "type": "end",
        "status": "done",
        "id": rest[-1]["id"],
    }
    assert [e["id"] for e in (*shown, *rest)] == list(range(1, len(shown) + len(rest) + 1))
    (turn,) = (await client.get(f"/api/threads/{run['thread']}")).json()["turns"]
    assert turn["status"] == "done" and "1874" in turn["answer"]["text"]
    nodes = [e["node"] for e in (*shown, *rest) if e["type"] == "step"]
    assert (
        nodes.count("retrieve") == 1 and nodes.count("generate") == 1
    )  # what was done before is not done again
    assert [e["node"] for e in turn["trail"] if e["type"] == "step"] == nodes
    again = await ask_over_http(client, QUESTION, thread=run["thread"], context={"mode": "extractive"})
    assert "1874" in again[-2]["answer"]["text"]


@pytest.mark.cluster
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_a_server_is_killed_in_mid_answer_and_the_client_goes_on_with_the_other(
    home: Path, tmp_path: Path
) -> None:
    await build_library(tmp_path / "notes", TEXTS)
    with ScriptedServer(react=react(), part_delay=0.4) as model:
        chat = settings_of(model)
        async with killed_at_the_end(**chat) as (a, process), killed_at_the_end(**chat) as (b, _):
            run = await begin(a, QUESTION, **CHAT)
            shown = await events_until(a, run["run"], "sentence")
            process.kill()
            await goes_on(b, run, shown)


async def test_a_server_that_is_started_again_goes_on_with_what_a_kill_broke_off(notes: Path) -> None:
    with ScriptedServer(react=react(), part_delay=0.4) as model:
        chat = settings_of(model)
        async with killed_at_the_end(**chat) as (client, _):
            run = await begin(client, QUESTION, **CHAT)
            shown = await events_until(client, run["run"], "sentence")
        async with killed_at_the_end(**chat) as (client, _):
            await goes_on(client, run, shown)


async def test_a_run_that_was_resumed_twice_or_kept_no_step_says_why_it_does_not_go_on(notes: Path) -> None:
    with ScriptedServer(react=react(9), part_delay=0.4) as model:
        chat, events, run = settings_of(model), list[dict[str, Any]](), dict[str, Any]()
        for _ in range(3):
            async with killed_at_the_end(**chat) as (client, _):
                run = run or await begin(client, QUESTION, **CHAT)
                events += await events_until(client, run["run"], "sentence", after=len(events))
        async with killed_at_the_end(**chat) as (client, _):
            rest = await events_until(client, run["run"], "end", after=len(events))
    assert [e["type"] for e in events].count("resumed") == 2 and [e["type"] for e in rest] == ["error", "end"]
    assert rest[0]["problem"]["code"] == "interrupted" and "resumed 2 times" in rest[0]["problem"]["detail"]


def workers_of(home: Path) -> dict[str, int]:
    """Return the ids and processes of those that hold the lock of a server."""
    notes = {path.stem.removeprefix("server "): path for path in (home / "locks").glob("server *.json")}
    return {id: json.loads(path.read_text())["pid"] for id, path in notes.items()}


async def test_a_worker_is_killed_in_mid_answer_and_another_goes_on_and_one_takes_its_place(
    notes: Path, home: Path
) -> None:
    with ScriptedServer(react=react(), part_delay=0.4) as model:
        several = {"RAGWEAVE_SERVE_WORKERS": "2"}
        async with (
            asyncio.timeout(240),
            killed_at_the_end(**settings_of(model), **several) as (client, process),
        ):
            while len(workers_of(home)) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            run = await begin(client, QUESTION, **CHAT)
            shown = await events_until(client, run["run"], "sentence")
            with closing(sqlite3.connect(home / "serve.sqlite")) as db:
                ((server,),) = db.execute("SELECT server FROM runs WHERE id = ?", (run["run"],))
            os.kill(workers_of(home)[server], signal.SIGKILL)
            await goes_on(client, run, shown)
            while len(left := workers_of(home)) < 2 or server in left:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            process.terminate()
            assert await process.wait() == 0
        for pid in left.values():
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
        assert not workers_of(home)


@pytest.mark.cluster
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_a_database_that_is_restarted_is_told_in_a_sentence_and_then_answers_go_on(
    home: Path, tmp_path: Path, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = binaries()
    assert found is not None
    with private_postgres(found) as server:
        monkeypatch.setenv("RAGWEAVE_DATABASE_URL", server.url("postgres"))
        corpora_settings.cache_clear()
        await build_library(tmp_path / "notes", TEXTS)
        async with (
            on_loopback(create_app(ServeSettings())) as address,
            httpx.AsyncClient(base_url=address, timeout=60) as client,
        ):
            run = await begin(client, QUESTION)
            await events_until(client, run["run"], "step")
            server.stop()
            for answer in (
                await client.get("/api/threads"),
                await client.post("/api/ask", json={"question": "Why?"}),
            ):
                assert answer.status_code == 503 and "RAGWEAVE_DATABASE_URL" in answer.json()["remedy"]
                assert server.folder.name not in answer.text  # the address of the database
            assert (await client.get("/healthz", headers=bearer("rw_x"))).status_code == 200
            ready = await client.get("/readyz")
            assert ready.status_code == 503 and ready.json() == {"status": "the database cannot be used"}
            graph.may.set()
            server.start()
            assert "1874" not in (await ask_over_http(client, "How?"))[-2]["answer"]["text"]
            async with asyncio.timeout(60):
                assert (await run_events(client, run["run"]))[-1]["type"] == "end"
                status = "running"
                while status == "running":
                    (turn,) = (await client.get(f"/api/threads/{run['thread']}")).json()["turns"]
                    status = turn["status"]
            assert status in ("failed", "done")
        close_stores()


CEILING = "Who painted the ceiling of the town hall?"
PAGE = (
    "<html><title>Town hall</title><p>The ceiling of the town hall was painted by Ines Varga in"
    " 1902.</p></html>"
)


async def test_a_question_for_consent_survives_that_the_server_is_killed(
    monkeypatch: pytest.MonkeyPatch, notes: Path, home: Path, tmp_path: Path
) -> None:
    (web := tmp_path / "web").mkdir()
    (web / "hall.html").write_text(PAGE, encoding="utf-8")
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(web))
    async with killed_at_the_end() as (client, _):
        run = await begin(client, CEILING, context={"web": "ask"})
        before = await events_until(client, run["run"], "consent")
    resume = f"/api/runs/{run['run']}/resume"
    async with (
        on_loopback(create_app(ServeSettings())) as address,
        httpx.AsyncClient(base_url=address) as client,
    ):
        (turn,) = (await client.get(f"/api/threads/{run['thread']}")).json()["turns"]
        assert turn["status"] == "waiting" and turn["trail"]
        assert await events_until(client, run["run"], "consent") == before
        assert (await client.post(resume, json={"consent": True})).status_code == 202
        assert (await client.post(resume, json={"consent": True})).status_code == 409
        rest = await events_until(client, run["run"], "end", after=len(before))
        assert rest[0]["type"] == "consented" and rest[0]["id"] == len(before) + 1
        answer = next(e for e in rest if e["type"] == "answer")["answer"]
        assert "Ines Varga" in answer["text"] and answer["citations"][0]["origin"] == "web"
        assert (await client.post(resume, json={"consent": True})).status_code == 409
    async with in_process(create_app(ServeSettings())) as client:
        assert (await client.post(resume, json={"consent": True})).status_code == 409
        (turn,) = (await client.get(f"/api/threads/{run['thread']}")).json()["turns"]
        assert turn["status"] == "done" and "Ines Varga" in turn["answer"]["text"]


async def test_a_signal_is_heard_while_the_workers_have_not_begun_to_speak(home: Path) -> None:
    environment = {**os.environ, "RAGWEAVE_SERVE_WORKERS": "2", "PYTHONPATH": import_path()}
    command = [sys.executable, "-m", "ragweave.app.cli", "serve", "--port", "0"]
    process = await asyncio.create_subprocess_exec(*command, env=environment, stderr=asyncio.subprocess.PIPE)
    begun = Path(f"/proc/{process.pid}/task/{process.pid}/children")

    def silent() -> list[int]:
        found = [int(pid) for pid in begun.read_text().split()]
        return [pid for pid in found if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]

    async with asyncio.timeout(120):
        while len(silent()) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        workers = silent()
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        await asyncio.sleep(1)  # by now the parent waits for one of them
        process.terminate()
        assert process.stderr is not None
        said = (await process.stderr.readuntil(b"Waiting for child")).decode()
        for pid in workers:
            os.kill(pid, signal.SIGCONT)
        assert await process.wait() == 0
    assert "Received SIGTERM" in said
    assert "died" not in said
