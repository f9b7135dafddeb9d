"""A server that is killed: what waited for consent still waits in the next one, and an older file is brought up."""

from __future__ import annotations

import asyncio
import io
import re
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.corpora.store.library import delete_library
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import LibraryError
from ragweave.serve import store, uploads
from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.serve.store import Store
from ragweave.tests.support.serving import in_process, on_loopback, parse_events

QUESTION = "Who painted the ceiling of the town hall?"
PAGE = "<html><title>Town hall</title><p>The ceiling of the town hall was painted by Ines Varga in 1902.</p></html>"


@asynccontextmanager
async def killed_at_the_end() -> AsyncIterator[httpx.AsyncClient]:
    """Serve the home of the test in a process of its own, which gets no chance to tidy up."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "ragweave.app.cli", "serve", "--port", "0", "--log", "none",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        found = re.search(r"http://[\d.:]+", line)
        assert found, line + (await process.stdout.read()).decode()
        async with httpx.AsyncClient(base_url=found.group(), timeout=60) as client:
            while True:
                try:
                    await client.get("/healthz")
                    break
                except httpx.ConnectError:
                    await asyncio.sleep(0.05)
            yield client
    finally:
        process.kill()
        await process.wait()


async def events_until(client: httpx.AsyncClient, run: str, last: str, after: int = 0) -> list[dict[str, Any]]:
    """Follow a run until it tells an event of the type `last`."""
    text = ""
    async with asyncio.timeout(60), client.stream("GET", f"/api/runs/{run}/events", params={"after": after}) as stream:
        async for part in stream.aiter_text():
            text += part.replace("\r\n", "\n")
            if f"event: {last}\n" in text and text.endswith("\n\n"):
                break
    return parse_events(text)


async def test_a_question_for_consent_survives_that_the_server_is_killed(
    monkeypatch: pytest.MonkeyPatch, notes: Path, home: Path, tmp_path: Path
) -> None:
    web = tmp_path / "web"
    web.mkdir()
    (web / "hall.html").write_text(PAGE, encoding="utf-8")
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(web))
    async with killed_at_the_end() as client:
        body = {"question": QUESTION, "context": {"web": "ask"}}
        run = (await client.post("/api/ask", json=body)).json()
        before = await events_until(client, run["run"], "consent")
    resume = f"/api/runs/{run['run']}/resume"
    async with on_loopback(create_app(ServeSettings())) as address, httpx.AsyncClient(base_url=address) as client:
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
        assert (await client.post(resume, json={"consent": True})).status_code == 404
        (turn,) = (await client.get(f"/api/threads/{run['thread']}")).json()["turns"]
        assert turn["status"] == "done" and "Ines Varga" in turn["answer"]["text"]


async def test_a_turn_in_mid_answer_keeps_what_was_shown_and_says_that_the_server_ended(notes: Path) -> None:
    app = create_app(ServeSettings())
    shown = {"type": "sentence", "text": "The lamp was lit in 1874.", "citations": [], "support": "supported"}
    async with in_process(app) as client:
        thread = (await client.post("/api/threads", json={})).json()["id"]
        app.state.desk.store.add_turn(thread, "run-1", "agent", QUESTION, "Hall")
        app.state.desk.store.set_turn(thread, 1, "running", trail=[shown])
    for _server in range(2):
        async with in_process(create_app(ServeSettings())) as client:
            (turn,) = (await client.get(f"/api/threads/{thread}")).json()["turns"]
            assert turn["status"] == "failed" and turn["trail"] == [shown]
            assert turn["problem"]["title"] == "The server ended while it answered"
            if not _server:
                assert (await client.get("/api/runs/run-1")).json()["status"] == "failed"
                events = parse_events((await client.get("/api/runs/run-1/events")).text)
                assert [e["type"] for e in events] == ["sentence", "error", "end"]


async def test_an_upload_that_was_taken_and_not_indexed_is_indexed_by_the_next_server(notes: Path) -> None:
    library = stores().catalog.library("default").id
    uploads.keep("taken.md", io.BytesIO(b"# Harbour\n\nThe harbour wall is four metres high."), library)
    (half := uploads.folder_of(library) / ".0.part").write_bytes(b"half")
    async with in_process(create_app(ServeSettings())) as client:
        async with asyncio.timeout(60):
            while True:
                rows = (await client.get("/api/sources", params={"library": "default"})).json()["sources"]
                if any(s["name"] == "taken.md" and s["items"] for s in rows):
                    break
                await asyncio.sleep(0.05)
    assert not half.exists() and uploads._not_indexed(library) == []


@pytest.mark.parametrize("context", [{"no_such_knob": 1}, {"web": "ask"}])
async def test_what_can_no_longer_go_on_is_cancelled(notes: Path, home: Path, context: dict[str, Any]) -> None:
    app = create_app(ServeSettings())
    async with in_process(app) as client:
        thread = (await client.post("/api/threads", json={"library": "tea room"})).json()["id"]
        app.state.desk.store.add_turn(thread, "run-1", "agent", QUESTION, "Hall")
        app.state.desk.store.set_turn(thread, 1, "waiting", waiting={"context": context, "events": []})
    if "web" in context:
        await delete_library("tea room")
    async with in_process(create_app(ServeSettings())) as client:
        assert (await client.get("/api/runs/run-1")).status_code == 404
    with sqlite3.connect(home / "serve.sqlite") as db:
        assert db.execute("SELECT status FROM turns").fetchall() == [("cancelled",)]


def test_a_file_from_before_versions_were_counted_is_brought_up_and_keeps_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "serve.sqlite"
    with sqlite3.connect(path) as db:
        db.executescript(store._SCHEMAS[0])
        db.execute("INSERT INTO threads VALUES ('t', 'owner', 'l', 'Old', '2025-01-01', '2025-01-01')")
        db.execute("INSERT INTO turns VALUES ('t', 1, 'r', 'agent', 'Why?', 'done', '{}', NULL, '2025-01-01', NULL)")
    for _ in range(2):
        (turn,) = Store(path).turns("t")
        assert turn.answer is not None and turn.question == "Why?" and turn.pictures == 0


def test_a_file_of_a_newer_version_is_refused_with_the_remedy_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "serve.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(LibraryError, match="newer Ragweave"):
        Store(path)
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
