"""A turn is answered once more beside its conversation: from a step on, whole, or with another question."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.tests.support.serving import ask_over_http, parse_events

QUESTION = "When was the lamp of the lighthouse first lit?"


async def again(client: httpx.AsyncClient, thread: str, n: int = 1, **body: Any) -> list[dict[str, Any]]:
    begun = await client.post(f"/api/threads/{thread}/turns/{n}/again", json=body)
    assert begun.status_code == 202, begun.text
    return parse_events((await client.get(f"/api/runs/{begun.json()['run']}/events")).text)


@pytest.fixture
async def thread(client: httpx.AsyncClient) -> str:
    return str((await ask_over_http(client, QUESTION))[0]["thread"])


async def test_only_what_follows_the_step_is_done_anew(
    client: httpx.AsyncClient, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def closed(*asked: Any) -> Any:
        raise AssertionError("the library was searched")

    monkeypatch.setattr("ragweave.nodes.retrieve.search_within", closed)
    told = await again(client, thread, step="generate", context={"sentences": 1})
    assert [e["node"] for e in told if e["type"] == "step"] == ["generate", "check"]
    assert "1874" in told[-2]["answer"]["text"]


async def test_the_conversation_stays_as_it_is_and_nothing_of_the_other_run_is_kept(
    client: httpx.AsyncClient, thread: str, home: Path
) -> None:
    before = (await client.get(f"/api/threads/{thread}")).json()
    for body in ({"step": "fuse", "context": {"rerank": False}}, {"question": "How often does the ferry sail?"}):
        told = await again(client, thread, **body)
        assert told[-1]["status"] == "done"
    assert "four times" in told[-2]["answer"]["text"]
    after = (await client.get(f"/api/threads/{thread}")).json()
    assert after == before
    with sqlite3.connect(home / "conversations.sqlite") as db:
        assert db.execute("SELECT DISTINCT thread_id FROM checkpoints").fetchall() == [(thread,)]
    told = await ask_over_http(client, "And the ferry, how often does it sail?", thread=thread)
    assert "four times" in told[-2]["answer"]["text"]


async def test_an_earlier_turn_is_answered_whole_and_says_that_its_steps_are_gone(
    client: httpx.AsyncClient, thread: str
) -> None:
    await ask_over_http(client, "How often does the ferry sail?", thread=thread)
    refused = await client.post(f"/api/threads/{thread}/turns/1/again", json={"step": "generate"})
    assert refused.status_code == 400 and "not kept" in refused.json()["title"]
    told = await again(client, thread, 1, context={"sentences": 1})
    assert "1874" in told[-2]["answer"]["text"] and told[1]["node"] == "condense"


@pytest.mark.parametrize(
    ("body", "words"), [({"step": "nope"}, "no step"), ({"context": {"sentences": 99}}, "sentences")]
)
async def test_what_cannot_be_done_is_told_in_a_sentence(
    client: httpx.AsyncClient, thread: str, body: dict[str, Any], words: str
) -> None:
    refused = await client.post(f"/api/threads/{thread}/turns/1/again", json=body)
    assert refused.status_code in (400, 422) and words in refused.json()["title"]


async def test_the_knobs_of_a_turn_are_kept_with_it(client: httpx.AsyncClient) -> None:
    thread = (await ask_over_http(client, QUESTION, context={"sentences": 2}))[0]["thread"]
    (turn,) = (await client.get(f"/api/threads/{thread}")).json()["turns"]
    assert turn["context"]["sentences"] == 2
