"""Test kit: a scripted chat model, servers on loopback that speak for OpenAI and a model hub, a tiny library."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragweave.testing.faults import Fault
    from ragweave.testing.hub import ScriptedHub
    from ragweave.testing.library import build_library
    from ragweave.testing.replies import UnconsumedReplies, UnexpectedModelCall
    from ragweave.testing.scripted import Call, ScriptedChat
    from ragweave.testing.server import Received, ScriptedServer

__all__ = [
    "Call",
    "Fault",
    "Received",
    "ScriptedChat",
    "ScriptedHub",
    "ScriptedServer",
    "UnconsumedReplies",
    "UnexpectedModelCall",
    "build_library",
]

_HOMES = {
    "faults": ("Fault",),
    "hub": ("ScriptedHub",),
    "library": ("build_library",),
    "replies": ("UnconsumedReplies", "UnexpectedModelCall"),
    "scripted": ("Call", "ScriptedChat"),
    "server": ("Received", "ScriptedServer"),
}


def __getattr__(name: str) -> Any:
    """Import a tool when it is first asked for: each needs other heavy packages."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"ragweave.testing.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
