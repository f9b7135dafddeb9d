"""The models that are set up, and the button that tries one."""

from __future__ import annotations

import httpx
import pytest
from fastapi import FastAPI

from ragweave.models.settings import model_settings
from ragweave.tests.support.server import ScriptedServer
from ragweave.tests.support.serving import bearer

SECRET = "sk-never-told"


@pytest.fixture
def no_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAGWEAVE_CHAT", raising=False)
    model_settings.cache_clear()


async def test_a_model_is_tried_and_its_key_is_never_told(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(["ready"]) as served:
        for name, value in {"CHAT": "scripted", "CHAT_URL": served.base_url, "CHAT_KEY": SECRET}.items():
            monkeypatch.setenv(f"RAGWEAVE_{name}", value)
        model_settings.cache_clear()
        listed = await client.get("/api/models")
        tried = await client.post("/api/models/writer/test", json={})
        (asked,) = served.requests
    model_settings.cache_clear()
    writer = next(row for row in listed.json()["roles"] if row["role"] == "writer")
    told = {"model": "scripted", "host": "127.0.0.1", "own": True, "variable": "RAGWEAVE_CHAT", "key": True}
    assert writer == {"role": "writer", "test": True, **told}
    assert [row["own"] for row in listed.json()["roles"][1:]] == [False] * 6
    assert tried.json()["said"] == "ready" and asked.model == "scripted"
    assert SECRET not in listed.text + tried.text


async def test_a_further_writer_is_offered_tried_and_answers_and_no_other_is(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(["ready"]) as served:
        for name, value in {"CHAT": "usual", "CHATS": "other", "CHAT_URL": served.base_url, "CHAT_KEY": SECRET}.items():
            monkeypatch.setenv(f"RAGWEAVE_{name}", value)
        model_settings.cache_clear()
        listed, form = await client.get("/api/models"), await client.get("/api/context")
        await client.post("/api/models/writer/test", json={"model": "other"})
        refused = await client.post("/api/models/writer/test", json={"model": "stranger"})
        (asked,) = served.requests
    model_settings.cache_clear()
    assert listed.json()["writers"] == ["usual", "other"] and asked.model == "other"
    assert form.json()["schema"]["properties"]["model"]["enum"] == ["", "other"]
    assert refused.status_code == 409


async def test_without_a_chat_model_the_encoder_alone_can_be_tried(client: httpx.AsyncClient, no_chat: None) -> None:
    rows = {row["role"]: row["test"] for row in (await client.get("/api/models")).json()["roles"]}
    assert rows["embed"] and not rows["writer"] and not rows["asr"]
    assert int((await client.post("/api/models/embed/test", json={})).json()["said"]) > 0
    assert (await client.post("/api/models/writer/test", json={})).status_code == 409
    assert (await client.post("/api/models/asr/test", json={})).status_code == 422


async def test_a_key_that_is_bound_to_libraries_sees_no_models(app: FastAPI, client: httpx.AsyncClient) -> None:
    (mine, *_) = (await client.get("/api/libraries")).json()["libraries"]
    _, guest = app.state.keys.create("guest", (mine["id"],))
    assert (await client.get("/api/models", headers=bearer(guest))).status_code == 403
    assert (await client.post("/api/models/embed/test", json={}, headers=bearer(guest))).status_code == 403
    assert (await client.get("/api/models")).status_code == 401
