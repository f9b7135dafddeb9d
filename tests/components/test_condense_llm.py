"""A follow-up made a question by a chat model: what is taken of its reply, and what is no question."""

from __future__ import annotations

import pytest

from ragweave.components.condense import Talk, by_model
from ragweave.components.context import Context
from ragweave.components.run_context import RunContext, TurnState
from ragweave.models.chat import override
from ragweave.models.meter import Meter
from ragweave.tests.support import ScriptedChat

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
