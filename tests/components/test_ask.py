"""A strategy that fails is stood in for in one place; a turn belongs to the context of its run."""

from __future__ import annotations

import pytest

from ragweave.components.ask import Chosen, first_of
from ragweave.components.condense import Talk, by_model
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


BEFORE = ("How tall is the lighthouse?", "The tower is 31 metres tall. [1]")
TURN = "And how many steps does it have?"
QUESTION = "How many steps does the lighthouse have?"


async def read(reply: str, turn: str = TURN, before: tuple[str, str] = BEFORE) -> str | None:
    talk = Talk([("human", before[0]), ("ai", before[1])], before[0])
    with override(writer=ScriptedChat(replies=[reply])):
        return await by_model(RunContext("condense", Context(), TurnState(Meter())), turn, talk)


@pytest.mark.parametrize(
    "reply",
    [
        QUESTION,
        f'"{QUESTION}"',
        f"“{QUESTION}”",
        f"**{QUESTION}**",
        f"`{QUESTION}`",
        f"Standalone question: {QUESTION}",
        f"Rewritten question:\n{QUESTION}",
        f"**Standalone question:** {QUESTION}",
        f"**Question**: *{QUESTION}*",
        f"**Question: {QUESTION}**",
        f'Sure! Here is the standalone question: "{QUESTION}"',
        f'{{"question": "{QUESTION}"}}',
        f'{{\n  "thought": "of the lighthouse",\n  "standalone_question": "{QUESTION}"\n}}',
        f'```json\n{{"rewrite": "{QUESTION}"}}\n```',
        f"```\n{QUESTION}\n```",
    ],
)
async def test_the_question_is_taken_out_of_what_is_put_around_it(reply: str) -> None:
    assert await read(reply) == QUESTION


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "...",
        "？！",
        "UNKNOWN",
        "Unknown.",
        "**unknown**",
        "I'm sorry, but I can't help with that.",
        "I cannot say how many steps the lighthouse has.",
        "抱歉，我无法回答。",
        "Please provide more context.",
        "Das weiß ich nicht.",
        "{}",
        '{"question": ',
        '{"answer": {"steps": 148}}',
        '{"answer": "The lighthouse has 148 steps."}',
        f"{QUESTION}\nIt has 148.",
        "steps " * 200,
    ],
)
async def test_what_is_no_question_of_this_conversation_is_not_taken(reply: str) -> None:
    assert await read(reply) is None
