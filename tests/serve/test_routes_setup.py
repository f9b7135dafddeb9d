"""The form that sets models up: every way it goes, who may use it, and what no answer ever holds."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from dotenv import dotenv_values
from fastapi import FastAPI

from ragweave.components import exam
from ragweave.models import offered
from ragweave.models.errors import ModelTransient
from ragweave.models.settings import model_settings, user_file
from ragweave.tests.support import Fault, ScriptedServer
from ragweave.tests.support.serving import bearer

SECRET = "sk-never-told"
Events = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(offered, "SERVERS", {"Ollama": 9})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer(models=["qwen3:4b", "gemma3:1b"]) as served:
        monkeypatch.setattr(offered, "SERVERS", {"Ollama": urlsplit(served.base_url).port})
        yield served


def written() -> dict[str, str | None]:
    return dict(dotenv_values(user_file()))


async def sent(client: httpx.AsyncClient, part: str, **body: Any) -> Events:
    reply = await client.post(f"/api/setup/{part}", json=body)
    assert reply.status_code == 200, reply.text
    return [json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith("data: ")]


def outcome(events: Events) -> dict[str, Any]:
    """Return the event that says whether the model was saved; after it the model may sit its exam."""
    return next(event for event in events if event["type"] in ("saved", "again", "error"))


async def test_a_model_of_a_server_is_listed_tried_saved_and_answers_without_a_restart(
    client: httpx.AsyncClient, server: ScriptedServer
) -> None:
    server.key = SECRET
    server.pages = {"/api/ps": {"models": [{"name": "qwen3:4b", "context_length": 4_096}]}}
    given = {"url": server.base_url.removesuffix("/v1"), "key": SECRET}
    listed = await client.post("/api/setup/chat/models", json=given)
    assert listed.json() == {"url": server.base_url, "models": ["qwen3:4b", "gemma3:1b"]}
    assert (await client.get("/api/me")).json()["chat"] is None
    server.queue("ready", "In 1874.")
    told = await sent(client, "chat", model="qwen3:4b", **given)
    assert outcome(told)["type"] == "saved" and outcome(told)["model"] == "qwen3:4b"
    assert "qwen3:4b says: ready" in told[0]["text"] and "It reads 4,096 tokens at once" in told[1]["text"]
    expected = {"CHAT": "qwen3:4b", "CHAT_URL": server.base_url, "CHAT_KEY": SECRET, "CHAT_CONTEXT": "4096"}
    assert {k: v for k, v in written().items() if k.removeprefix("RAGWEAVE_") in expected} == {
        f"RAGWEAVE_{name}": value for name, value in expected.items()
    }
    me = (await client.get("/api/me")).json()
    assert (me["chat"], me["marks"]) == ("qwen3:4b", True)
    tried = await client.post("/api/models/writer/test", json={})
    assert tried.json()["said"] == "In 1874."
    form = await client.get("/api/setup/chat")
    assert form.json()["key"] is True and form.json()["model"] == "qwen3:4b"
    assert SECRET not in form.text + listed.text + json.dumps(told) + tried.text


@pytest.mark.exam
async def test_a_saved_chat_model_sits_its_exam_with_progress_and_its_result_is_told_once(
    client: httpx.AsyncClient, server: ScriptedServer
) -> None:
    server.queue("ready", "ready")
    events = await sent(client, "chat", model="qwen3:4b", url=server.base_url)
    after = events[events.index(outcome(events)) + 1 :]
    assert [(e["done"], e["of"]) for e in after if e["type"] == "exam"] == [(n, 8) for n in range(9)]
    assert after[-1] == {
        "type": "examined", "model": "qwen3:4b", "right": 40, "of": 40, "needs": 38, "passed": True,
    }  # fmt: skip
    judged = len(server.checks)
    (*_, last) = await sent(client, "chat", model="qwen3:4b", url=server.base_url)
    assert last["type"] == "examined" and len(server.checks) == judged


@pytest.mark.exam
async def test_a_model_that_fails_the_exam_is_saved_all_the_same_and_the_page_hears_its_score(
    client: httpx.AsyncClient, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sit(ask: Any) -> exam.ExamResult:
        return exam.ExamResult(right=20, of=40, missed=("myth",))

    monkeypatch.setattr(exam, "sit", sit)
    server.queue("ready")
    events = await sent(client, "chat", model="qwen3:4b", url=server.base_url)
    assert outcome(events)["type"] == "saved"
    assert (events[-1]["type"], events[-1]["passed"], events[-1]["right"]) == ("examined", False, 20)


@pytest.mark.exam
async def test_an_exam_that_cannot_be_held_is_one_sentence_and_the_model_stays_saved(
    client: httpx.AsyncClient, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sit(ask: Any) -> exam.ExamResult:
        raise ModelTransient("the server cannot be reached", "start it again")

    monkeypatch.setattr(exam, "sit", sit)
    server.queue("ready")
    (*_, last) = await sent(client, "chat", model="qwen3:4b", url=server.base_url)
    assert last["type"] == "unexamined" and "cannot be reached" in last["problem"]["detail"]
    assert written()["RAGWEAVE_CHAT"] == "qwen3:4b"


async def test_a_key_stays_for_its_server_and_goes_to_no_other(
    client: httpx.AsyncClient, server: ScriptedServer
) -> None:
    server.key = SECRET
    server.queue("ready", "ready")
    await sent(client, "chat", model="qwen3:4b", url=server.base_url, key=SECRET)
    assert outcome(await sent(client, "chat", model="gemma3:1b", url=server.base_url))["type"] == "saved"
    assert written()["RAGWEAVE_CHAT_KEY"] == SECRET
    with ScriptedServer(models=["other"]) as other:
        other.key = SECRET  # would let the key in, if it came
        refused = await client.post("/api/setup/chat/models", json={"url": other.base_url})
        assert refused.status_code == 502 and "refused the key" in refused.json()["title"]
        assert (await sent(client, "chat", model="other", url=other.base_url))[-1]["type"] == "error"
    assert written()["RAGWEAVE_CHAT"] == "gemma3:1b"


async def test_what_is_offered_here_is_set_up_by_its_text_and_taken_back(
    client: httpx.AsyncClient, server: ScriptedServer
) -> None:
    form = (await client.get("/api/setup/chat")).json()
    found = next(c["text"] for c in form["choices"] if "which Ollama serves here" in c["text"])
    server.queue("ready")
    assert outcome(await sent(client, "chat", choice=found))["model"] == "qwen3:4b"
    assert (await sent(client, "chat", remove=True))[-1] == {"type": "saved", "model": "", "after": ""}
    assert "RAGWEAVE_CHAT" not in written() and model_settings().chat == ""
    assert (await sent(client, "chat", choice="a strange one"))[-1]["problem"]["status"] == 404


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"model": "m", "url": "foo"}, "not the address of a server"),
        ({"model": "m", "url": "http://127.0.0.1:9/v1"}, "no server can be reached"),
        ({"model": "qwen3:4b", "url": "HERE", "key": "sk-wrong"}, "refused the key"),
        ({"model": "qwen3:4b", "url": "HERE", "key": SECRET}, "does not support chat"),
        ({"model": "unknown", "url": "HERE", "key": SECRET}, "does not know the model unknown"),
        ({"model": ""}, "no model is named"),
        ({"model": "strange"}, "no server on this machine serves"),
    ],
)
async def test_what_does_not_work_is_one_sentence_and_nothing_is_saved(
    body: dict[str, str], said: str, client: httpx.AsyncClient, server: ScriptedServer
) -> None:
    server.key = SECRET
    server.queue(Fault.status(400, f"this model does not support chat, and {SECRET} is no help"))
    given = {name: value.replace("HERE", server.base_url) for name, value in body.items()}
    (*_, last) = await sent(client, "chat", **given)
    assert last["type"] == "error" and said in last["problem"]["detail"].lower()
    assert SECRET not in json.dumps(last) and not user_file().exists()


async def test_a_full_disk_leaves_the_settings_as_they_were(
    client: httpx.AsyncClient, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("OTHER=1\n", encoding="utf-8")
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr("ragweave.models.user_settings.set_key", lambda *a: (_ for _ in ()).throw(full))
    server.queue("ready")
    (*_, last) = await sent(client, "chat", model="qwen3:4b", url=server.base_url)
    assert last["type"] == "error" and last["problem"]["status"] == 507
    assert user_file().read_text(encoding="utf-8") == "OTHER=1\n"


async def test_what_the_environment_sets_is_said_and_not_written_over(
    client: httpx.AsyncClient, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT", "fixed")
    model_settings.cache_clear()
    assert "RAGWEAVE_CHAT is set in the environment" in (await client.get("/api/setup/chat")).json()["fixed"]
    refused = await client.post("/api/setup/chat", json={"model": "qwen3:4b", "url": server.base_url})
    assert refused.status_code == 409 and "counts before" in refused.json()["title"] and server.requests == []


async def test_an_encoder_of_a_server_tells_how_long_the_libraries_take_and_is_used_after_that(
    notes: Path, client: httpx.AsyncClient, server: ScriptedServer
) -> None:
    given = {"model": "qwen3:4b", "url": server.base_url}
    *told, last = await sent(client, "encoder", **given)
    assert "gives vectors of 8 numbers" in told[0]["text"]
    assert last["type"] == "again" and {row["name"] for row in last["libraries"]} == {"default", "tea room"}
    assert (
        all(row["items"] > 0 and row["seconds"] >= 0 for row in last["libraries"])
        and not user_file().exists()
    )
    assert (await sent(client, "encoder", again=True, **given))[-1]["type"] == "saved"
    assert (written()["RAGWEAVE_EMBED"], written()["RAGWEAVE_EMBED_URL"]) == ("qwen3:4b", server.base_url)
    found = await client.post("/search", json={"query": "lamp of the lighthouse"})
    assert found.status_code == 200 and found.json()["results"], found.text


async def test_speech_of_a_server_is_tried_and_saved(
    client: httpx.AsyncClient, server: ScriptedServer
) -> None:
    server.pages = {"/v1/audio/transcriptions": {"text": ""}}
    (*_, last) = await sent(client, "speech", model="whisper-1", url=server.base_url)
    assert last["type"] == "saved" and "next `ragweave index`" in last["after"], last
    assert written()["RAGWEAVE_ASR"] == "api:whisper-1"


async def test_a_key_that_is_bound_to_libraries_neither_sees_nor_uses_the_form(
    notes: Path, client: httpx.AsyncClient, app: FastAPI
) -> None:
    (mine, *_) = (await client.get("/api/libraries")).json()["libraries"]
    _, guest = app.state.keys.create("guest", (mine["id"],))
    for method, path, body in (
        ("GET", "/api/setup/chat", None),
        ("POST", "/api/setup/chat/models", {"url": "http://127.0.0.1:9/v1"}),
        ("POST", "/api/setup/chat", {"model": "m", "url": "http://127.0.0.1:9/v1"}),
    ):
        assert (await client.request(method, path, json=body, headers=bearer(guest))).status_code == 403


async def test_a_running_server_sees_what_setup_wrote_in_another_process(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.models.settings._LOOK", 0.0)
    assert (await client.get("/api/me")).json()["chat"] is None
    monkeypatch.setattr(model_settings, "_due", 0.0)
    user_file().parent.mkdir(parents=True)
    user_file().write_text("RAGWEAVE_CHAT=openai:gpt-4o-mini\n", encoding="utf-8")
    assert (await client.get("/api/me")).json()["chat"] == "openai:gpt-4o-mini"
    user_file().write_text("RAGWEAVE_CHAT_WIDTH=broken\n", encoding="utf-8")
    assert (await client.get("/api/me")).json()["chat"] == "openai:gpt-4o-mini"
