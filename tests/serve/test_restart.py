"""A server that is killed: what waited for consent still waits in the next one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ragweave.corpora.store.library import delete_library
from ragweave.serve.access import OWNER
from ragweave.serve.app import create_app
from ragweave.serve.records import Record, Records
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support.serving import events_until, in_process, killed_at_the_end, on_loopback

QUESTION = "Who painted the ceiling of the town hall?"
PAGE = "<html><title>Town hall</title><p>The ceiling of the town hall was painted by Ines Varga in 1902.</p></html>"


def left_behind(app: FastAPI, thread: str, context: dict[str, Any]) -> tuple[Records, Record]:
    """Begin a run in a conversation, as a server that is gone."""
    store = app.state.app_state.store
    gone, about = Records(store, "gone"), {"graph": "agent", "question": QUESTION, "context": context}
    held = store.thread(OWNER, thread)
    record = Record("run-1", OWNER, held.library, thread, 0, about, "running", "gone")
    return gone, replace(record, turn=gone.begin(record, knobs={}))


async def test_a_question_for_consent_survives_that_the_server_is_killed(
    monkeypatch: pytest.MonkeyPatch, notes: Path, home: Path, tmp_path: Path
) -> None:
    web = tmp_path / "web"
    web.mkdir()
    (web / "hall.html").write_text(PAGE, encoding="utf-8")
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(web))
    async with killed_at_the_end() as (client, _):
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
        assert (await client.post(resume, json={"consent": True})).status_code == 409
        (turn,) = (await client.get(f"/api/threads/{run['thread']}")).json()["turns"]
        assert turn["status"] == "done" and "Ines Varga" in turn["answer"]["text"]


@pytest.mark.parametrize(("context", "status"), [({"no_such_knob": 1}, 409), ({"web": "ask"}, 404)])
async def test_what_can_no_longer_go_on_is_refused(notes: Path, context: dict[str, Any], status: int) -> None:
    app = create_app(ServeSettings())
    async with in_process(app) as client:
        thread = (await client.post("/api/threads", json={"library": "tea room"})).json()["id"]
        gone, record = left_behind(app, thread, context)
        gone.end(record, "waiting", [])
    if "web" in context:
        await delete_library("tea room")
    async with in_process(create_app(ServeSettings())) as client:
        assert (await client.post("/api/runs/run-1/resume", json={"consent": True})).status_code == status
        if status == 409:
            (turn,) = (await client.get(f"/api/threads/{thread}")).json()["turns"]
            assert turn["status"] == "cancelled"
