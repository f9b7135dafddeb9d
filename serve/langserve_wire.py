"""Convert events and answers to a form that all LangServe clients preserve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_RENAMED = {"text": "content", "messages": "said"}
"""Members by which the JavaScript client mistakes an object for a prompt; it drops all other members."""


def on_wire(value: Any) -> Any:
    """Return a value with members renamed that clients mistake for LangChain objects."""
    if isinstance(value, Mapping):
        return {_RENAMED.get(name, name): on_wire(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [on_wire(member) for member in value]
    return value


def event_on_wire(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event as it is sent; the answer event equals the result of `invoke`.

    LangChain cannot add plain objects, and so uses the last part of a stream as its sum.
    """
    if event["type"] == "answer":
        return answer_on_wire(event["answer"])
    converted: dict[str, Any] = on_wire(event)
    return converted


def answer_on_wire(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer as it is sent."""
    return {"type": "answer", **on_wire(answer)}
