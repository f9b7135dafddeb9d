"""Questions beside a model of which a share of the calls goes wrong, in virtual time: nobody waits for a silence."""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from typing import Any

import httpx
import openai
import pytest

from ragweave.components.answer import Answer
from ragweave.components.context import Context
from ragweave.graphs.agent import graph
from ragweave.models.chat import override
from ragweave.models.errors import RagweaveError
from ragweave.models.settings import model_settings
from ragweave.tests.graphs.conftest import DEFAULTS, part_of
from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.virtual import virtual

pytestmark = pytest.mark.usefixtures("library")

QUESTIONS = int(os.environ.get("TEST_QUESTIONS", "100"))
"""Of the hard form, at each rate."""
ASKED = (
    "When was the Corvane Observatory opened?",
    "Who founded the Ostrander Works?",
    "青山茶什么时候采摘?",
    "Hello!",
)
CALLS, SECONDS, PATIENCE, SILENT = 6, 90.0, 20.0, 3_600.0


def refused(status: int, message: str = "refused", **headers: str) -> Exception:
    request = httpx.Request("POST", "http://127.0.0.1/v1/chat/completions")
    kinds = {400: openai.BadRequestError, 401: openai.AuthenticationError, 404: openai.NotFoundError}
    kinds |= {429: openai.RateLimitError}
    made = httpx.Response(status, request=request, headers=headers)
    return kinds.get(status, openai.InternalServerError)(message, response=made, body=None)


REQUEST = httpx.Request("POST", "http://127.0.0.1/v1/chat/completions")
KINDS: dict[str, Any] = {
    "limiting": refused(429),
    "limiting for an hour": refused(429, **{"retry-after": "3600"}),
    "server error": refused(500),
    "overloaded": refused(503),
    "bad request": refused(400),
    "too long": refused(400, "This model's maximum context length is 4096 tokens"),
    "wrong key": refused(401),
    "unknown model": refused(404),
    "no connection": openai.APIConnectionError(request=REQUEST),
    "time-out": openai.APITimeoutError(REQUEST),
    "silence": SILENT,
    "empty": "",
    "refusal": "I'm sorry, I can't help with that.",
    "broken JSON": '{"answer": "It was',
    "another JSON": {"result": [{"year": 1804}]},
    "a number": "1804",
    "a thought without end": "<think>" + "hm " * 2_000,
    "the same without end": "It was opened in 1804 [1]. " * 400,
    "numbers that do not exist": "Final Answer: It was opened in 1931 [7][99].",
    "another query each time": None,
}


class Faulted(ScriptedChat):
    """A model that plays its part, but for the calls that go wrong."""

    async def _agenerate(self, messages: Any, *given: Any, **options: Any) -> Any:
        await self.wait()
        return await super()._agenerate(messages, *given, **options)

    async def _astream(self, messages: Any, *given: Any, **options: Any) -> Any:
        await self.wait()
        async for chunk in super()._astream(messages, *given, **options):
            yield chunk

    async def wait(self) -> None:
        if self._draw() == SILENT:
            await asyncio.sleep(SILENT)


def faulted(kind: Any, rate: float, dice: random.Random) -> tuple[Faulted, Counter[str]]:
    counts: Counter[str] = Counter()
    due: list[bool] = [False]

    def draw() -> Any:
        due[0] = dice.random() < rate
        counts["begun"] += 1
        counts["faults"] += due[0]
        return kind if due[0] else None

    def react(messages: Any) -> Any:
        if due[0]:
            return f"Query: words {counts['begun']}" if kind is None else kind
        reply = DEFAULTS.get(part_of(messages), "Hello. What would you like to know?")
        if part_of(messages) == "reason":
            reply = "Final Answer: It was opened in 1931 [1]."
        return reply(messages) if callable(reply) else reply

    model = Faulted(react=react)
    object.__setattr__(model, "_draw", draw)
    return model, counts


async def one(
    question: str, model: Faulted, counts: Counter[str], began: float, case: tuple[str, float, int]
) -> str:
    every = {"route_by": "llm", "grade_by": "llm"} if case[2] % 2 else {}
    context, shown, state = Context(max_model_calls=CALLS, max_seconds=SECONDS, **every), [], {}
    try:
        with override(writer=model):
            async for mode, part in graph.astream(
                {"messages": [("human", question)]}, context=context, stream_mode=["custom", "values"]
            ):
                if mode == "values":
                    state = part
                elif part["type"] == "sentence":
                    shown.append(part["text"])
    except RagweaveError as error:
        assert error.remedy, case
        return "a typed error"
    answer: Answer = state["answer"]
    texts = [s.text for s in answer.sentences]
    assert answer.text and (texts or (answer.abstained and answer.why)), case
    assert len(set(texts)) == len(texts) and len(set(shown)) == len(shown), (case, shown)
    assert set(shown) <= set(texts), (case, shown, texts)
    assert answer.model_calls == counts["begun"] <= CALLS, (case, answer.model_calls, counts)
    assert time.monotonic() - began <= SECONDS + PATIENCE, case
    assert all(s.support != "verified" for s in answer.sentences if "1804" in s.text), (case, answer.text)
    return "abstained" if answer.abstained else "answered"


@pytest.mark.parametrize("questions", [len(KINDS), pytest.param(QUESTIONS, marks=pytest.mark.hard)])
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.3])
def test_a_question_ends_in_an_answer_or_a_reason_within_its_budget_and_the_meter_counts(
    monkeypatch: pytest.MonkeyPatch, rate: float, questions: int
) -> None:
    monkeypatch.setenv("RAGWEAVE_CHAT_TIMEOUT", str(PATIENCE))
    monkeypatch.setenv("RAGWEAVE_CHAT_CACHE", "false")
    model_settings.cache_clear()
    ends: Counter[str] = Counter()
    with virtual(monkeypatch) as (runner, loop):
        for n in range(questions):
            kind = list(KINDS)[n % len(KINDS)]
            dice = random.Random(f"{rate} {n}")
            model, counts = faulted(KINDS[kind], rate, dice)
            case = (kind, rate, n)
            ends[runner.run(one(dice.choice(ASKED), model, counts, time.monotonic(), case))] += 1
            ends["calls"] += counts["begun"]
            ends["faults"] += counts["faults"]
        ends["virtual seconds"] = round(loop.ahead)
    print(f"\n{rate:.0%} of {len(KINDS)} kinds, {questions} questions: {dict(ends)}")
