"""The models that are set up, the button that tries one, and the front page of a library."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ragweave.corpora.ingest.run import index
from ragweave.models.chat import override
from ragweave.models.errors import ModelError
from ragweave.models.settings import model_settings
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.server import ScriptedServer
from ragweave.tests.support.serving import bearer

SECRET = "sk-never-told"
LIBRARY = Path(__file__).resolve().parents[2] / "examples" / "library"
TALL = "The tower is 31 metres tall"


async def test_a_writer_is_offered_tried_and_answers_no_other_is_and_its_key_is_never_told(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(["ready"] * 2) as served:
        for name, value in {"CHAT": "usual", "CHATS": "other", "CHAT_URL": served.base_url, "CHAT_KEY": SECRET}.items():
            monkeypatch.setenv(f"RAGWEAVE_{name}", value)
        model_settings.cache_clear()
        listed, form = await client.get("/api/models"), await client.get("/api/context")
        tried = [await client.post("/api/models/writer/test", json={"model": m}) for m in ("", "other", "stranger")]
        asked = [request.model for request in served.requests]
    model_settings.cache_clear()
    writer = next(row for row in listed.json()["roles"] if row["role"] == "writer")
    told = {"model": "usual", "host": "127.0.0.1", "own": True, "variable": "RAGWEAVE_CHAT", "key": True}
    assert writer == {"role": "writer", "test": True, **told} and listed.json()["writers"] == ["usual", "other"]
    assert form.json()["schema"]["properties"]["model"]["enum"] == ["", "other"]
    assert ([t.status_code for t in tried], asked) == ([200, 200, 409], ["usual", "other"])
    assert SECRET not in listed.text + "".join(t.text for t in tried)


async def test_without_a_chat_model_the_encoder_alone_can_be_tried_and_by_no_bound_key(
    client: httpx.AsyncClient, app: FastAPI
) -> None:
    rows = {row["role"]: row["test"] for row in (await client.get("/api/models")).json()["roles"]}
    assert rows["embed"] and not rows["writer"] and not rows["asr"]
    assert int((await client.post("/api/models/embed/test", json={})).json()["said"]) > 0
    for role, status in (("writer", 409), ("asr", 422)):
        assert (await client.post(f"/api/models/{role}/test", json={})).status_code == status
    asked = await client.post("/api/overview/questions", json={"library": "default"})
    assert asked.status_code == 409 and "ragweave setup" in asked.json()["remedy"]
    (mine, *_) = (await client.get("/api/libraries")).json()["libraries"]
    _, guest = app.state.keys.create("guest", (mine["id"],))
    assert (await client.get("/api/models", headers=bearer(guest))).status_code == 403
    assert (await client.post("/api/models/embed/test", json={}, headers=bearer(guest))).status_code == 403


def _reply(messages: Any) -> str:
    """Write one good question, and three that cannot be used."""
    parts = re.findall(r"(\d+)\.\n<<<\n(.*?)\n>>>", str(messages[-1].content), re.S)
    at = next(int(n) for n, text in parts if TALL in text)
    rows = [
        {"passage": at, "question": "How high is the tower of Skerry Holm?", "answer": TALL},
        {"passage": at, "question": "Who painted the tower?", "answer": "The tower was painted by nobody."},
        {"passage": at, "question": "The tower is tall.", "answer": TALL},
        {"passage": 99, "question": "Is there more?", "answer": TALL},
    ]
    return "Here they are:\n" + json.dumps({"questions": rows})


async def test_a_chat_model_writes_questions_when_it_is_asked_to_once_for_a_library_and_its_failure_is_told(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    await index([LIBRARY], "island")
    before = (await client.get("/api/overview?library=island")).json()
    for reply in ("I cannot do that.", '{"questions": []}', ModelError("it refused", "ask another")):
        with override(writer=ScriptedChat(replies=[reply] * 3)):
            answer = await client.post("/api/overview/questions", json={"library": "island"})
        assert answer.status_code >= 500 and answer.json()["title"] and answer.json()["code"] != "unexpected"
        assert (await client.get("/api/overview?library=island")).json() == before
    with override(writer=(model := ScriptedChat(react=_reply))):
        for _ in range(2):
            told = (await client.post("/api/overview/questions", json={"library": "island"})).json()
    assert len(model.calls) == 1 and told["by"] == "scripted" and told["spent"]["calls"] == 1
    (first,) = told["questions"]
    assert (first["question"], first["quote"]) == ("How high is the tower of Skerry Holm?", TALL)
    item = (await client.get(first["open"]["item"])).json()
    assert item["text"][slice(*first["open"]["chars"])] == TALL
    (tmp_path / "new.md").write_text("# New\n\nThe new mast is 40 metres tall.\n")
    await index([tmp_path], "island")
    after = (await client.get("/api/overview?library=island")).json()
    assert "by" not in after and after["questions"] == []
