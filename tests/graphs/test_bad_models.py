"""How long a question waits for each kind of bad model, and that leaving it ends the call, in virtual time."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

import httpx
import pytest
from langchain_openai import ChatOpenAI

from ragweave.components.context import Context
from ragweave.graphs import run as graphs
from ragweave.models.chat import override
from ragweave.models.settings import model_settings
from ragweave.tests.graphs.conftest import DEFAULTS, part_of
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.bad_models import KINDS, BadTransport
from ragweave.tests.support.virtual import virtual

pytestmark = pytest.mark.usefixtures("library")

ASKED = (
    "When was the Corvane Observatory opened?",
    "Who founded the Ostrander Works?",
    "青山茶什么时候采摘?",
    "How is rye bread baked?",
)
LONGEST = 60.0
"""Seconds that a reader may wait for anything to read, and then for what is next."""


@pytest.fixture(autouse=True)
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
