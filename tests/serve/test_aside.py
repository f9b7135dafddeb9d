"""A turn is answered once more beside its conversation: from a step on, whole, or with another question."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from ragweave.evals.answers import AnswerVerdict, question_of
from ragweave.evals.question_files import rows_of
from ragweave.nodes.answer import Answer
from ragweave.serve.app import create_app
from ragweave.serve.settings import ServeSettings
from ragweave.serve.store import Store
from ragweave.tests.support.serving import ask_over_http, events_until, on_loopback, parse_events

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


@pytest.mark.parametrize("of", ["conversation", "library"])
async def test_a_run_beside_it_that_waits_for_consent_goes_with_its_conversation_and_its_library(
    notes: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of: str
) -> None:
    (tmp_path / "web").mkdir()
    monkeypatch.setenv("RAGWEAVE_WEB_FOLDER", str(tmp_path / "web"))
    asked, begun = {"question": "Who painted the ceiling?", "context": {"web": "ask"}}, []
    server = on_loopback(create_app(ServeSettings()))
    async with server as address, httpx.AsyncClient(base_url=address, timeout=60) as client:
        for library in ("tea room", "default"):
            thread = (await ask_over_http(client, QUESTION, library=library))[0]["thread"]
            run = (await client.post(f"/api/threads/{thread}/turns/1/again", json=asked)).json()
            begun.append({**run, "of": thread})
            assert (await events_until(client, run["run"], "consent"))[-1]["type"] == "consent"
        kept, gone = begun
        (row,) = [r for r in (await client.get("/api/libraries")).json()["libraries"] if r["name"] == "default"]
        path = f"/api/threads/{gone['of']}" if of == "conversation" else f"/api/libraries/{row['id']}"
        assert (await client.delete(path)).status_code == 204
        assert [(await client.get(f"/api/runs/{run['run']}")).status_code for run in begun] == [200, 404]
        with sqlite3.connect(home / "conversations.sqlite") as db:
            left = {id for (id,) in db.execute("SELECT DISTINCT thread_id FROM checkpoints")}
        assert left == {kept["of"], kept["thread"]}
        with sqlite3.connect(home / "serve.sqlite") as db:
            rows = {id for (id,) in db.execute("SELECT run FROM events UNION SELECT id FROM runs")}
        assert kept["run"] in rows and gone["run"] not in rows


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


async def test_a_question_is_replaced_with_all_that_follows_and_the_talk_goes_on(
    client: httpx.AsyncClient, thread: str
) -> None:
    await ask_over_http(client, "Which way is north?", thread=thread)
    await ask_over_http(client, "How often does the ferry sail?", thread=thread, replaces=2)
    turns = (await client.get(f"/api/threads/{thread}")).json()["turns"]
    assert [t["question"] for t in turns] == [QUESTION, "How often does the ferry sail?"]
    told = await ask_over_http(client, "And how often does it sail?", thread=thread)
    assert "four times" in told[-2]["answer"]["text"]
    refused = await client.post("/api/ask", json={"question": QUESTION, "replaces": 1})
    assert refused.status_code == 422


async def test_a_turn_that_is_not_there_is_not_replaced_and_nothing_of_the_conversation_goes(
    client: httpx.AsyncClient, thread: str, home: Path
) -> None:
    def kept() -> list[Any]:
        with sqlite3.connect(home / "conversations.sqlite") as db:
            return db.execute("SELECT thread_id, checkpoint_id FROM checkpoints ORDER BY checkpoint_id").fetchall()

    before, steps = (await client.get(f"/api/threads/{thread}")).json(), kept()
    for n, status in ((2, 404), (77, 404), (2**31 - 1, 404), (2**31, 422), (10**25, 422)):
        refused = await client.post("/api/ask", json={"question": "And who lit it?", "thread": thread, "replaces": n})
        assert refused.status_code == status and refused.json()["remedy"], (n, refused.text)
    assert (await client.get(f"/api/threads/{thread}")).json() == before and kept() == steps != []
    told = await again(client, thread, step="generate")
    assert "1874" in told[-2]["answer"]["text"]


async def test_a_turn_that_went_meanwhile_is_not_replaced(
    client: httpx.AsyncClient, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = Store.turns
    with monkeypatch.context() as before:
        before.setattr(Store, "turns", lambda store, id: [replace(t, n=t.n + 1) for t in turns(store, id)])
        refused = await client.post("/api/ask", json={"question": "And who lit it?", "thread": thread, "replaces": 2})
    assert refused.status_code == 404
    assert [t["n"] for t in (await client.get(f"/api/threads/{thread}")).json()["turns"]] == [1]
    assert "1874" in (await again(client, thread, step="generate"))[-2]["answer"]["text"]


async def test_a_turn_is_not_replaced_where_the_conversation_has_changed_since_it_was_seen(
    client: httpx.AsyncClient, thread: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def turns() -> list[tuple[str, str]]:
        return [(t["run"], t["question"]) for t in (await client.get(f"/api/threads/{thread}")).json()["turns"]]

    ((seen, _),) = await turns()
    asked = {"question": "And who lit it?", "thread": thread, "replaces": 1}
    await ask_over_http(client, "Which way is north?", thread=thread)
    before = await turns()
    refused = await client.post("/api/ask", json={**asked, "seen": seen})
    assert (refused.status_code, refused.json()["code"]) == (409, "gone_on") and refused.json()["remedy"]
    with monkeypatch.context() as late:  # the other question came between this one's look and its own turn
        held = Store.turns
        late.setattr(Store, "turns", lambda store, id: held(store, id)[:1])
        assert (await client.post("/api/ask", json={**asked, "seen": seen})).json()["code"] == "gone_on"
    assert await turns() == before
    await ask_over_http(client, "How often does the ferry sail?", thread=thread, replaces=2, seen=before[-1][0])
    # As many turns as were seen, and another one among them.
    assert (await client.post("/api/ask", json={**asked, "seen": before[-1][0]})).status_code == 409
    assert [question for _, question in await turns()] == [QUESTION, "How often does the ferry sail?"]


async def test_what_a_reader_says_of_an_answer_is_kept_and_can_be_evaluated(
    client: httpx.AsyncClient, thread: str, tmp_path: Path
) -> None:
    await ask_over_http(client, "How often does the ferry sail?", thread=thread)
    for n, said in ((1, {"good": True}), (2, {"good": False, "reason": "Wrong"})):
        assert (await client.put(f"/api/threads/{thread}/turns/{n}/verdict", json=said)).status_code == 204
    assert (await client.put(f"/api/threads/{thread}/turns/9/verdict", json={"good": True})).status_code == 404
    turns = (await client.get(f"/api/threads/{thread}")).json()["turns"]
    assert turns[0]["verdict"]["good"] and turns[1]["verdict"]["reason"] == "Wrong"
    path = tmp_path / "questions.jsonl"
    path.write_bytes((await client.get("/api/verdicts", params={"library": "default"})).content)
    good, bad = [question_of(row) for row in rows_of(path)]
    assert good.scored and "1874" in good.answers[0] and good.gold[0] == "lighthouse.md"
    answers = [Answer.model_validate(t["answer"]) for t in turns]
    assert AnswerVerdict(good, answers[0], 0).correct
    assert bad.scored and not AnswerVerdict(bad, answers[1], 0).correct
    await client.put(f"/api/threads/{thread}/turns/1/verdict", json={"good": None})
    assert (await client.get(f"/api/threads/{thread}")).json()["turns"][0]["verdict"] is None


async def test_conversations_are_found_by_what_was_said_in_them_and_pinned(
    client: httpx.AsyncClient, thread: str
) -> None:
    other = (await ask_over_http(client, "At how many degrees is tea brewed?", library="tea room"))[0]["thread"]
    for words, found in (("LAMP", [thread]), ("October 1874", [thread]), ("ninety", [other]), ("100%", [])):
        threads = (await client.get("/api/threads", params={"q": words})).json()["threads"]
        assert [t["id"] for t in threads] == found, words
    told = (await client.patch(f"/api/threads/{thread}", json={"pinned": True})).json()
    assert told["pinned"] and told["title"] == QUESTION
    assert {t["id"]: t["pinned"] for t in (await client.get("/api/threads")).json()["threads"]} == {
        thread: True,
        other: False,
    }
