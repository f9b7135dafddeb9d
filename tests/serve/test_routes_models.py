"""The models that are set up, the button that tries one, and the front page of a library."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from ragweave.models.settings import model_settings
from ragweave.tests.support.server import ScriptedServer
from ragweave.tests.support.serving import bearer, on_loopback, until

SECRET = "sk-never-told"


async def test_a_writer_is_offered_tried_and_answers_no_other_is_and_its_key_is_never_told(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(["ready"] * 2) as served:
        for name, value in {
            "CHAT": "usual",
            "CHATS": "other",
            "CHAT_URL": served.base_url,
            "CHAT_KEY": SECRET,
        }.items():
            monkeypatch.setenv(f"RAGWEAVE_{name}", value)
        model_settings.cache_clear()
        listed, form = await client.get("/api/models"), await client.get("/api/context")
        tried = [
            await client.post("/api/models/writer/test", json={"model": m}) for m in ("", "other", "stranger")
        ]
        asked = [request.model for request in served.requests]
    model_settings.cache_clear()
    roles = {row["role"]: row for row in listed.json()["roles"]}
    writer = roles["writer"]
    told = {"model": "usual", "host": "127.0.0.1", "own": True, "variable": "RAGWEAVE_CHAT", "key": True}
    assert [(roles[r]["host"], roles[r]["key"]) for r in ("embed", "rerank")] == [("", False)] * 2
    assert writer == {"role": "writer", "test": True, **told} and listed.json()["writers"] == [
        "usual",
        "other",
    ]
    assert form.json()["schema"]["properties"]["model"]["enum"] == ["", "other"]
    assert ([t.status_code for t in tried], asked) == ([200, 200, 409], ["usual", "other"])
    assert SECRET not in listed.text + "".join(t.text for t in tried)


async def test_without_a_chat_model_the_encoder_alone_can_be_tried_and_by_no_bound_key(
    client: httpx.AsyncClient, app: FastAPI
) -> None:
    listed = (await client.get("/api/models")).json()
    rows = {row["role"]: row["test"] for row in listed["roles"]}
    assert {offer["part"] for offer in listed["offers"]} == {part["part"] for part in listed["parts"]}
    assert listed["parts"][0]["command"] == "ragweave setup chat"
    assert rows["embed"] and not rows["writer"] and not rows["asr"]
    assert int((await client.post("/api/models/embed/test", json={})).json()["said"]) > 0
    for role, status in (("writer", 409), ("asr", 422)):
        assert (await client.post(f"/api/models/{role}/test", json={})).status_code == status
    asked = await client.post("/api/overview", json={"library": "default"})
    assert asked.status_code == 409 and "ragweave setup" in asked.json()["remedy"]
    (mine, *_) = (await client.get("/api/libraries")).json()["libraries"]
    _, guest = app.state.keys.create("guest", (mine["id"],))
    assert (await client.get("/api/models", headers=bearer(guest))).status_code == 403
    assert (await client.post("/api/models/embed/test", json={}, headers=bearer(guest))).status_code == 403


async def test_an_overview_is_written_to_its_end_whoever_leaves_and_stopped_for_all_who_wait(
    notes: Path, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = threading.Event()
    react = lambda _: (held.wait(60), {"summary": "It holds two notes."})[1]  # noqa: E731
    asked = {"json": {"library": "default"}}
    with ScriptedServer(react=react) as served:
        for name, value in {"CHAT": "usual", "CHAT_URL": served.base_url, "CHAT_KEY": SECRET}.items():
            monkeypatch.setenv(f"RAGWEAVE_{name}", value)
        model_settings.cache_clear()
        async with on_loopback(app) as address, httpx.AsyncClient(base_url=address, timeout=60) as client:
            front = "/api/overview?library=default"
            waiting = [asyncio.create_task(client.post("/api/overview", **asked)) for _ in range(2)]
            await until(lambda: served.requests)
            assert (await client.delete(front)).status_code == 204
            assert [reply.status_code for reply in await asyncio.gather(*waiting)] == [409, 409]
            assert (await client.get(front)).json()["writing"] is False

            with pytest.raises(httpx.ReadTimeout):
                await client.post("/api/overview", **asked, timeout=0.3)
            assert (await client.get(front)).json()["writing"] is True
            held.set()
            told = (await client.post("/api/overview", **asked)).json()
        assert (told["summary"], told["by"], told["writing"]) == ("It holds two notes.", "usual", False)
        assert len(served.requests) == 2
    model_settings.cache_clear()
