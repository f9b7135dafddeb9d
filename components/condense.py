"""Make a follow-up stand alone: with the question before it, or by a model in one short call."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from pydantic import BaseModel, field_validator, model_validator

from ragweave.components.ask import Outcome, first_of, model_of
from ragweave.components.prose import REFUSES
from ragweave.components.run_context import RunContext
from ragweave.models.chat_json import read_json
from ragweave.models.text import UNSPACED, clip, content_terms, words
from ragweave.prompts import load

BEFORE = 500
"""Characters of the previous question that are searched with a follow-up."""
_TURNS = 6
"""Messages before the question that the model is shown."""
_NAMED = (
    r"(?:(?:sure|certainly|of course)[,.!]\s+)?(?:here(?:['’]s| is)\s+)?"
    r"(?:(?:the|my|die|eigenständige|umformulierte|neue|独立|改写后的?|完整)\s*)*"
    r"(?:(?:stand-?alone|self-contained|rewritten|rephrased|reformulated|condensed|new|final|last)\s+)*"
    r"(?:question|query|turn|frage|pregunta|domanda|问题|質問)"
)
_LABEL = re.compile(
    rf"(?:(\*\*|__|[*_`])\s*{_NAMED}(?:\s*[:：]\s*\1|\1\s*[:：])|{_NAMED}\s*[:：])\s*(?=\S)", re.I
)
"""What some models put before the question, in bold or not."""
_AROUND = tuple(
    pair.split()
    for pair in "** **|__ __|* *|_ _|` `|\" \"|' '|“ ”|„ “|” ”|‘ ’|« »|» «|「 」|『 』".split("|")
)
"""What some models put around it: what opens, and what closes."""
_KEY = re.compile(r"question|query|turn|rewrit|output|text|frage|问题", re.I)
_CHARACTER = re.compile(rf"[{UNSPACED}]")


class Talk(NamedTuple):
    """What was said before a question.

    Attributes:
        messages: (who, text) of each message.
        previous: the question before, or "".
    """

    messages: list[tuple[str, str]]
    previous: str


class Standalone(BaseModel):
    """A question that came as JSON, whatever it is called there."""

    question: str

    @model_validator(mode="before")
    @classmethod
    def _one(cls, given: Any) -> Any:
        """Take the first text that is called a question, or what was written."""
        texts = given.items() if isinstance(given, dict) else ()
        named = [v for k, v in texts if isinstance(v, str) and _KEY.search(k)]
        return {"question": named[0]} if named else given

    @field_validator("question")
    @classmethod
    def _trimmed(cls, value: str) -> str:
        return value.strip()


async def stand_alone(run: RunContext, question: str, talk: Talk) -> Outcome[str]:
    """Return a question that can be understood without the talk that came before it."""
    return await first_of(run, model_of(run.context), by_model, locally, question, talk)


async def locally(run: RunContext, question: str, talk: Talk) -> str:
    """Return the previous question, if there is one, in front of this one."""
    return f"{clip(talk.previous, BEFORE)} {question}" if talk.previous else question


async def by_model(run: RunContext, question: str, talk: Talk) -> str | None:
    """Return the turn as a question that stands by itself, or None where the reply is something else."""
    history = "\n".join(f"{who}: {clip(text, 500)}" for who, text in talk.messages[-_TURNS:])
    messages = load("condense", history=history, question=question)
    text = await run.text(messages, good=lambda text: _standalone(text, question, talk) is not None)
    return _standalone(text, question, talk)


def _standalone(text: str, question: str, talk: Talk) -> str | None:
    """Return the question of a reply, or None where it holds something else."""
    reply = bare(text)
    # A reply far longer than the turn is an answer or a refusal, not a question.
    if not 0 < len(reply) <= max(400, 4 * len(question)) or "\n" in reply:
        return None
    refused = reply.strip(" .!").lower() == "unknown" or (
        REFUSES.match(reply) and not REFUSES.match(question)
    )
    return None if refused or not _goes_on(reply, question, [text for _, text in talk.messages]) else reply


def bare(reply: str) -> str:
    """Return a question without JSON, a label, quotes and bold around it."""
    text = reply.strip()
    if text.startswith(("{", "```")):
        found = read_json(text, Standalone)
        plain = "" if "{" in text else text.strip("`").strip()
        text = found.question if found is not None else plain
    while True:
        before = text
        text = _LABEL.sub("", text, count=1) if _LABEL.match(text) else text
        for opens, closes in _AROUND:
            inner = text[len(opens) : -len(closes)]
            if (
                text == f"{opens}{inner}{closes}"
                and inner.strip()
                and opens not in inner
                and closes not in inner
            ):
                text = inner.strip()
        if text == before:
            return text


def _goes_on(question: str, turn: str, said: list[str]) -> bool:
    """Tell whether a question shares a word of content with its turn or with what was said before.

    A turn may be of function words alone (“And why?”), which then count. Of a turn in a script without spaces
    every character counts, because nobody can tell its words for sure.
    """
    known = {*(content_terms(turn) or words(turn)), *_CHARACTER.findall(turn)}
    known.update(term for text in said for term in content_terms(text))
    return not known.isdisjoint((*content_terms(question), *words(question), *_CHARACTER.findall(question)))
