"""Refuse unknown knobs under `langgraph dev`, which would ignore them silently."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ragweave.components.context import MEMBER, Context
from ragweave.models.errors import InputError

_MOST = 32 << 20
"""Bytes of the largest body that is checked; the server itself handles larger ones."""
_ALIKE = 0.75
"""Similarity to the name of a knob from which an unknown entry of the configurable counts as a typing error.

Other unknown entries belong to the server.
"""


class KnownKnobs:
    """Middleware that checks requests which begin a run or store an assistant."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request with an unknown knob; pass any other on."""
        if not _sets_knobs(scope):
            await self._app(scope, receive, send)
            return
        messages = await _body(receive)
        parts = [message.get("body", b"") for message in messages]
        why = refusal(b"".join(parts))
        if why:
            await JSONResponse({"detail": why}, 422)(scope, receive, send)
            return

        async def replay() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replay, send)


def _sets_knobs(scope: Scope) -> bool:
    """Return whether a request begins a run or stores an assistant."""
    if scope["type"] != "http" or scope["method"] not in ("POST", "PATCH"):
        return False
    path = str(scope.get("path", ""))
    return path.startswith("/assistants") or "/runs" in path


async def _body(receive: Receive) -> list[Message]:
    """Return the messages with the body of a request, up to the largest size that is checked."""
    messages: list[Message] = []
    size = 0
    more = True
    while more and size <= _MOST:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    return messages


def refusal(body: bytes) -> str:
    """Return why the knobs in a request cannot be used, or ""; a body that is not JSON is accepted."""
    try:
        sent = json.loads(body) if len(body) <= _MOST else None
    except (ValueError, RecursionError):
        return ""
    for name in _unknown(sent):
        try:
            Context(**{name: None})
        except InputError as error:
            return str(error)
    return ""


def _unknown(sent: Any) -> Iterator[str]:
    """Yield the names in a request that are not knobs but should be."""
    known = {*Context.model_fields, MEMBER}
    for one in sent if isinstance(sent, list) else [sent]:
        for name in _members(one, "context"):
            if name not in known:
                yield str(name)
        for name in _members(_members(one, "config"), "configurable"):
            if name not in known and get_close_matches(str(name), Context.model_fields, 1, _ALIKE):
                yield str(name)


def _members(given: Any, name: str) -> dict[str, Any]:
    """Return an object within an object; an empty one if it is missing or something else."""
    found = given.get(name) if isinstance(given, dict) else None
    return found if isinstance(found, dict) else {}
