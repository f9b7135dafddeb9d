"""A follow-up made a question by a chat model: what is taken of its reply, and what is no question."""

from __future__ import annotations

import pytest

from ragweave.components.context import Context
from ragweave.components.llm.condense import condense
from ragweave.components.protocols import Talk
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
        return await condense(RunContext("condense", Context(), TurnState(Meter())), turn, talk)


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


@pytest.mark.parametrize(
    ("turn", "before", "question"),
    [
        ("它有多少级台阶?", ("灯塔有多高?", "灯塔高31米。[1]"), "灯塔有多少级台阶?"),
        ("谁?", ("灯塔是哪一年建的?", "1874年。[1]"), "灯塔是谁建的?"),
        ("谁?", BEFORE, "这座塔是谁建的?"),
        ("为什么?", BEFORE, "为什么灯塔有31米高?"),
        ("なぜ?", ("灯台の高さは?", "31メートルです。[1]"), "なぜ灯台は31メートルですか?"),
        ("มันมีกี่ขั้น", BEFORE, "ประภาคารมีบันไดกี่ขั้น"),
        (
            "Und wie viele Stufen hat er?",
            ("Wie hoch ist der Leuchtturm?", "31 Meter. [1]"),
            "Wie viele Stufen hat der Leuchtturm?",
        ),
        ("Und warum?", BEFORE, "Warum ist der Leuchtturm 31 Meter hoch?"),
        ("Почему?", ("Какой высоты маяк?", "31 метр. [1]"), "Почему высота маяка 31 метр?"),
        ("And who was it?", ("Wer hat den Leuchtturm gebaut?", "Ada Brook. [1]"), "Who was Ada Brook?"),
        ("And why?", ("灯塔有多高?", "灯塔很高。[1]"), "Why is the lighthouse that tall?"),
        ("Sorry, what about the bridge?", BEFORE, "Sorry, how tall is the bridge?"),
        ('What is "fog"?', BEFORE, 'What is "fog"'),
        ('"Fog" or "mist"?', BEFORE, '"Fog" or "mist"'),
        (TURN, BEFORE, "Which question: that of steps, or of metres?"),
    ],
)
async def test_a_question_in_any_language_and_script_is_taken_as_it_is(
    turn: str, before: tuple[str, str], question: str
) -> None:
    assert await read(question, turn, before) == question
