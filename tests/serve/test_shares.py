"""Links to read an answer without a key: they open one page, for a while, and nothing else."""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import delete_library
from ragweave.tests.support.serving import ask_over_http, bearer

LAMP = "When was the lamp of the lighthouse first lit?"


@pytest.fixture
def owner(app: FastAPI, client: httpx.AsyncClient) -> httpx.AsyncClient:
    """The client, with a key for all libraries of a server that is locked by it."""
    _, secret = app.state.keys.create("mine", None)
    client.headers.update(bearer(secret))
    return client


async def _shared(client: httpx.AsyncClient, question: str = LAMP, **sent: Any) -> dict[str, Any]:
    thread = (await ask_over_http(client, question))[0]["thread"]
    made = await client.post(f"/api/threads/{thread}/share", json=sent)
    assert made.status_code == 201 and set(made.json()) == {"id", "title", "expires", "url"}
    return {**made.json(), "thread": thread}


async def _open(client: httpx.AsyncClient, url: str) -> httpx.Response:
    return await client.get(url, headers={"authorization": ""})


async def test_a_link_shows_the_answer_to_who_has_no_key_is_listed_and_stands_in_no_log(
    owner: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ragweave.serve")
    made = await _shared(owner, turn=1)
    page = await _open(owner, made["url"])
    assert page.status_code == 200 and "3 October 1874" in page.text and "SHA-256" in page.text
    assert page.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    listed = (await owner.get("/api/shares")).json()["shares"]
    assert [(row["id"], row["title"]) for row in listed] == [(made["id"], LAMP)]
    secret = made["url"].rsplit("/", 1)[1]
    assert secret not in str(listed) + caplog.text and "GET /shared/..." in caplog.text


async def test_a_link_opens_nothing_else_of_the_server(owner: httpx.AsyncClient) -> None:
    made = await _shared(owner)
    secret = made["url"].rsplit("/", 1)[1]
    for path in (
        "/api/shares",
        f"/api/threads/{made['thread']}",
        f"/api/threads/{made['thread']}/proof",
        "/api/sources",
    ):
        assert (await owner.get(path, headers=bearer(secret))).status_code == 401, path
    for path in (f"/shared/{secret}/../../api/threads", "/shared/..%2f..%2fapi%2fthreads", f"/shared/{secret}/x"):
        assert (await _open(owner, path)).status_code in (401, 404), path
    page = (await _open(owner, made["url"])).text
    assert not re.search(r'(?:src|href)="(?!data:image/jpeg|#)', page)


async def test_a_link_that_was_taken_back_or_guessed_opens_nothing(owner: httpx.AsyncClient) -> None:
    made = await _shared(owner)
    assert (await _open(owner, made["url"][:-1] + "_")).status_code == 404
    assert (await owner.delete(f"/api/shares/{made['id']}")).status_code == 204
    for url in (made["url"], "/shared/", "/shared/%00", f"/shared/{made['id']}"):
        assert (await _open(owner, url)).status_code in (401, 404), url
    assert (await owner.delete(f"/api/shares/{made['id']}")).status_code == 404


async def test_a_link_runs_out_and_goes_with_its_conversation(
    owner: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, gone = await _shared(owner, days=2), await _shared(owner)
    assert (await owner.delete(f"/api/threads/{gone['thread']}")).status_code == 204
    assert (await _open(owner, gone["url"])).status_code == 404
    later = (datetime.now(UTC) + timedelta(days=2, seconds=1)).isoformat(timespec="milliseconds")
    monkeypatch.setattr("ragweave.serve.shares.now", lambda: later)
    assert (await _open(owner, made["url"])).status_code == 404
    assert (await owner.get("/api/shares")).json() == {"shares": []}


async def test_a_link_into_a_library_that_is_gone_opens_nothing(owner: httpx.AsyncClient) -> None:
    made = await _shared(owner)
    await delete_library("default")
    assert (await _open(owner, made["url"])).status_code == 404
    assert (await owner.get("/api/shares")).json() == {"shares": []}


async def test_another_key_neither_sees_nor_ends_a_link_and_shares_no_conversation_of_another(
    app: FastAPI, owner: httpx.AsyncClient
) -> None:
    made = await _shared(owner)
    libraries = (await owner.get("/api/libraries")).json()["libraries"]
    _, secret = app.state.keys.create("guest", tuple(row["id"] for row in libraries))
    guest = bearer(secret)
    assert (await owner.get("/api/shares", headers=guest)).json() == {"shares": []}
    assert (await owner.delete(f"/api/shares/{made['id']}", headers=guest)).status_code == 404
    told = await owner.post(f"/api/threads/{made['thread']}/share", json={}, headers=guest)
    assert told.status_code == 404
    assert (await _open(owner, made["url"])).status_code == 200


async def test_what_a_key_shared_goes_with_it_and_the_owner_may_end_it(app: FastAPI, owner: httpx.AsyncClient) -> None:
    libraries = (await owner.get("/api/libraries")).json()["libraries"]
    key, secret = app.state.keys.create("guest", tuple(row["id"] for row in libraries))
    mine = owner.headers["authorization"]
    owner.headers.update(bearer(secret))
    made = await _shared(owner)
    owner.headers["authorization"] = mine
    assert [row["id"] for row in (await owner.get("/api/shares")).json()["shares"]] == [made["id"]]
    app.state.keys.revoke(key.id)
    assert (await _open(owner, made["url"])).status_code == 404
    assert (await owner.get("/api/shares")).json() == {"shares": []}
    assert (await owner.delete(f"/api/shares/{made['id']}")).status_code == 204


async def test_what_a_key_for_all_libraries_shared_goes_with_it_and_what_another_one_shared_stays(
    app: FastAPI, owner: httpx.AsyncClient
) -> None:
    kept = await _shared(owner)
    lost, secret = app.state.keys.create("lost laptop", None)
    made = await owner.post(f"/api/threads/{kept['thread']}/share", json={}, headers=bearer(secret))
    assert (await _open(owner, made.json()["url"])).status_code == 200
    app.state.keys.revoke(lost.id)
    assert (await _open(owner, made.json()["url"])).status_code == 404
    assert (await _open(owner, kept["url"])).status_code == 200


async def test_links_that_open_nothing_any_more_leave_their_places_to_others(
    app: FastAPI, owner: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.serve.shares._MOST", 1)
    thread = (await ask_over_http(owner, LAMP))[0]["thread"]
    lost, secret = app.state.keys.create("lost laptop", None)
    assert (await owner.post(f"/api/threads/{thread}/share", json={}, headers=bearer(secret))).status_code == 201
    assert (await owner.post(f"/api/threads/{thread}/share", json={})).status_code == 409
    app.state.keys.revoke(lost.id)
    assert (await owner.post(f"/api/threads/{thread}/share", json={})).status_code == 201
    await delete_library("default")
    thread = (await ask_over_http(owner, "How hot is tea brewed?", library="tea room"))[0]["thread"]
    assert (await owner.post(f"/api/threads/{thread}/share", json={})).status_code == 201


async def test_a_script_in_a_source_is_text_behind_a_link(owner: httpx.AsyncClient, tmp_path: Path) -> None:
    note = tmp_path / "beacon.md"
    note.write_text("# Beacon\n\nThe beacon is <script>alert(1)</script> painted red.\n")
    await index([note], "default")
    made = await _shared(owner, "Which colour is the <b onclick=x>beacon</b> painted?")
    page = await _open(owner, made["url"])
    assert "painted red" in page.text and "<script" not in page.text and "<b " not in page.text
    assert "script-src" not in page.headers["content-security-policy"]


async def test_a_server_without_keys_makes_no_links_and_days_have_a_limit(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    thread = (await ask_over_http(client, LAMP))[0]["thread"]
    assert (await client.post(f"/api/threads/{thread}/share", json={})).status_code == 409
    _, secret = app.state.keys.create("mine", None)
    for days in (0, 91, "soon"):
        sent = await client.post(f"/api/threads/{thread}/share", json={"days": days}, headers=bearer(secret))
        assert sent.status_code == 422, days
