"""A server that is killed: what waited for consent still waits in the next one."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support.serving import events_until, in_process, killed_at_the_end, on_loopback

QUESTION = "Who painted the ceiling of the town hall?"
PAGE = "<html><title>Town hall</title><p>The ceiling of the town hall was painted by Ines Varga in 1902.</p></html>"


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
