"""Every request that cannot be used is told so, and is no fault of the server."""

from __future__ import annotations

import httpx

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
