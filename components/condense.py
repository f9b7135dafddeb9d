"""Make a follow-up question self-contained, with the previous question or by a model in one short call."""

from __future__ import annotations

import re
from itertools import chain
from typing import Any, NamedTuple

from pydantic import BaseModel, field_validator, model_validator

from ragweave.components.ask import Outcome, first_of, model_of
from ragweave.components.prose import REFUSES
from ragweave.components.run_context import RunContext
from ragweave.corpora.meta import FUNCTION_WORDS
from ragweave.models.chat_json import read_json
from ragweave.models.text import UNSPACED, clip, content_terms, stem, words
from ragweave.prompts import load

BEFORE = 500
"""Characters of the previous question that a follow-up is searched with."""
NEW_TOPIC = 2.25
"""Weight of new words from which a question opens a topic of its own (docs/extractive.md): in words that the
library lacks, because these are the rarest."""
_LACKED = " "
"""A term that no library has: terms have no space."""
_FUNCTION = frozenset(map(stem, chain.from_iterable(FUNCTION_WORDS.values())))
"""Function words of the languages that guess_language knows; content_terms leaves out only English ones."""
_TURNS = 6
"""Messages before the question that the prompt includes."""
_NAMED = (
    r"(?:(?:sure|certainly|of course)[,.!]\s+)?(?:here(?:['’]s| is)\s+)?"
    r"(?:(?:the|my|die|eigenständige|umformulierte|neue|独立|改写后的?|完整)\s*)*"
    r"(?:(?:stand-?alone|self-contained|rewritten|rephrased|reformulated|condensed|new|final|last)\s+)*"
    r"(?:question|query|turn|frage|pregunta|domanda|问题|質問)"
)
_LABEL = re.compile(
    rf"(?:(\*\*|__|[*_`])\s*{_NAMED}(?:\s*[:：]\s*\1|\1\s*[:：])|{_NAMED}\s*[:：])\s*(?=\S)", re.I
)
"""Matches a label that some models put before the question, in bold or not."""
_AROUND = (
    ("**", "**"),
    ("__", "__"),
    ("*", "*"),
    ("_", "_"),
    ("`", "`"),
    ('"', '"'),
    ("'", "'"),
    ("“", "”"),
    ("„", "“"),
    ("”", "”"),
    ("‘", "’"),
    ("«", "»"),
    ("»", "«"),
    ("「", "」"),
    ("『", "』"),
)
"""Characters that some models put around the question: opening and closing ones."""
_KEY = re.compile(r"question|query|turn|rewrit|output|text|frage|问题", re.I)
_CHARACTER = re.compile(rf"[{UNSPACED}]")


class Talk(NamedTuple):
    """The conversation before a question.

    Attributes:
        messages: (role, text) of each message.
        previous: the question before, or "".
    """

    messages: list[tuple[str, str]]
    previous: str


class Standalone(BaseModel):
    """A question in a JSON reply, whatever its key is called."""

    question: str

    @model_validator(mode="before")
    @classmethod
    def _one(cls, given: Any) -> Any:
        """Take the first text whose key means a question; without one, take the value as it is."""
        if not isinstance(given, dict):
            return given
        for key, value in given.items():
            if isinstance(value, str) and _KEY.search(key):
                return {"question": value}
        return given

    @field_validator("question")
    @classmethod
    def _trimmed(cls, value: str) -> str:
        return value.strip()


async def stand_alone(run: RunContext, question: str, talk: Talk) -> Outcome[str]:
    """Return a question that can be understood without the conversation before it."""
    return await first_of(run, model_of(run.context), by_model, locally, question, talk)


async def locally(run: RunContext, question: str, talk: Talk) -> str:
    """Return the question, with the previous one in front unless it opens a topic of its own.

    A follow-up says little that is new, and leaves out what it is about.
    """
    if not talk.previous or await weight_of_new(run, question, talk.previous) >= NEW_TOPIC:
        return question
    return f"{clip(talk.previous, BEFORE)} {question}"


async def weight_of_new(run: RunContext, question: str, previous: str) -> float:
    """Return how much a question says that the previous one does not.

    Each content word counts by its rarity in the library; 1 is a word that the library lacks. A script
    without spaces is read as overlapping pairs of characters, so a pair counts half.
    """
    new = set(content_terms(question)) - set(content_terms(previous)) - _FUNCTION
    rarity = await (await run.library()).idf({*new, _LACKED})
    total = 0.0
    for term in new:
        total += rarity[term] / 2 if _CHARACTER.search(term) else rarity[term]
    return total / rarity[_LACKED]


async def by_model(run: RunContext, question: str, talk: Talk) -> str | None:
    """Return a self-contained question, or None if the model's reply is something else."""
    lines = []
    for who, text in talk.messages[-_TURNS:]:
        lines.append(f"{who}: {clip(text, 500)}")
    messages = load("condense", history="\n".join(lines), question=question)
    text = await run.text(messages, good=lambda text: _standalone(text, question, talk) is not None)
    return _standalone(text, question, talk)


def _standalone(text: str, question: str, talk: Talk) -> str | None:
    """Return the question of a reply, or None if it is something else."""
    reply = bare(text)
    # A reply far longer than the turn is an answer or a refusal, not a question.
    if not 0 < len(reply) <= max(400, 4 * len(question)) or "\n" in reply:
        return None
    if reply.strip(" .!").lower() == "unknown":
        return None
    if REFUSES.match(reply) and not REFUSES.match(question):
        return None
    earlier = [text for _, text in talk.messages]
    return reply if _continues(reply, question, earlier) else None


def bare(reply: str) -> str:
    """Return a question without JSON, a label, quotes and bold around it."""
    text = reply.strip()
    if text.startswith(("{", "```")):
        found = read_json(text, Standalone)
        if found is not None:
            text = found.question
        else:
            text = "" if "{" in text else text.strip("`").strip()
    before = None
    while text != before:
        before = text
        if _LABEL.match(text):
            text = _LABEL.sub("", text, count=1)
        for opens, closes in _AROUND:
            text = _inside(text, opens, closes)
    return text


def _inside(text: str, opens: str, closes: str) -> str:
    """Return a text without a pair of quotes around it; as it is if it has none, or has one inside."""
    inner = text[len(opens) : -len(closes)]
    if text != f"{opens}{inner}{closes}" or not inner.strip():
        return text
    if opens in inner or closes in inner:
        return text
    return inner.strip()


def _continues(question: str, turn: str, earlier: list[str]) -> bool:
    """Return whether a question shares a content word with its turn or with the messages before it.

    If the turn has only function words (“And why?”), these count. In a script without spaces every character
    of the turn counts, because its words cannot be separated for sure.
    """
    known = {*(content_terms(turn) or words(turn)), *_CHARACTER.findall(turn)}
    for text in earlier:
        known.update(content_terms(text))
    return not known.isdisjoint((*content_terms(question), *words(question), *_CHARACTER.findall(question)))
