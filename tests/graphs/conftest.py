"""A small library about an invented observatory, two recordings, and a chat model that plays each node's part."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from ragweave.tests.support import ScriptedChat
from ragweave.tests.support.reading import honest
from ragweave.tests.support.talks import KITCHEN, TALK, vtt

TEXTS = {
    "observatory.md": (
        """# Corvane Observatory

The Corvane Observatory stands on Mount Helder at 2,310 metres. It was opened in 1931. Its main telescope was built by
the Ostrander Works. The dome turns on forty bronze rollers, which are greased every spring.

## Visits

Visitors are welcome on Fridays from March to October. A guided tour takes ninety minutes and costs eight crowns.
"""
    ),
    "works.md": (
        """# Ostrander Works

The Ostrander Works were a maker of lenses and mounts in the harbour town of Pell. The firm was founded by Ada Ostrander
in 1889. At its height it employed 240 people and delivered instruments to eleven countries.
"""
    ),
    "bread.md": (
        """# Rye bread

Mix rye flour, water, salt and sourdough. Let the dough rest for sixteen hours. Bake it at 250 degrees for ten minutes
and at 190 degrees for fifty minutes more.
"""
    ),
    "茶.md": (
        """# 青山茶

青山茶产于北坡的茶园,每年四月采摘。茶叶要在竹匾里晾六个小时,然后用铁锅炒制。
"""
    ),
}

PARTS = {
    "condense": "rewrite the last turn",
    "route": "decide where the answer",
    "expand": "write search queries",
    "grade": "judge whether passages",
    "reason": "from numbered documents",
    "check": "check an answer, sentence by sentence",
    "recall": "write down what you know",
    "generate": "from numbered evidence",
    "converse": "needs no search",
    "search_web": "one web search query",
}


def part_of(messages: list[BaseMessage]) -> str:
    """Name the node whose prompt this is."""
    system = messages[0].text
    return next(name for name, words in PARTS.items() if words in system)


def grade_all(verdict: str) -> Callable[[list[BaseMessage]], Any]:
    """Give every passage of a grading prompt the same verdict."""

    def reply(messages: list[BaseMessage]) -> Any:
        count = len(re.findall(r"^\[(\d+)\]", messages[-1].text, re.M))
        return {"verdicts": [{"n": n, "verdict": verdict} for n in range(1, count + 1)]}

    return reply


DEFAULTS: dict[str, Any] = {
    "route": "paragraph",
    "expand": {"queries": ["observatory opening year"]},
    "grade": grade_all("relevant"),
    "reason": {"learnt": "The year is known.", "missing": "", "enough": True, "query": ""},
    "generate": "It was opened in 1931 [1].",
}


@pytest.fixture
def library(stock: Callable[[Mapping[str, str]], Path]) -> Path:
    """The indexed library in the test's own home."""
    return stock(TEXTS)


class Play:
    """Makes chat models that play the nodes' parts."""

    def __call__(self, **parts: Any) -> ScriptedChat:
        """Return a model; a part is a reply, a function of the messages, or a list of replies in order."""
        script: Mapping[str, Any] = {**DEFAULTS, **parts}
        queues = {k: list(v) for k, v in script.items() if isinstance(v, list)}

        def react(messages: list[BaseMessage]) -> Any:
            part = part_of(messages)
            reply = queues[part].pop(0) if part in queues else script[part]
            return reply(messages) if callable(reply) else reply

        return ScriptedChat(react=react, checker=parts.get("check", honest))

    def parts(self, model: ScriptedChat) -> list[str]:
        """Name the parts that a model was asked to play, in order."""
        return [part_of(list(c.messages)) for c in model.calls]

    def grades(self, verdict: str) -> Callable[[list[BaseMessage]], Any]:
        """Return a grader that gives every passage this verdict."""
        return grade_all(verdict)


@pytest.fixture
def play() -> Play:
    """The stage for scripted chat models."""
    return Play()


@pytest.fixture
def recordings(stock: Callable[[Mapping[str, str]], Path]) -> Path:
    """The two indexed recordings in the test's own home."""
    return stock({"comet.vtt": vtt(TALK), "bread.vtt": vtt(KITCHEN)})
