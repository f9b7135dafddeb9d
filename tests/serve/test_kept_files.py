"""Files of `/v1/files` belong to one caller, are asked by id at every door, and go when their time is over."""

from __future__ import annotations

import base64
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from openai import AsyncOpenAI, NotFoundError

from ragweave.serve import kept_files
from ragweave.serve.app import create_app
from ragweave.serve.keys import Keys
from ragweave.serve.settings import ServeSettings
from ragweave.tests.serve.test_attached import KILN, WHO, asked, said
from ragweave.tests.support.serving import in_process, parse_events


async def kept(
    client: httpx.AsyncClient, name: str = "kiln.md", text: str = KILN, **form: Any
) -> dict[str, Any]:
    sent = {"purpose": "user_data", **form}
    reply = await client.post("/v1/files", files={"file": (name, text.encode())}, data=sent)
    assert reply.status_code == 200, reply.text
    told: dict[str, Any] = reply.json()
    return told


async def answer(client: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    begun = await client.post("/api/ask", json=body)
    assert begun.status_code == 202, begun.text
    events = parse_events((await client.get(f"/api/runs/{begun.json()['run']}/events")).text)
    return {**events[-2], "thread": begun.json()["thread"]}


async def test_the_client_of_openai_uploads_lists_reads_and_deletes_a_file(chat: AsyncOpenAI) -> None:
    file = await chat.files.create(file=("kiln.md", KILN.encode()), purpose="user_data")
    assert (file.filename, file.bytes, file.status) == ("kiln.md", len(KILN.encode()), "processed")
    assert [one.id async for one in chat.files.list()] == [file.id]
    assert (await chat.files.retrieve(file.id)).id == file.id
    assert (await chat.files.content(file.id)).text == KILN
    assert (await chat.files.delete(file.id)).deleted
    with pytest.raises(NotFoundError, match="kept here"):
        await chat.files.retrieve(file.id)


async def test_a_list_has_pages(client: httpx.AsyncClient) -> None:
    ids = [(await kept(client, f"{n}.md"))["id"] for n in range(3)]
    first = (await client.get("/v1/files", params={"limit": 2, "order": "asc"})).json()
    assert [row["id"] for row in first["data"]] == ids[:2] and first["has_more"]
    rest = (await client.get("/v1/files", params={"after": first["last_id"], "order": "asc"})).json()
    assert [row["id"] for row in rest["data"]] == ids[2:] and not rest["has_more"]


@pytest.mark.parametrize("form", ["chat", "responses", "langserve"])
async def test_a_file_is_asked_by_its_id(client: httpx.AsyncClient, form: str) -> None:
    id = (await kept(client))["id"]
    if form == "chat":
        text = await said(client, [asked(WHO, {"type": "file", "file": {"file_id": id}})])
    elif form == "responses":
        parts = [{"type": "input_text", "text": WHO}, {"type": "input_file", "file_id": id}]
        sent = {"model": "agent", "input": [{"role": "user", "content": parts}]}
        text = (await client.post("/v1/responses", json=sent)).text
    else:
        messages = [asked(WHO, {"type": "file", "source_type": "id", "id": id})]
        text = (await client.post("/langserve/agent/invoke", json={"input": {"messages": messages}})).text
    assert "1911" in text and "Rosa" in text and "was not read" not in text


async def test_the_page_asks_a_file_as_long_as_its_conversation_is_kept(client: httpx.AsyncClient) -> None:
    id = (await kept(client, **{"expires_after[seconds]": 3600}))["id"]
    first = await answer(client, question=WHO, files=[id])
    assert "1911" in first["answer"]["text"].replace("**", "")
    second = await answer(client, question="How hot was the kiln?", thread=first["thread"])
    assert "1,200" in second["answer"]["text"]
    there = (await client.get(f"/api/threads/{first['thread']}")).json()
    assert [file["name"] for file in there["files"]] == ["kiln.md"]
    assert (await client.get(f"/v1/files/{id}")).json()["expires_at"] is None
    await client.delete(f"/api/threads/{first['thread']}")
    assert (await client.get(f"/v1/files/{id}")).status_code == 404


async def test_a_file_in_the_messages_of_the_api_is_kept_with_the_conversation(
    client: httpx.AsyncClient,
) -> None:
    part = {"type": "file", "file": {"filename": "kiln.md", "file_data": _base64(KILN)}}
    first = await answer(client, messages=[asked(WHO, part)])
    second = await answer(client, question="How hot was the kiln?", thread=first["thread"])
    assert "1911" in first["answer"]["text"] and "1,200" in second["answer"]["text"]


async def test_a_question_with_a_file_that_cannot_be_read_is_refused_with_the_reason(
    client: httpx.AsyncClient,
) -> None:
    broken = (await kept(client, "a.pdf", "%PDF-1.7\n"))["id"]
    for id, words in ((broken, "damaged"), ("file-x", "kept here")):
        told = await client.post("/api/ask", json={"question": WHO, "files": [id]})
        assert told.status_code in (404, 422) and words in told.json()["detail"]


async def test_what_was_not_read_of_a_file_is_noted(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.serve.attached.MOST_ITEMS", 1)
    told = await answer(client, question=WHO, files=[(await kept(client))["id"]])
    assert "only the first 1 of" in "".join(told["answer"]["notes"])


async def test_another_key_does_not_see_a_file(notes: Path, app: FastAPI) -> None:
    keys: Keys = app.state.keys
    async with in_process(app) as client:
        mine, yours = keys.create("me", None)[1], keys.create("you", None)[1]
        client.headers["authorization"] = f"Bearer {mine}"
        id = (await kept(client))["id"]
        client.headers["authorization"] = f"Bearer {yours}"
        for method, path in (("GET", ""), ("GET", "/content"), ("DELETE", "")):
            assert (await client.request(method, f"/v1/files/{id}{path}")).status_code == 404
        assert (await client.get("/v1/files")).json()["data"] == []
        text = await said(client, [asked(WHO, {"type": "file", "file": {"file_id": id}})])
        assert "1911" not in text and "kept here" in text


async def test_a_file_goes_when_its_time_is_over(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = (await kept(client, **{"expires_after[seconds]": 3600}))["id"]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3601)
    assert (await client.get(f"/v1/files/{id}")).status_code == 404


ODD: dict[str, tuple[dict[str, Any], str]] = {
    "empty": ({"text": ""}, "is empty"),
    "too large": ({"text": "a" * (2 << 20)}, "larger than 1 MiB"),
    "a key file": ({"name": "id_rsa"}, "never read"),
    "for a batch": ({"purpose": "batch"}, "no use here"),
}


@pytest.mark.parametrize(("form", "words"), ODD.values(), ids=ODD)
async def test_what_cannot_be_kept_is_refused_in_a_sentence(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, form: dict[str, Any], words: str
) -> None:
    monkeypatch.setattr(kept_files, "FILE_MB", 1)
    given = {"name": "kiln.md", "text": KILN, "purpose": "user_data", **form}
    files = {"file": (given["name"], given["text"].encode())}
    told = await client.post("/v1/files", files=files, data={"purpose": given["purpose"]})
    assert told.status_code in (400, 413) and words in told.json()["error"]["message"]


async def test_a_caller_keeps_so_many_files_and_no_more(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "MOST_FILES", 1)
    await kept(client)
    told = await client.post("/v1/files", files={"file": ("b.md", b"b")}, data={"purpose": "user_data"})
    assert told.status_code == 413 and "DELETE /v1/files/ID" in told.json()["error"]["message"]


async def test_a_file_at_an_address_is_read_if_the_request_reads_the_web(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fetched(url: str) -> tuple[str, bytes]:
        return "example.org kiln.md", KILN.encode()

    monkeypatch.setattr("ragweave.serve.attached.fetched", fetched)
    part = {"type": "input_file", "file_url": "https://example.org/kiln.md"}
    async with in_process(create_app(ServeSettings())) as client:
        text = await said(client, [asked(WHO, part)], ragweave={"context": {"web": "auto"}})
        assert "1911" in text
        text = await said(client, [asked(WHO, part)])
        assert "1911" not in text and '"web": "auto"' in text


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
