"""Replies of a scripted model, as text and as the parts of a stream."""

from __future__ import annotations

import json
from typing import Any


def as_text(reply: Any) -> str:
    """Return the text of a reply: a string or a list of strings unchanged, anything else as JSON."""
    if isinstance(reply, str):
        return reply
    if isinstance(reply, list) and all(isinstance(part, str) for part in reply):
        return "".join(reply)
    return json.dumps(reply, ensure_ascii=False)


def as_parts(reply: Any) -> list[str]:
    """Return the parts of a streamed reply: a list of strings unchanged, anything else word by word."""
    if isinstance(reply, list) and all(isinstance(part, str) for part in reply):
        return list(reply)
    text = as_text(reply)
    words = text.split(" ")
    return [word + (" " if i + 1 < len(words) else "") for i, word in enumerate(words)]


def count_tokens(text: str) -> int:
    """Count tokens as scripted models do: one for each word."""
    return len(text.split())
