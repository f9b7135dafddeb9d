"""The chat model against a real language model on llama.cpp. It proves plumbing, never quality."""

from __future__ import annotations

import asyncio
from enum import Enum

import pytest
from pydantic import BaseModel

from ragweave.models.chat import Chat, chat
from ragweave.models.errors import ModelError
from ragweave.models.meter import Meter
from ragweave.models.settings import model_settings
from ragweave.tests.llm.conftest import GGUF

pytestmark = pytest.mark.llm

CAPITALS = ("France", "Japan", "Egypt", "Peru")


class Verdict(Enum):
    correct = "correct"
    incorrect = "incorrect"
    ambiguous = "ambiguous"


class Grade(BaseModel):
    verdict: Verdict
    reason: str


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


async def test_a_stream_is_read_to_its_end_and_its_tokens_are_counted(llm_server: object) -> None:
    meter = Meter()
    parts = [part async for part in writer().stream(ask("France"), node="generate", meter=meter)]
    assert "Paris" in "".join(parts)
    assert meter.spent.input_tokens > 20 and meter.spent.output_tokens >= len(parts)


async def test_most_structured_replies_are_read_and_the_server_enforces_the_schema(
    llm_server: object,
) -> None:
    prompt = "Does the passage answer the question? Question: capital of {0}? Passage: {0} is a country."
    meter = Meter()
    asked = [[("user", prompt.format(country))] for country in CAPITALS]
    grades = await asyncio.gather(*(writer().json(a, Grade, node="grade", meter=meter) for a in asked))
    assert any(grades)


async def test_a_prompt_longer_than_the_context_is_named(llm_server: object) -> None:
    with pytest.raises(ModelError, match="longer than local at"):
        await writer().text([("user", "word " * 4000)], node="n", meter=Meter())


async def test_a_gguf_answers_in_this_process(llm_server: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT", f"gguf:{GGUF}")
    for name in ("URL", "KEY"):
        monkeypatch.delenv(f"RAGWEAVE_CHAT_{name}")
    model_settings.cache_clear()
    assert writer().host == "127.0.0.1"
    assert "Paris" in await writer().text(ask("France"), node="generate", meter=Meter())
