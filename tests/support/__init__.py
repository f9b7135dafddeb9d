"""Test kit: a scripted chat model, a scripted OpenAI server, a model hub, a tiny library."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragweave.tests.support.faults import Fault
    from ragweave.tests.support.hub import ScriptedHub
    from ragweave.tests.support.library import build_library
    from ragweave.tests.support.scripted import Call, ScriptedChat
    from ragweave.tests.support.server import Received, ScriptedServer

__all__ = [
    "Call",
    "Fault",
    "Received",
    "ScriptedChat",
    "ScriptedHub",
    "ScriptedServer",
    "build_library",
]

_HOMES = {
    "faults": ("Fault",),
    "hub": ("ScriptedHub",),
    "library": ("build_library",),
    "scripted": ("Call", "ScriptedChat"),
    "server": ("Received", "ScriptedServer"),
}


def __getattr__(name: str) -> Any:
    """Import a tool when it is first asked for: each needs other heavy packages."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"ragweave.tests.support.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
