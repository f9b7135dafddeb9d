"""Typed events of the `custom` stream: what a run is doing, as it does it."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from langchain_core.messages import AIMessageChunk
from langgraph.config import get_config
from langgraph.graph.message import push_message
from typing_extensions import TypedDict

from ragweave.minds.evidence import Citation, Sentence, Support


class Spent(TypedDict):
    """What a turn has spent up to here."""

    calls: int
    """Calls of chat models."""
    tokens: int
    """Tokens that they read and wrote."""
    seconds: float
    """Since the turn began."""


class StepEvent(TypedDict):
    """A node has finished."""

    type: Literal["step"]
    node: str
    hop: int
    by: str
    """Maker that decided: `small`, `llm`, `llm failed, small`, or a rule."""
    summary: str
    """What was decided, in words."""
    seconds: float
    data: dict[str, Any]
    """The decision itself, JSON-serialisable."""
    fallback: NotRequired[dict[str, str]]
    """Why the mind of choice did not decide, and which one stood in."""
    spent: NotRequired[Spent]
    """Not told by tasks that run side by side."""


class SentenceEvent(TypedDict):
    """A sentence has passed its check; it will not be taken back."""

    type: Literal["sentence"]
    text: str
    support: Support
    citations: list[dict[str, Any]]
    """The citations it rests on, with their numbers."""


Event = StepEvent | SentenceEvent


def sentence_event(sentence: Sentence, citations: list[Citation]) -> SentenceEvent:
    """Build the event of one checked sentence."""
    return {
        "type": "sentence",
        "text": sentence.text,
        "support": sentence.support,
        "citations": [c.model_dump() for c in citations],
    }


def push_text(message_id: str, text: str) -> None:
    """Send checked text to the `messages` stream as one chunk of the answer's message."""
    if hasattr(get_config().get("callbacks"), "handlers"):
        push_message(AIMessageChunk(content=text, id=message_id), state_key=None)
