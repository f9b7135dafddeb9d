"""What a reader keeps: answers, passages and words of her own, over either store, and nobody else's."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.tests.support import build_library
from ragweave.tests.support.serving import ask_over_http, bearer, in_process

LAMP = "When was the lamp of the lighthouse first lit?"


async def _keep(client: httpx.AsyncClient, **sent: Any) -> dict[str, Any]:
    made = await client.post("/api/notes", json={"library": "default", **sent})
    assert made.status_code == 201, made.text
    return dict(made.json())


async def _notes(client: httpx.AsyncClient, **given: str) -> list[dict[str, Any]]:
    return list((await client.get("/api/notes", params={"library": "default", **given})).json()["notes"])


async def _item(client: httpx.AsyncClient) -> str:
    found = await client.post("/search", json={"query": "lamp", "library": "default"})
    return str(found.json()["results"][0]["id"])


@pytest.mark.both
async def test_what_is_kept_outlives_its_conversation_and_the_server_and_goes_when_it_is_deleted(
    engine: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = "# The lighthouse\n\nThe lamp of the lighthouse was first lit on 3 October 1874.\n"
    await build_library(tmp_path_factory.mktemp("notes"), {"lighthouse.md": text})
    async with in_process(create_app(ServeSettings())) as client:
        thread = (await ask_over_http(client, LAMP))[0]["thread"]
        answer = await _keep(client, thread=thread, turn=1, text="Ask Mara.")
        passage = await _keep(client, item=await _item(client), quote="first  lit on\n3 October 1874")
        own = await _keep(client, text="Buy lamp oil.\nTwo cans.")
        assert (await client.delete(f"/api/threads/{thread}")).status_code == 204
    async with in_process(create_app(ServeSettings())) as client:
        assert await _notes(client) == [own, passage, answer]
        assert answer["title"] == LAMP and "1874" in answer["answer"]["text"]
        (cited,) = passage["answer"]["citations"]
        assert cited["quote"] == "first lit on 3 October 1874" and cited["open"]["view"] == "text"
        assert [n["id"] for n in await _notes(client, q="MARA")] == [answer["id"]]
        assert [n["id"] for n in await _notes(client, q="october")] == [passage["id"], answer["id"]]
        assert await _notes(client, q="%") == []
        changed = {"text": "Buy no oil."}
        assert (await client.put(f"/api/notes/{own['id']}", json=changed)).status_code == 204
        assert (await _notes(client))[0] == {**own, **changed}
        assert (await client.delete(f"/api/notes/{own['id']}")).status_code == 204
        assert await _notes(client) == [passage, answer]


async def test_notes_are_saved_as_a_proof_one_or_all(client: httpx.AsyncClient) -> None:
    thread = (await ask_over_http(client, LAMP))[0]["thread"]
    kept = await _keep(client, thread=thread, turn=1, text="Ask <b>Mara</b>.")
    await _keep(client, item=await _item(client), quote="3 October")
    await _keep(client, text="Buy oil.")
    one = await client.get("/api/notes/proof", params={"library": "default", "id": kept["id"]})
    assert "attachment" in one.headers["content-disposition"]
    assert LAMP in one.text and "Ask &lt;b&gt;Mara" in one.text and "SHA-256" in one.text and "Buy oil" not in one.text
    everything = (await client.get("/api/notes/proof?library=default")).text
    assert "Notes on default" in everything and "Buy oil." in everything and "by the reader" in everything
    assert '<blockquote dir="auto">3 October</blockquote>' in everything
    assert (await client.get("/api/notes/proof?library=tea+room")).status_code == 404


async def test_a_note_of_nothing_or_of_what_is_not_there_is_refused(client: httpx.AsyncClient) -> None:
    thread = (await ask_over_http(client, LAMP))[0]["thread"]
    for sent, status in (
        ({"text": "  "}, 400),
        ({"thread": thread, "turn": 2}, 404),
        ({"thread": thread}, 404),
        ({"thread": "none", "turn": 1}, 404),
        ({"item": "none"}, 404),
        ({"text": "x" * 20_001}, 422),
    ):
        made = await client.post("/api/notes", json={"library": "default", **sent})
        assert made.status_code == status, (sent, made.text)
    assert (await client.put("/api/notes/none", json={"text": "x"})).status_code == 404
    assert await _notes(client) == []
    kept = (await client.post("/api/notes", json={"library": "default", "text": "Ask the keeper."})).json()
    assert (await client.put(f"/api/notes/{kept['id']}", json={"text": " "})).status_code == 400
    assert [n["text"] for n in await _notes(client)] == ["Ask the keeper."]


async def test_an_answer_of_another_library_than_the_one_that_is_named_is_not_kept(client: httpx.AsyncClient) -> None:
    thread = (await ask_over_http(client, LAMP))[0]["thread"]
    sent = {"library": "tea room", "thread": thread, "turn": 1}
    refused = await client.post("/api/notes", json=sent)
    assert refused.status_code == 409 and "'default'" in refused.json()["title"]
    assert await _notes(client) == []


async def test_a_passage_of_another_page_than_its_item_is_kept_with_that_page(client: httpx.AsyncClient) -> None:
    noted = await _keep(client, item=await _item(client), quote="The lamp", page=4)
    (cited,) = noted["answer"]["citations"]
    assert "page" not in cited["locator"], "a text without pages gets none"


async def test_there_is_an_end_to_notes(client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragweave.serve.notes._MOST", 1)
    await _keep(client, text="One.")
    refused = await client.post("/api/notes", json={"library": "default", "text": "Two."})
    assert refused.status_code == 409


async def test_another_key_neither_reads_nor_changes_a_note_and_a_deleted_library_leaves_none(
    app: FastAPI, client: httpx.AsyncClient
) -> None:
    rows = (await client.get("/api/libraries")).json()["libraries"]
    (mine,) = [row["id"] for row in rows if row["name"] == "default"]
    note = await _keep(client, text="Mine alone.")
    _, guest = app.state.keys.create("guest", (mine,))
    _, owner = app.state.keys.create("owner", None)
    listed = await client.get("/api/notes?library=default", headers=bearer(guest))
    assert listed.json()["notes"] == []
    assert (await client.get("/api/notes/proof?library=default", headers=bearer(guest))).status_code == 404
    theirs: dict[str, Any] = {"url": f"/api/notes/{note['id']}", "headers": bearer(guest)}
    for said in (await client.put(**theirs, json={"text": "x"}), await client.delete(**theirs)):
        assert said.status_code == 404
    kept = await client.post("/api/notes", json={"library": "default", "text": "Theirs."}, headers=bearer(owner))
    assert (await client.delete(f"/api/libraries/{mine}", headers=bearer(owner))).status_code == 204
    gone = await client.delete(f"/api/notes/{kept.json()['id']}", headers=bearer(owner))
    assert gone.status_code == 404
