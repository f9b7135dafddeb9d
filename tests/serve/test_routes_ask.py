"""The page's API: asking, what a step and a problem tell, numbers and methods that are none."""

from __future__ import annotations

import httpx

from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.support.serving import ask_over_http


async def test_a_question_is_answered_with_steps_sentences_and_a_citation_that_opens(
    client: httpx.AsyncClient,
) -> None:
    told = await ask_over_http(client, QUESTION)
    kinds = [e["type"] for e in told]
    assert kinds[0] == "start" and kinds[-2:] == ["answer", "end"]
    assert [e["id"] for e in told] == list(range(1, len(told) + 1))
    steps = [e for e in told if e["type"] == "step"]
    assert {e["node"] for e in steps} >= {"condense", "route", "retrieve", "generate", "check"}
    spent = [e["spent"] for e in steps if "spent" in e]
    assert len(spent) > 5 and all(s["calls"] == s["tokens"] == 0 for s in spent)
    assert [s["seconds"] for s in spent] == sorted(s["seconds"] for s in spent)
    assert told[0]["budget"].keys() == {"model_calls", "tokens", "seconds"}
    quote, *_ = [e for e in told if e["type"] == "sentence"]
    assert quote["support"] == "quoted" and "1874" in quote["text"] and quote["marked"]
    citation = told[-2]["answer"]["citations"][0]
    assert quote["citations"] == [citation] and told[-2]["answer"]["kind"] == "quotes"
    assert citation["open"]["view"] == "text" and citation["locator"]["file"] == "lighthouse.md"
    assert "1874" in (await client.get(citation["open"]["media"])).text
    (library,) = [
        r for r in (await client.get("/api/libraries")).json()["libraries"] if r["name"] == "default"
    ]
    assert (
        await client.patch(f"/api/libraries/{library['id']}", json={"name": "harbour"})
    ).status_code == 200
    item = (await client.get(citation["open"]["item"])).json()
    assert item["library"] == "harbour" and "1874" in item["text"][slice(*citation["open"]["chars"])]


async def test_who_accepts_a_stream_of_events_is_answered_with_it_in_one_request_and_told_where_to_go_on(
    client: httpx.AsyncClient,
) -> None:
    accept = {"Accept": "text/event-stream"}
    asked = await client.post("/api/ask", json={"question": QUESTION}, headers=accept)
    assert asked.headers["content-type"].startswith("text/event-stream")
    again = await client.get(asked.headers["content-location"], headers={"Last-Event-ID": "1"})
    assert asked.text.startswith("id: 1") and "1874" in again.text and asked.text.endswith(again.text)
    refused = await client.post("/api/ask", json={"question": ""}, headers=accept)
    assert refused.status_code == 400 and refused.json()["remedy"]


async def test_what_is_malformed_or_beyond_a_number_of_the_database_is_refused_as_input(
    client: httpx.AsyncClient,
) -> None:
    thread = f"/api/threads/{(await ask_over_http(client, QUESTION))[0]['thread']}"
    for n in (9_999_999_999_999_999_999, 2**31, 0, -1):
        for answer in (
            await client.put(f"{thread}/turns/{n}/verdict", json={"good": True}),
            await client.get(f"{thread}/turns/{n}/pictures/1"),
            await client.post("/api/ask", json={"question": "x", "thread": thread[13:], "replaces": n}),
        ):
            assert answer.status_code == 422 and answer.json()["code"] == "input", answer.text
    assert (await client.put(f"{thread}/turns/{2**31 - 1}/verdict", json={"good": True})).status_code == 404
    wrongs = [{}, {"question": "When?", "messages": [["human", "x"]]}, {"messages": [{"role": "?"}]}]
    wrongs += [{"messages": [[[], None]]}, {"messages": [None]}]
    for wrong in (*wrongs, {"question": "x", "context": {"max_cost": "1e999"}}):
        assert (await client.post("/api/ask", json=wrong)).status_code in (400, 422), wrong
    form = {"content-type": "multipart/form-data; boundary=x"}
    refused = await client.post("/api/upload", content=b"--x\r\nno form", headers=form)
    assert (refused.status_code, refused.json()["code"]) == (400, "input")


async def test_the_library_that_the_context_names_is_the_one_that_is_asked(client: httpx.AsyncClient) -> None:
    sent = {"question": QUESTION, "context": {"library": "nowhere"}}
    for path, body in (
        ("/api/ask", sent),
        ("/search", {"query": QUESTION, "context": {"library": "nowhere"}}),
    ):
        reply = await client.post(path, json=body)
        assert reply.status_code == 404 and "nowhere" in reply.text
    chat = {
        "model": "agent",
        "messages": [{"role": "user", "content": QUESTION}],
        "ragweave": {"context": {"library": "nowhere"}},
    }
    assert (await client.post("/v1/chat/completions", json=chat)).status_code == 404
