"""Two recordings that are only their subtitles, and a chat model that plays the parts of the video graph."""

from __future__ import annotations

from typing import Any

from ragweave.app.api import astate
from ragweave.components.context import Context
from ragweave.models.chat import override
from ragweave.tests.support import ScriptedChat

TALK = [
    (0, "Welcome to the evening talk of the Corvane Observatory."),
    (6, "Tonight we speak about the great comet of Pell."),
    (14, "The comet was found by Ada Ostrander in 1889."),
    (35, "Her telescope had a mirror of sixty centimetres."),
    (48, "Now a word about the weather on Mount Helder."),
    (65, "The comet returns every ninety years."),
    (80, "After the comet we look at the moon."),
    (95, "The moon has a crater that is named after Ostrander."),
    (130, "Thank you, and good night."),
]
KITCHEN = [
    (0, "Today we bake a rye bread."),
    (10, "The dough rests for sixteen hours."),
    (40, "Bake it at 250 degrees for ten minutes."),
]


def vtt(rows: list[tuple[int, str]]) -> str:
    """Write cues of five seconds."""
    cues = [f"{clock(at)} --> {clock(at + 5)}\n{text}\n" for at, text in rows]
    return "WEBVTT\n\n" + "\n".join(cues)


def clock(at: int) -> str:
    return f"{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}.000"


def script(**parts: Any) -> ScriptedChat:
    """Play the parts of the video graph."""
    words = {
        "rewrite": "prepare the search",
        "grade": "judge whether passages",
        "generate": "answer a question from numbered evidence",
        "reason": "Final Answer",
        "judge": "decide whether a clip",
        "report": "question about recordings",
    }
    count = len(TALK)
    default: dict[str, Any] = {
        "rewrite": {
            "statement": "Somebody found the comet.",
            "scene": "a comet",
            "keywords": ["comet", "found"],
        },
        "grade": {"verdicts": [{"n": n, "verdict": "relevant"} for n in range(1, count + 1)]},
        "generate": "The comet was found by Ada Ostrander in 1889 [1].",
        "reason": "Final Answer: The comet was found by Ada Ostrander in 1889 [1].",
        "judge": "yes",
        "report": "The comet was found by Ada Ostrander in 1889.",
    }

    def react(messages: list[Any]) -> Any:
        part = next(name for name, said in words.items() if said in messages[0].text)
        reply = {**default, **parts}[part]
        if isinstance(reply, Exception):
            raise reply
        return reply(messages) if callable(reply) else reply

    return ScriptedChat(react=react)


async def written(model: ScriptedChat, question: str = "Who found the comet?", **knobs: Any) -> Any:
    with override(writer=model):
        return await astate(question, context=Context(mode="llm", **knobs), graph="video_rag")
