"""What LangServe's door sends: events that add up to the answer, in words that each client of LangServe keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_RENAMED = {"text": "content", "messages": "said"}
"""Members that the JavaScript client takes for a prompt, all else of whose object it then drops."""


def on_wire(value: Any) -> Any:
    """Return a value under names that no client takes for an object of LangChain."""
    if isinstance(value, Mapping):
        return {_RENAMED.get(name, name): on_wire(member) for name, member in value.items()}
    return [on_wire(member) for member in value] if isinstance(value, list | tuple) else value


def event_on_wire(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event as it is sent. That of the answer is what `invoke` returns.

    LangChain cannot add plain objects, and so takes the last part of a stream for its sum.
    """
    if event["type"] == "answer":
        return answer_on_wire(event["answer"])
    told: dict[str, Any] = on_wire(event)
    return told


def answer_on_wire(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer as it is sent."""
    return {"type": "answer", **on_wire(answer)}
