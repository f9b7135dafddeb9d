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
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.library import delete_library
from ragweave.serve.shared_page import shared_page
from ragweave.serve.store import ConversationTurn, now
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.support.serving import ask_over_http, bearer

COUNCIL = Path(__file__).resolve().parents[2] / "examples" / "library" / "council-2024.pdf"


@pytest.fixture
def owner(app: FastAPI, client: httpx.AsyncClient) -> httpx.AsyncClient:
    """The client, with a key for all libraries of a server that is locked by it."""
    _, secret = app.state.keys.create("mine", None)
    client.headers.update(bearer(secret))
    return client


async def _shared(client: httpx.AsyncClient, question: str = QUESTION, **sent: Any) -> dict[str, Any]:
    thread = (await ask_over_http(client, question))[0]["thread"]
    made = await client.post(f"/api/threads/{thread}/share", json=sent)
    assert made.status_code == 201 and set(made.json()) == {"id", "title", "expires", "url"}
    return {**made.json(), "thread": thread, "secret": made.json()["url"].rsplit("/", 1)[1]}


async def _open(client: httpx.AsyncClient, url: str) -> httpx.Response:
    return await client.get(url, headers={"authorization": ""})


async def test_a_link_shows_the_answer_to_who_has_no_key_is_listed_and_opens_nothing_else(
    owner: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("ragweave.serve"), "propagate", True)
    caplog.set_level(logging.INFO, "ragweave.serve")
    made = await _shared(owner, turn=1)
    page = await _open(owner, made["url"])
    assert page.status_code == 200 and "<mark>The lamp of the lighthouse was first lit" in page.text
    assert page.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    listed = (await owner.get("/api/shares")).json()["shares"]
    assert [(row["id"], row["title"]) for row in listed] == [(made["id"], QUESTION)]
    assert made["secret"] not in str(listed) + caplog.text and "GET /shared/..." in caplog.text
    for path in ("/api/shares", f"/api/threads/{made['thread']}", "/api/sources"):
        assert (await owner.get(path, headers=bearer(made["secret"]))).status_code == 401, path
    at = f"/shared/{made['secret']}"
    for path in (f"{at}/../../api/threads", "/shared/..%2f..%2fapi%2fthreads", f"{at}/x", f"{at[:-1]}_", "/shared/"):
        assert (await _open(owner, path)).status_code in (401, 404), path
    assert (await owner.delete(f"/api/shares/{made['id']}")).status_code == 204
    for url in (made["url"], "/shared/%00", f"/shared/{made['id']}"):
        assert (await _open(owner, url)).status_code in (401, 404), url
    assert (await owner.delete(f"/api/shares/{made['id']}")).status_code == 404


async def test_a_script_in_a_source_is_text_behind_a_link_and_pictures_of_the_places_are_in_the_page(
    owner: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "beacon.md").write_text("# Beacon\n\nThe beacon is <script>alert(1)</script> painted red.\n")
    await index([tmp_path, COUNCIL], "default")
    made = await _shared(owner, "Which colour is the <b onclick=x>beacon</b> painted?")
    page = (await _open(owner, made["url"])).text
    assert "painted red" in page and "<script" not in page and "<b " not in page
    page = (await _open(owner, (await _shared(owner, "What does the new pier cost?"))["url"])).text
    assert "data:image/jpeg;base64," in page and not re.search(r'(?:src|href)="(?!data:image/jpeg|#)', page)


async def test_a_link_runs_out_and_goes_with_its_conversation_and_its_library(
    owner: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, gone, left = await _shared(owner, days=2), await _shared(owner), await _shared(owner, days=9)
    assert (await owner.delete(f"/api/threads/{gone['thread']}")).status_code == 204
    assert (await _open(owner, gone["url"])).status_code == 404
    later = (datetime.now(UTC) + timedelta(days=2, seconds=1)).isoformat(timespec="milliseconds")
    monkeypatch.setattr("ragweave.serve.shares.now", lambda: later)
    assert [(await _open(owner, one["url"])).status_code for one in (made, left)] == [404, 200]
    await delete_library("default")
    assert (await _open(owner, left["url"])).status_code == 404
    assert (await owner.get("/api/shares")).json() == {"shares": []}


async def test_what_a_key_shared_is_its_own_and_goes_with_it_and_the_owner_may_end_it(
    app: FastAPI, owner: httpx.AsyncClient
) -> None:
    kept = await _shared(owner)
    libraries = tuple(row["id"] for row in (await owner.get("/api/libraries")).json()["libraries"])
    for bound in (libraries, None):
        key, secret = app.state.keys.create("guest", bound)
        if bound:
            assert (await owner.get("/api/shares", headers=bearer(secret))).json() == {"shares": []}
            assert (await owner.delete(f"/api/shares/{kept['id']}", headers=bearer(secret))).status_code == 404
            told = await owner.post(f"/api/threads/{kept['thread']}/share", json={}, headers=bearer(secret))
            assert told.status_code == 404
        asked = await owner.post("/api/ask", json={"question": QUESTION}, headers=bearer(secret))
        await owner.get(f"/api/runs/{asked.json()['run']}/events", headers=bearer(secret))
        at = f"/api/threads/{asked.json()['thread']}/share"
        made = (await owner.post(at, json={}, headers=bearer(secret))).json()
        assert {row["id"] for row in (await owner.get("/api/shares")).json()["shares"]} == {kept["id"], made["id"]}
        app.state.keys.revoke(key.id)
        assert (await _open(owner, made["url"])).status_code == 404
        assert [row["id"] for row in (await owner.get("/api/shares")).json()["shares"]] == [kept["id"]]
        assert (await owner.delete(f"/api/shares/{made['id']}")).status_code == 204
    assert (await _open(owner, kept["url"])).status_code == 200


async def test_a_server_without_keys_makes_no_links_and_days_have_a_limit(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    at = f"/api/threads/{(await ask_over_http(client, QUESTION))[0]['thread']}/share"
    assert (await client.post(at, json={})).status_code == 409
    _, secret = app.state.keys.create("mine", None)
    for days in (0, 91, "soon"):
        assert (await client.post(at, json={"days": days}, headers=bearer(secret))).status_code == 422, days


async def test_a_shared_answer_has_one_number_and_one_card_for_each_place_as_the_page_shows_them() -> None:
    def cited(n: int, heading: str, quote: str) -> dict[str, Any]:
        locator = {"kind": "heading", "file": "/a.md", "heading": [heading]}
        return {"n": n, "title": "Ferry", "locator": locator, "quote": quote, "open": {}}

    citations = [cited(1, "Fares", "It costs 5."), cited(2, "Times", "At nine."), cited(3, "Fares", "Dogs are free.")]
    told = [("At nine, for 5.", [2, 1]), ("Dogs are free for 5.", [3, 1])]
    sentences = [{"text": t, "citations": ns, "support": "verified", "sign": ""} for t, ns in told]
    answer = {"kind": "answer", "mode": "llm", "model": "m", "notes": [], "text": "", "sentences": sentences}
    turn = ConversationTurn(1, "r", "agent", "Q", "done", {**answer, "citations": citations}, None, now(), [], 0)
    page = await shared_page(LibraryRow("l", "notes", "", 1, 0), "Q", [turn])
    marks = [re.findall(r"\[(\d)\]", part) for part in re.findall(r"<p class=\"verified\".*?</p>", page)]
    cards = [(re.findall(r"\[(\d)\]", c), c.count("<blockquote")) for c in re.findall(r"<article.*?</article>", page)]
    assert (marks, cards) == ([["1", "2"], ["2"]], [(["1"], 1), (["2"], 2)])
