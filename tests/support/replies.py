"""What a scripted model may be told to say, and how that becomes text."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel


class UnexpectedModelCall(AssertionError):
    """A scripted model was called although no reply was left for it."""


class UnconsumedReplies(AssertionError):
    """Replies of a scripted model were never asked for."""


def as_text(reply: Any) -> str:
    """Return the text of a reply: strings as they are, models, dicts and lists of anything but strings as JSON."""
    if isinstance(reply, str):
        return reply
    if isinstance(reply, list) and all(isinstance(part, str) for part in reply):
        return "".join(reply)
    return json.dumps(as_value(reply), ensure_ascii=False)


def as_value(reply: Any) -> Any:
    """Return the JSON value of a structured reply."""
    return reply.model_dump(mode="json") if isinstance(reply, BaseModel) else reply


def as_parts(reply: Any) -> list[str]:
    """Return the parts in which a reply is streamed: a list of strings as given, anything else word by word."""
    if isinstance(reply, list) and all(isinstance(part, str) for part in reply):
        return list(reply)
    text = as_text(reply)
    words = text.split(" ")
    return [word + (" " if i + 1 < len(words) else "") for i, word in enumerate(words)]


def is_structured(reply: Any) -> bool:
    """Say whether a reply is a value (a dict or a Pydantic model) rather than text."""
    return isinstance(reply, dict | BaseModel)


def count_tokens(text: str) -> int:
    """Count tokens as scripted models do: one a word."""
    return len(text.split())
