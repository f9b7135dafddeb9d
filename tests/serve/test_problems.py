"""Every request that cannot be used is told so, and is no fault of the server."""

from __future__ import annotations

import json
import logging

import httpx
import pytest

from ragweave.tests.support.serving import ask_over_http

HUGE = 9_999_999_999_999_999_999
QUESTION = "When was the lamp of the lighthouse first lit?"


async def test_a_number_that_no_database_holds_is_out_of_bounds(client: httpx.AsyncClient) -> None:
    thread = f"/api/threads/{(await ask_over_http(client, QUESTION))[0]['thread']}"
    for n in (HUGE, 2**31, 0, -1):
        for answer in (
            await client.put(f"{thread}/turns/{n}/verdict", json={"good": True}),
            await client.post(f"{thread}/turns/{n}/again", json={}),
            await client.get(f"{thread}/turns/{n}/pictures/1"),
            await client.get(f"{thread}/turns/1/pictures/{n}"),
            await client.post("/api/ask", json={"question": "x", "thread": thread[13:], "replaces": n}),
        ):
            assert answer.status_code == 422 and answer.json()["code"] == "input", answer.text
    assert (await client.put(f"{thread}/turns/{2**31 - 1}/verdict", json={"good": True})).status_code == 404


@pytest.mark.parametrize("levels", [101, 900, 100_000])
async def test_a_body_that_is_nested_too_deeply_is_refused_and_is_no_fault_of_the_server(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, levels: int
) -> None:
    deep = '{"top_k": ' + "[" * levels + "]" * levels + "}"
    asked, chat = json.dumps(QUESTION), '"model": "agent", "ragweave": {"context": ' + deep + "}"
    bodies = {
        "/search": f'{{"query": {asked}, "context": {deep}}}',
        "/api/ask": f'{{"question": {asked}, "context": {deep}}}',
        "/v1/chat/completions": f'{{{chat}, "messages": [{{"role": "user", "content": {asked}}}]}}',
        "/v1/responses": f'{{{chat}, "input": {asked}}}',
        "/langserve/agent/invoke": f'{{"input": {{"question": {asked}, "history": {deep}}}}}',
        "/langserve/agent/batch": f'{{"inputs": [{{"question": {asked}, "history": {deep}}}]}}',
        "/langserve/agent/stream": f'{{"input": {asked}, "config": {{"configurable": {deep}}}}}',
    }
    for path, body in bodies.items():
        answer = await client.post(path, content=body, headers={"content-type": "application/json"})
        told = answer.json()
        assert answer.status_code in (400, 422), (path, answer.text)
        if levels == 900 and "langserve" not in path:
            assert (told.get("detail") or told["error"]["message"]).startswith("The body is nested too deeply"), path
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR]


async def test_an_upload_of_more_files_than_are_taken_at_once_says_so_and_keeps_none(client: httpx.AsyncClient) -> None:
    files = [("files", (f"{n}.md", b"# Tea")) for n in range(1_001)]
    refused = await client.post("/api/upload", data={"library": "default"}, files=files)
    told = refused.json()
    assert (refused.status_code, told["code"]) == (400, "input")
    assert "1,000 files" in told["title"] and "in parts" in told["remedy"]
    assert len((await client.get("/api/sources?library=default")).json()["sources"]) == 2


async def test_what_is_malformed_has_the_code_of_other_input_that_cannot_be_used(client: httpx.AsyncClient) -> None:
    form = {"content-type": "multipart/form-data; boundary=x"}
    for refused in (
        await client.post("/api/upload", content=b"--x\r\nno form", headers=form),
        await client.post("/api/notes", json={"library": "default"}),
        await client.post("/api/threads", content=b"\0", headers={"content-type": "application/json"}),
    ):
        assert (refused.status_code, refused.json()["code"]) == (400, "input"), refused.text


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/threads", "GET, POST"),
        ("/api/threads/x", "GET, PATCH, DELETE"),
        ("/healthz", "GET, HEAD"),
        ("/media/x/source/y", "GET, HEAD"),
        ("/search", "POST"),
        ("/static/js/api.js", "GET, HEAD"),
        ("/langserve/agent/invoke", "POST"),
    ],
)
async def test_a_method_that_an_address_does_not_take_is_refused_with_those_that_it_takes(
    client: httpx.AsyncClient, path: str, allowed: str
) -> None:
    refused = await client.put(path, json={})
    assert (refused.status_code, refused.headers["allow"]) == (405, allowed)
    assert refused.json()["code"] == "method"
