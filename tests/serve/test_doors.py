"""One contract at every door: the same answer, citations, refusals and limits, each in the form of its door."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ragweave.corpora.store.library import open_library
from ragweave.serve.settings import ServeSettings
from ragweave.tests.serve.conftest import QUESTION
from ragweave.tests.serve.doors import DOORS
from ragweave.tests.serve.test_media import ASKED, SIGN
from ragweave.tests.support.library import build_library
from ragweave.tests.support.serving import Graph, bearer, in_process, on_loopback, until

OTHER, TEA = "How often does the ferry sail?", "At how many degrees is tea brewed?"
SAYS = "first lit on 3 October 1874."
WITH_HISTORY = ("page", "chat", "responses", "langserve")
WITH_PICTURES = ("page", "chat", "langserve", "mcp")
WITH_KNOBS = ("page", "chat", "responses", "langserve", "langserve streamed")
LEFT = ("mcp", "chat", "chat streamed", "responses", "responses streamed", "langserve", "langserve streamed")


async def test_a_question_gets_the_same_quote_and_citation_and_the_note(client: httpx.AsyncClient) -> None:
    best = (await client.post("/search", json={"query": QUESTION})).json()["results"][0]["id"]
    told = {name: await door(client, QUESTION) for name, door in DOORS.items()}
    assert {name: one.cited[:1] for name, one in told.items()} == dict.fromkeys(DOORS, (best,))
    assert [name for name, one in told.items() if SAYS not in one.text.replace("**", "")] == []
    assert [
        name for name, one in told.items() if "No language model read these passages" not in one.sent
    ] == []
    for name in ("chat", "responses", "langserve"):
        assert (told[name].text, told[name].cited) == (
            told[f"{name} streamed"].text,
            told[f"{name} streamed"].cited,
        )


async def test_many_at_once_do_not_mix(client: httpx.AsyncClient) -> None:
    asked = [(name, question) for name in DOORS for question in (QUESTION, OTHER)]
    told = await asyncio.gather(*(DOORS[name](client, question) for name, question in asked))
    assert len({one.cited for one in told[::2]}) == len({one.cited for one in told[1::2]}) == 1
    assert told[0].cited != told[1].cited


async def test_earlier_turns_and_the_words_in_a_picture_go_with_the_question(
    client: httpx.AsyncClient,
) -> None:
    said = [("system", "You are a parrot."), ("user", "Tell me about the ferry."), ("assistant", "It sails.")]
    for name in WITH_HISTORY:
        assert "four times" in (await DOORS[name](client, "How often does it sail?", said=said)).text, name
    for name in WITH_PICTURES:
        assert "four times" in (await DOORS[name](client, ASKED, pictures=[SIGN])).text, name
        told = await DOORS[name](client, ASKED, pictures=["http://127.0.0.1/x.png"])
        # A part of a message is left out with a note; the argument `pictures` is refused.
        assert told.status == (200 if name == "chat" else 400) and "not fetched" in told.sent, name


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an empty question": ({"question": " ?! "}, "uestion is empty"),
    "a question too long": ({"question": "why " * 2_250}, "8,000"),
    "a library that is not there": ({"library": "nowhere"}, "nowhere"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_cannot_be_asked_is_refused_in_words(client: httpx.AsyncClient, case: str) -> None:
    given, words = REFUSED[case]
    for name, door in DOORS.items():
        told = await door(client, **{"question": QUESTION, **given})
        assert told.status in (400, 404) and words in told.sent, (name, told)


@pytest.mark.parametrize(("knob", "value"), [("top_k", 99), ("sentences", "many"), ("topk", 3)])
async def test_a_knob_that_is_none_or_out_of_bounds_is_refused_by_name(
    client: httpx.AsyncClient, knob: str, value: Any
) -> None:
    for name in WITH_KNOBS:
        told = await DOORS[name](client, QUESTION, knobs={knob: value})
        assert told.status in (400, 422) and knob in told.sent.lower(), (name, told)


async def test_half_a_character_is_replaced_and_answered(client: httpx.AsyncClient) -> None:
    asked = QUESTION.replace("lamp", "lamp\\ud800")
    bodies = {
        "/search": f'{{"query": "{asked}"}}',
        "/v1/chat/completions": (
            f'{{"model": "agent", "messages": [{{"role": "user", "content": "{asked}"}}]}}'
        ),
        "/v1/responses": f'{{"model": "agent", "input": "{asked}"}}',
        "/langserve/agent/invoke": f'{{"input": {{"question": "{asked}"}}}}',
    }
    for path, body in bodies.items():
        told = await client.post(path, content=body, headers={"content-type": "application/json"})
        assert told.status_code == 200 and "1874" in told.text, path


async def test_before_anything_was_indexed_everybody_is_told_what_to_do(app: FastAPI) -> None:
    async with in_process(app) as client:
        for name, door in DOORS.items():
            told = await door(client, "When?")
            assert told.status in (400, 404) and "ragweave index" in told.sent, (name, told)


async def test_a_key_opens_its_own_library_and_no_other(client: httpx.AsyncClient, app: FastAPI) -> None:
    for name, door in DOORS.items():
        assert "ninety" in (await door(client, TEA, library="tea room")).text, name
    _, key = app.state.keys.create("guest", ((await open_library("tea room")).id,))
    for name, door in DOORS.items():
        assert (await door(client, TEA)).status == 401, name
        assert "ninety" in (await door(client, TEA, headers=bearer(key))).text, name
        told = await door(client, QUESTION, library="default", headers=bearer(key))
        assert told.status in (400, 404) and "1874" not in told.sent, name


async def test_where_there_is_no_place_to_wait_either_that_is_said(
    client: httpx.AsyncClient, app: FastAPI
) -> None:
    for _ in range(ServeSettings.running):
        app.state.app_state.slots.take()
    app.state.app_state.slots.most_waiting = 0
    for name, door in DOORS.items():
        told = await door(client, QUESTION)
        assert told.status in (400, 429) and "under way" in told.sent, (name, told)


async def test_what_fails_is_told_and_gives_nothing_away(client: httpx.AsyncClient, graph: Graph) -> None:
    graph.error = RuntimeError("password=hunter2")
    graph.may.set()
    for name, door in DOORS.items():
        told = await door(client, QUESTION)
        assert told.status in (400, 500) and "unexpected went wrong" in told.sent, (name, told)
        assert "hunter2" not in told.sent, name


async def test_who_leaves_stops_the_run(notes: Path, app: FastAPI, graph: Graph) -> None:
    async with on_loopback(app) as address:
        for name in LEFT:
            graph.waits.clear()
            graph.stopped_now.clear()
            async with httpx.AsyncClient(base_url=address, timeout=60) as client:
                asked = asyncio.create_task(DOORS[name](client, QUESTION))
                await until(graph.waits.is_set)
                asked.cancel()
                await asyncio.wait([asked])
            await until(graph.stopped_now.is_set)
            await until(lambda: not app.state.app_state.slots.taken)


@pytest.mark.parametrize("levels", [101, 900, 100_000])
async def test_a_body_that_is_nested_too_deeply_is_no_fault_of_the_server(
    client: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, levels: int
) -> None:
    deep = '{"top_k": ' + "[" * levels + "]" * levels + "}"
    chat = f'"model": "agent", "ragweave": {{"context": {deep}}}'
    bodies = {
        "/search": f'{{"query": "x", "context": {deep}}}',
        "/api/ask": f'{{"question": "x", "context": {deep}}}',
        "/v1/chat/completions": f'{{{chat}, "messages": [{{"role": "user", "content": "x"}}]}}',
        "/v1/responses": f'{{{chat}, "input": "x"}}',
        "/langserve/agent/invoke": f'{{"input": {{"question": "x", "history": {deep}}}}}',
        "/langserve/agent/batch": f'{{"inputs": [{{"question": "x", "history": {deep}}}]}}',
        "/langserve/agent/stream": f'{{"input": "x", "config": {{"configurable": {deep}}}}}',
    }
    for path, body in bodies.items():
        answer = await client.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422), (path, answer.text)
    assert not [r for r in caplog.records if r.levelno >= logging.ERROR]


async def test_no_door_tells_where_files_lie(client: httpx.AsyncClient, tmp_path: Path) -> None:
    same = "The bell of the mole was cast in 1881 by Ilse Marwen.\n"
    await build_library(
        tmp_path / "harbour", {"bell.md": f"# The bell\n\n{same}", "copy.md": f"# Notes\n\n{same}"}
    )
    question = "When was the bell of the mole cast?"
    (also,) = (await client.post("/search", json={"query": question})).json()["results"][0]["also"]
    assert also["file"] in ("bell.md", "copy.md")
    for name, door in DOORS.items():
        told = await door(client, question)
        assert "1881" in told.text and str(tmp_path) not in told.sent, name
