"""How long a question waits for each kind of bad model, and that leaving it ends the call, in virtual time."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_openai import ChatOpenAI

from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.corpora.ingest.run import index
from ragweave.graphs import agent, auto_rag, crag
from ragweave.graphs import run as graphs
from ragweave.graphs.agent import graph
from ragweave.models.chat import override
from ragweave.models.settings import model_settings
from ragweave.tests.graphs.conftest import DEFAULTS, part_of
from ragweave.tests.support import Fault, ScriptedChat, ScriptedServer
from ragweave.tests.support.bad_models import KINDS, BadTransport
from ragweave.tests.support.virtual import virtual

ASKED = (
    "When was the Corvane Observatory opened?",
    "Who founded the Ostrander Works?",
    "青山茶什么时候采摘?",
    "How is rye bread baked?",
)
LONGEST = 60.0
"""Seconds that a reader may wait for anything to read, and then for what is next."""


@pytest.fixture
def uncached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_CACHE", "false")
    model_settings.cache_clear()


def model_of(server: BadTransport) -> ChatOpenAI:
    client = httpx.AsyncClient(transport=server)
    options: dict[str, Any] = {
        "timeout": httpx.Timeout(None),
        "stream_chunk_timeout": None,
        "stream_usage": True,
    }
    return ChatOpenAI(
        model="m", base_url="http://127.0.0.1/v1", api_key="none", http_async_client=client, **options
    )


async def answered(question: str, server: BadTransport, **more: Any) -> tuple[Any, float, float]:
    """Return the answer, the longest time without anything to read, and how long all of it took."""
    began = last = time.monotonic()
    waited, answer = 0.0, None
    with override(writer=model_of(server), **more):
        async for event in graphs.astream(question, context=Context()):
            if event["type"] in ("sentence", "state"):
                waited, last = max(waited, time.monotonic() - last), time.monotonic()
            answer = event["state"]["answer"] if event["type"] == "state" else answer
    return answer, waited, time.monotonic() - began


@pytest.mark.usefixtures("library")
@pytest.mark.usefixtures("uncached")
@pytest.mark.parametrize("questions", [1, pytest.param(len(ASKED), marks=pytest.mark.hard)])
def test_no_kind_of_bad_model_keeps_a_reader_waiting_for_more_than_a_minute(
    monkeypatch: pytest.MonkeyPatch, questions: int
) -> None:
    rows = {}
    with virtual(monkeypatch) as (runner, _):
        for kind, way in KINDS.items():
            worst = total = 0.0
            for question in ASKED[:questions]:
                server = BadTransport(way)
                answer, waited, seconds = runner.run(answered(question, server))
                assert answer.sentences and answer.notes, kind
                assert not [s for s in answer.sentences if s.support == "verified"], (kind, answer.text)
                assert server.open == 0, kind
                worst, total = max(worst, waited), max(total, seconds)
            rows[kind] = f"| {kind} | {worst:.0f} s | {total:.0f} s | {server.begun} |"
            assert worst <= LONGEST and total <= 2 * LONGEST, rows
    print(
        "\n| a model that is | longest wait | to the end | calls |\n|---|---|---|---|",
        *rows.values(),
        sep="\n",
    )


@pytest.mark.usefixtures("library")
@pytest.mark.usefixtures("uncached")
def test_the_fallback_answers_in_the_place_of_a_model_that_is_silent_before_anything_is_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spare = ScriptedChat(react=lambda messages: DEFAULTS.get(part_of(messages), "no"))
    with virtual(monkeypatch) as (runner, _):
        server = BadTransport(KINDS["silent"])
        answer, waited, _ = runner.run(answered(ASKED[0], server, fallback=spare))
    assert "1931" in answer.text and answer.kind == "answer", answer
    assert server.begun == 1 and waited < LONGEST
    assert any("gave no answer within" in note for note in answer.notes)


@pytest.mark.usefixtures("library")
@pytest.mark.usefixtures("uncached")
@pytest.mark.parametrize("kind", KINDS)
def test_whoever_leaves_closes_the_open_call_and_none_begins_after_it(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    async def leave() -> None:
        server = BadTransport(KINDS[kind])
        asking = asyncio.create_task(answered(ASKED[0], server))
        while not server.begun and not asking.done():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        asking.cancel()
        left = time.monotonic()
        with suppress(asyncio.CancelledError):
            await asking
        begun = server.begun
        assert server.open == 0 and time.monotonic() - left < 1
        await asyncio.sleep(120)
        assert server.begun == begun

    with virtual(monkeypatch) as (runner, _):
        runner.run(leave())


QUESTION = "When was the Corvane Observatory opened?"
CALLS = 4

BAD: dict[str, Any] = {
    "refusal": "I'm sorry, I can't help with that.",
    "refusal as an answer": "Final Answer: I am unable to answer this.",
    "empty": "",
    "blank": " \n\t ",
    "tool call": '<tool_call>{"name": "search", "arguments": {"q": "Corvane"}}</tool_call>',
    "action": '{"thought": "hm", "action": "search", "input": "Corvane"}',
    "function": "search(Corvane)",
    "cut off": Fault.cut(3),
    "ends too early": Fault.cut(3, clean=True),
    "cut off for length": Fault.length("Final Answer: It was opened in"),
    "error in the stream": Fault.error_event(after=2),
    "error at once": Fault.error_event(),
    "limiting": Fault.status(429),
    "limiting for an hour": Fault.status(429, retry_after="3600"),
    "no credit": Fault.status(429, "pay", error="insufficient_quota"),
    "bad request": Fault.status(400),
    "wrong key": Fault.status(401),
    "unknown model": Fault.status(404),
    "server error": Fault.status(500),
    "overloaded": Fault.status(503),
    "too long": Fault.status(400, "This model's maximum context length is 4096 tokens"),
    "dropped": Fault.drop(),
    "web page": Fault.html(),
    "silence": Fault.stall(),
    "silence in the middle": Fault.stall(2),
    "endless sentences": ["Final Answer: ", *["It was opened in 1931 [1]. "] * 3_000],
    "endless words": ["opened "] * 3_000,
    "endless thought": ["<think>", *["hm "] * 3_000],
    "only a thought": "<think>It was 1931.</think>",
    "open thought": "<think>It was 1931.",
    "broken JSON": '{"answer": "It was',
    "another JSON": '{"result": [{"year": 1931}]}',
    "a list": "[1, 2, 3]",
    "a number": "1931",
    "another language": "Das Observatorium wurde 1931 eröffnet.",
    "labels of another language": "Requête : ouverture de l'observatoire",
    "numbers that do not exist": "Final Answer: It was opened in 1931 [7][99].",
    "a wrong year": "Final Answer: It was opened in 1804 [1].",
    "unknown at once": "Final Answer: UNKNOWN.",
    "the question again": f"Query: {QUESTION}",
    "another query each time": itertools.count(),
    "scripts": (
        "Final Answer: <script>alert(1)</script> It was opened in 1931 [1]. ![x](http://evil.example/a.png)"
    ),
    "lone surrogates": "Final Answer: It was opened in 1931 \ud800 [1].",
    "the same twice": "Final Answer: It was opened in 1931 [1]. It was opened in 1931 [1].",
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, library: Path) -> Iterator[ScriptedServer]:
    monkeypatch.setattr("ragweave.models.failures.BACKOFF", 0.0)
    with ScriptedServer() as served:
        monkeypatch.setenv("RAGWEAVE_CHAT", "openai:small")
        monkeypatch.setenv("RAGWEAVE_CHAT_URL", served.base_url)
        monkeypatch.setenv("RAGWEAVE_CHAT_CACHE", "false")
        monkeypatch.setenv("RAGWEAVE_CHAT_TOKENS", "500")
        model_settings.cache_clear()
        yield served


@pytest.mark.parametrize("said", BAD.values(), ids=BAD)
async def test_a_bad_reply_ends_in_an_answer_or_a_reason_within_the_budget(
    server: ScriptedServer, said: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(said, Fault) and said.kind == "stall":
        monkeypatch.setenv("RAGWEAVE_CHAT_TIMEOUT", "0.2")
        model_settings.cache_clear()
    server._react = lambda r: f"Query: words {next(said)}" if isinstance(said, itertools.count) else said
    context = Context(max_model_calls=CALLS)
    answer: Answer = (await graph.ainvoke({"messages": [("human", QUESTION)]}, context=context))["answer"]
    texts = [s.text for s in answer.sentences]
    assert answer.text and (texts or (answer.abstained and answer.why))
    assert answer.model_calls <= CALLS
    assert len(server.requests) <= 3 * CALLS  # a refusal that its client tries again costs nothing
    assert len(set(texts)) == len(texts) <= 2 * context.sentences
    assert not any(sign in answer.text for sign in ("<think", "http://", "\ud800", "Query:", "tool_call"))
    assert all(s.support != "verified" for s in answer.sentences if "1804" in s.text)
    if answer.mode == "extractive":
        assert answer.notes or answer.abstained


@pytest.mark.parametrize("asked", [agent, crag], ids=["agent", "crag"])
async def test_a_reply_that_breaks_off_before_a_sentence_was_shown_is_asked_for_again(
    server: ScriptedServer, asked: Any
) -> None:
    label = "" if asked is crag else "Final Answer: "
    server.queue(Fault.cut(parts=(label, "It ", "was ")), f"{label}It was opened in 1931 [1].")
    answer: Answer = (await asked.graph.ainvoke({"messages": [("human", QUESTION)]}))["answer"]
    assert answer.text.startswith("It was opened in 1931.") and answer.mode == "llm" and not answer.notes
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "begun", [[], ["Final Answer: ", "It was 1931, by a mayor [1]. "]], ids=["nothing", "a sentence"]
)
async def test_a_reply_that_drips_without_end_is_waited_for_once_a_turn(
    server: ScriptedServer, begun: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_TIMEOUT", "0.6")
    model_settings.cache_clear()
    server.part_delay = 0.05
    server._react = lambda _: [*begun, *["opened "] * 200]
    context = Context(check_by="on")
    answer: Answer = (await graph.ainvoke({"messages": [("human", QUESTION)]}, context=context))["answer"]
    assert len(server.requests) == 1 and answer.model_calls == 1 + bool(begun)
    assert "1931" in answer.text
    assert [n for n in answer.notes if "did not end" in n]


@pytest.mark.parametrize("check_by", ["on", "off"])
@pytest.mark.parametrize("asked", [agent, auto_rag, crag], ids=["agent", "auto_rag", "crag"])
async def test_of_an_answer_that_was_cut_off_at_the_limit_of_tokens_whole_sentences_are_shown_and_it_is_said(
    server: ScriptedServer, asked: Any, check_by: Any
) -> None:
    label = "" if asked is crag else "Final Answer: "
    server._react = lambda r: (
        Fault.length(f"{label}It was opened in 1931 [1]. Its dome turns on fo") if r.stream else ""
    )
    context = Context(check_by=check_by)
    answer: Answer = (await asked.graph.ainvoke({"messages": [("human", QUESTION)]}, context=context))[
        "answer"
    ]
    assert [s.text for s in answer.sentences] == ["It was opened in 1931."]
    assert answer.mode == "llm"
    assert [
        n for n in answer.notes if n.startswith("The answer was cut short") and "RAGWEAVE_CHAT_TOKENS" in n
    ]


ROLLERS = "Who founded the firm that built the main telescope of the Corvane Observatory?"
OPENED = "When was the Corvane Observatory opened?"


async def ask(question: str = ROLLERS, **knobs: Any) -> dict[str, Any]:
    state: dict[str, Any] = await graph.ainvoke({"messages": [("human", question)]}, context=Context(**knobs))
    answer: Answer = state["answer"]
    assert answer.text
    assert answer.sentences or (answer.abstained and answer.why)
    return state


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "knobs", [{"max_model_calls": 0}, {"max_tokens": 1}, {"max_cost": 1e-9}, {"max_hops": 0}]
)
async def test_a_budget_of_nothing_ends_in_an_answer_that_names_it(
    play: Any, monkeypatch: pytest.MonkeyPatch, knobs: dict[str, Any]
) -> None:
    monkeypatch.setenv("RAGWEAVE_RATES", '{"scripted": [1000, 1000], "*": [1000, 1000]}')
    model_settings.cache_clear()
    model = play()
    with override(writer=model):
        answer: Answer = (await ask(OPENED, **knobs))["answer"]
    if "max_hops" not in knobs:
        assert model.calls == []
        assert any("limit" in note for note in answer.notes), answer.notes


DATES = ["2999-01-01", "1970-01-01", "yesterday", "0000-00-00", "2024-13-45", "", "[2024]", "9" * 400]


@pytest.mark.parametrize("when", DATES)
async def test_a_date_that_cannot_be_meant_neither_lifts_nor_buries_a_document(
    tmp_path: Path, when: str
) -> None:
    for name, date, fare in (("a", "2025-04-01", "3.10"), ("b", "2025-05-01", "4.20"), ("c", when, "9.90")):
        path = tmp_path / f"{name}.md"
        path.write_text(
            f"---\ndate: {date}\n---\n\n# Fare\n\nThe fare of the Pell ferry is {fare} crowns.\n", "utf-8"
        )
        stamp = datetime(1970, 1, 1, tzinfo=UTC).timestamp()
        os.utime(path, (stamp, stamp))
    await index([tmp_path])
    state = await ask("What is the fare of the Pell ferry?", mode="extractive", recency="on")
    assert "4.20" in state["answer"].text
    weights = {Path(e["locator"]["file"]).stem: e["fresh"] for e in state["evidence"]}
    assert weights["b"] > weights["c"] >= weights["a"]
