"""Asking over HTTP: runs, events, conversations."""

from __future__ import annotations

from pathlib import Path

import httpx
from fastapi import FastAPI

from ragweave.tests.support import build_library
from ragweave.tests.support.serving import ask_over_http, in_process

QUESTION = "When was the lamp of the lighthouse first lit?"


async def test_a_question_is_answered_with_steps_sentences_and_a_citation_that_opens(client: httpx.AsyncClient) -> None:
    told = await ask_over_http(client, QUESTION)
    kinds = [e["type"] for e in told]
    assert kinds[0] == "start" and kinds[-2:] == ["answer", "end"]
    assert [e["id"] for e in told] == list(range(1, len(told) + 1))
    assert {e["node"] for e in told if e["type"] == "step"} >= {"condense", "route", "retrieve", "generate", "check"}
    quote, *_ = [e for e in told if e["type"] == "sentence"]
    assert quote["support"] == "quoted" and "1874" in quote["text"][slice(*quote["marked"])]
    citation = told[-2]["answer"]["citations"][0]
    assert quote["citations"] == [citation] and told[-2]["answer"]["kind"] == "quotes"
    assert citation["open"]["view"] == "text" and citation["locator"]["file"] == "lighthouse.md"
    item = (await client.get(citation["open"]["item"])).json()
    start, end = citation["open"]["chars"]
    assert "1874" in item["text"][start:end]
    assert "1874" in (await client.get(citation["open"]["media"])).text


async def test_the_address_of_an_item_stays_good_when_its_library_is_renamed(client: httpx.AsyncClient) -> None:
    citation = (await ask_over_http(client, QUESTION))[-2]["answer"]["citations"][0]
    (library,) = [r for r in (await client.get("/api/libraries")).json()["libraries"] if r["name"] == "default"]
    assert (await client.patch(f"/api/libraries/{library['id']}", json={"name": "harbour"})).status_code == 200
    item = await client.get(citation["open"]["item"])
    assert item.status_code == 200 and item.json()["library"] == "harbour" and item.json()["id"] == citation["id"]


async def test_who_accepts_a_stream_of_events_is_answered_with_it_in_one_request_and_told_where_to_go_on(
    client: httpx.AsyncClient,
) -> None:
    accept = {"Accept": "text/event-stream"}
    asked = await client.post("/api/ask", json={"question": QUESTION}, headers=accept)
    assert asked.headers["content-type"].startswith("text/event-stream")
    again = await client.get(asked.headers["content-location"], headers={"Last-Event-ID": "1"})
    assert asked.text.startswith("id: 1") and "1874" in again.text
    assert asked.text.endswith(again.text)
    refused = await client.post("/api/ask", json={"question": ""}, headers=accept)
    assert refused.status_code == 400 and refused.json()["remedy"]


async def test_the_further_places_of_a_passage_are_named_by_their_files_and_no_door_tells_where_these_lie(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    same = "The bell of the mole was cast in 1881 by Ilse Marwen.\n"
    await build_library(tmp_path / "harbour", {"bell.md": f"# The bell\n\n{same}", "copy.md": f"# Notes\n\n{same}"})
    question = "When was the bell of the mole cast?"
    found = await client.post("/search", json={"query": question})
    (also,) = found.json()["results"][0]["also"]
    assert {also["file"], found.json()["results"][0]["locator"]["file"]} == {"bell.md", "copy.md"}
    answer = (await ask_over_http(client, question))[-2]["answer"]
    served = await client.post("/langserve/agent/invoke", json={"input": {"question": question}})
    assert answer["citations"][0]["also"] == served.json()["output"]["citations"][0]["also"] == [also]
    assert str(tmp_path) not in found.text + str(answer) + served.text


async def test_each_step_tells_what_its_own_turn_has_spent(client: httpx.AsyncClient) -> None:
    for _ in range(2):
        told = await ask_over_http(client, QUESTION)
        spent = [e["spent"] for e in told if e["type"] == "step" and "spent" in e]
        assert len(spent) > 5 and all(s["calls"] == s["tokens"] == 0 for s in spent)
        assert [s["seconds"] for s in spent] == sorted(s["seconds"] for s in spent)
        assert told[0]["budget"] == {"model_calls": 40, "tokens": 0, "seconds": 0}


async def test_whoever_asks_before_anything_was_indexed_is_told_what_to_do(app: FastAPI) -> None:
    async with in_process(app) as client:
        asked = await client.post("/api/ask", json={"question": "When?", "library": "default"})
        chat = {"model": "agent", "messages": [{"role": "user", "content": "When?"}]}
        told = await client.post("/v1/chat/completions", json=chat)
        elsewhere = await client.post("/api/ask", json={"question": "When?", "library": "nowhere"})
    assert asked.status_code == told.status_code == elsewhere.status_code == 404
    assert "ragweave index" in asked.json()["remedy"] and "ragweave index" in told.json()["error"]["message"]
    assert "no library named" in elsewhere.json()["title"]


async def test_messages_are_taken_as_well_as_a_question_and_what_was_said_before_counts(
    client: httpx.AsyncClient,
) -> None:
    said = [
        {"role": "system", "content": "You are a parrot."},
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": "On 3 October 1874."},
        {"role": "user", "content": [{"type": "text", "text": "And who kept the watch there?"}]},
    ]
    begun = (await client.post("/api/ask", json={"messages": said})).json()
    events = (await client.get(f"/api/runs/{begun['run']}/events")).text
    assert "lighthouse" in events.split("condense", 1)[1].split("event:", 1)[0]
    (turn,) = (await client.get(f"/api/threads/{begun['thread']}")).json()["turns"]
    assert turn["question"] == "And who kept the watch there?"
    odd = [[{"role": "?"}], [[[], None]], [{"role": {}, "content": "When?"}], [None]]
    wrongs = [{}, {"question": "When?", "messages": said}, {"messages": said[:3]}, *({"messages": m} for m in odd)]
    for wrong in wrongs:
        assert (await client.post("/api/ask", json=wrong)).status_code in (400, 422), wrong


async def test_half_a_character_is_replaced_at_every_door_and_answered(client: httpx.AsyncClient) -> None:
    half, json = "\\ud800", {"content-type": "application/json"}
    chat = f'{{"role": "user", "content": "{half} {QUESTION}"}}'
    bodies = {
        "/api/ask": f'{{"question": "{half} {QUESTION}"}}',
        "/search": f'{{"query": "{half} lamp"}}',
        "/v1/chat/completions": f'{{"model": "agent", "messages": [{chat}]}}',
        "/langserve/agent/invoke": f'{{"input": {{"question": "{half} {QUESTION}"}}}}',
    }
    told = {at: await client.post(at, content=sent, headers=json) for at, sent in bodies.items()}
    assert {at: r.status_code for at, r in told.items() if not r.is_success} == {}
    assert "1874" in told["/v1/chat/completions"].text and "1874" in told["/langserve/agent/invoke"].text


async def test_a_knob_without_end_is_refused_by_name(client: httpx.AsyncClient) -> None:
    sent = '{"question": "When?", "context": {"max_cost": 1e999}}'
    told = await client.post("/api/ask", content=sent, headers={"content-type": "application/json"})
    assert told.status_code == 422 and "max_cost" in told.text
