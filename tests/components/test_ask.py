"""A strategy that fails is stood in for in one place; a turn belongs to the context of its run."""

from __future__ import annotations

import pytest

from ragweave.components.ask import Chosen, first_of
from ragweave.components.context import Context
from ragweave.components.recall import has_memory
from ragweave.components.run_context import RunContext, TurnState
from ragweave.models.chat import override
from ragweave.models.errors import ModelError, ModelTransient
from ragweave.models.meter import Limits, Meter
from ragweave.tests.support import ScriptedChat

LLM = Chosen("llm", "http://here")


def desk() -> RunContext:
    return RunContext("route", Context(), TurnState(Meter()))


async def small(desk: RunContext, query: str) -> str:
    return f"small {query}"


def maker(outcome: str | Exception | None):
    asked: list[str] = []

    async def first(desk: RunContext, query: str) -> str | None:
        asked.append(query)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return first, asked


@pytest.mark.parametrize(
    ("outcome", "by", "why"),
    [
        (None, "local, llm unreadable", "its reply could not be read"),
        (ModelError("it broke", "mend it"), "local, llm failed", "it broke"),
    ],
)
async def test_the_small_one_stands_in_and_the_fallback_says_why(
    outcome: Exception | None, by: str, why: str
) -> None:
    at = desk()
    made = await first_of(at, LLM, maker(outcome)[0], small, "q")
    assert (made.value, made.by) == ("small q", by)
    assert (
        made.fallback is not None and made.fallback.why.startswith(why) and made.fallback.stood_in == "local"
    )
    assert len(at.notes) == 1 and why.removeprefix("its ") in at.notes[0]


async def test_a_limit_of_the_run_is_left_to_its_end_to_tell() -> None:
    at = RunContext("route", Context(), TurnState(Meter(Limits(calls=0))))

    async def first(desk: RunContext, query: str) -> str | None:
        desk.meter.reserve("route")
        return None

    made = await first_of(at, LLM, first, small, "q")
    assert made.fallback is not None and "limit of 0 model calls" in made.fallback.why
    assert at.meter.refused == "0 model calls" and at.notes == []


async def test_a_model_that_cannot_be_reached_is_asked_and_noted_once_a_turn() -> None:
    at = desk()
    first, asked = maker(ModelTransient("it is down", "start it"))
    await first_of(at, LLM, first, small, "one")
    made = await first_of(at, LLM, first, small, "two")
    assert asked == ["one"] and len(at.notes) == 1
    assert made.fallback is not None and made.fallback.kind == "down"


def test_no_model_recalls_without_one_and_a_run_that_wants_one_must_have_it() -> None:
    assert not has_memory(Context())
    with override(writer=ScriptedChat(replies=[])):
        assert has_memory(Context())
        assert not has_memory(Context(mode="extractive"))
    with pytest.raises(ModelError, match="RAGWEAVE_CHAT"):
        has_memory(Context(mode="llm"))
