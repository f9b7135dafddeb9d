"""What a run tells, as it goes over the wire."""

from __future__ import annotations

import json

import httpx

from ragweave.tests.support.serving import begin

QUESTION = "When was the lamp of the lighthouse first lit?"


async def test_a_client_that_splits_at_empty_lines_reads_every_event_of_every_stream(client: httpx.AsyncClient) -> None:
    run = (await begin(client, QUESTION))["run"]
    chat = {"model": "agent", "stream": True, "stream_options": {"include_usage": True}}
    said = [{"role": "user", "content": QUESTION}]
    for told in (
        await client.get(f"/api/runs/{run}/events"),
        await client.post("/v1/chat/completions", json={**chat, "messages": said}),
        await client.post("/v1/responses", json={"model": "agent", "stream": True, "input": QUESTION}),
    ):
        assert "\r" not in told.text
        events = [e.rsplit("data: ", 1)[1] for e in told.text.removesuffix("\n\n").split("\n\n")]
        assert len(events) > 5 and all(e == "[DONE]" or json.loads(e) for e in events)


async def test_behind_the_end_there_is_nothing_and_a_browser_comes_back_no_more(client: httpx.AsyncClient) -> None:
    run = (await begin(client, QUESTION))["run"]
    told = (await client.get(f"/api/runs/{run}/events")).text
    last = told.rsplit("id: ", 1)[1].split("\n")[0]
    for more in ({"headers": {"last-event-id": last}}, {"params": {"after": "9999"}}):
        assert (await client.get(f"/api/runs/{run}/events", **more)).status_code == 204  # type: ignore[arg-type]
