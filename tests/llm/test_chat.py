"""The chat model against a real language model on llama.cpp. It proves plumbing, never quality."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from typing import TypeVar

import pytest
from pydantic import BaseModel, Field

from ragweave.models.chat import Chat, chat
from ragweave.models.errors import ModelError
from ragweave.models.meter import Meter
from ragweave.models.settings import model_settings

pytestmark = pytest.mark.llm

T = TypeVar("T")

CAPITALS = ("France", "Japan", "Egypt", "Peru")


class Verdict(Enum):
    correct = "correct"
    incorrect = "incorrect"
    ambiguous = "ambiguous"


class Grade(BaseModel):
    verdict: Verdict
    reason: str


class Queries(BaseModel):
    queries: list[str] = Field(min_length=1, max_length=4)


def writer() -> Chat:
    model = chat()
    assert model is not None
    return model


def ask(country: str) -> list[tuple[str, str]]:
    return [("system", "Answer in one short sentence."), ("user", f"What is the capital of {country}?")]


async def test_a_question_gets_text_and_its_tokens_are_counted(llm_server: object) -> None:
    meter = Meter()
    reply = await writer().text(ask("France"), node="generate", meter=meter)
    assert "Paris" in reply
    assert meter.spent.calls == 1
    assert 20 < meter.spent.input_tokens < 100
    assert 0 < meter.spent.output_tokens <= 128


async def test_a_stream_comes_in_parts_and_its_tokens_are_counted(llm_server: object) -> None:
    meter = Meter()
    parts = [part async for part in writer().stream(ask("France"), node="generate", meter=meter)]
    assert len(parts) > 3
    assert "Paris" in "".join(parts)
    assert meter.spent.input_tokens > 20
    assert len(parts) - 2 <= meter.spent.output_tokens <= len(parts) + 5


async def test_most_structured_replies_are_read_and_the_server_enforces_the_schema(
    llm_server: object, capsys: pytest.CaptureFixture[str]
) -> None:
    prompt = "Does the passage answer the question? Question: capital of {0}? Passage: {0} is a country."
    grades = await _each(lambda c, m: writer().json([("user", prompt.format(c))], Grade, node="grade", meter=m))
    queries = await _each(
        lambda c, m: writer().json(
            [("user", f"Write two web searches about {c} as JSON.")], Queries, node="expand", meter=m
        )
    )
    with capsys.disabled():
        print(f"\n  json: {_share(grades)} grades and {_share(queries)} query lists parsed, the others fell back")
    assert any(grades) and any(queries)


async def test_a_wrong_key_is_named(llm_server: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_KEY", "wrong")
    model_settings.cache_clear()
    with pytest.raises(ModelError, match=r"refused the key \(401\)"):
        await writer().text(ask("France"), node="n", meter=Meter())


async def test_a_prompt_longer_than_the_context_is_named(llm_server: object) -> None:
    with pytest.raises(ModelError, match="longer than local at"):
        await writer().text([("user", "word " * 4000)], node="n", meter=Meter())


async def _each(call: Callable[[str, Meter], Awaitable[T]]) -> list[T]:
    meter = Meter()
    return list(await asyncio.gather(*(call(c, meter) for c in CAPITALS)))


def _share(found: Sequence[object]) -> str:
    return f"{sum(f is not None for f in found)} of {len(found)}"
