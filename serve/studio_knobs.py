"""Knobs of a run that do not exist are refused through `langgraph dev`, which would leave them out without a word."""

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
"""Bytes of a body that is looked at; the server says itself what it thinks of longer ones."""
_ALIKE = 0.75
"""How like a knob an entry of the configurable is that may be a slip; others belong to that server."""


class KnownKnobs:
    """Looks at what begins a run or keeps an assistant, before the server does."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request that sets what is no knob, in a sentence; pass any other on."""
        path = str(scope.get("path", ""))
        asks = scope["type"] == "http" and scope["method"] in ("POST", "PATCH") and _begins(path)
        if not asks:
            await self._app(scope, receive, send)
            return
        held = [message async for message in _body(receive)]
        if why := refusal(b"".join(m.get("body", b"") for m in held)):
            await JSONResponse({"detail": why}, 422)(scope, receive, send)
            return

        async def again() -> Message:
            return held.pop(0) if held else await receive()

        await self._app(scope, again, send)


def _begins(path: str) -> bool:
    return path.startswith("/assistants") or "/runs" in path


async def _body(receive: Receive) -> Any:
    size, more = 0, True
    while more and size <= _MOST:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
        yield message


def refusal(body: bytes) -> str:
    """Return why the knobs in a request cannot be used, or ""; what is no JSON is left to the server."""
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
    known = {*Context.model_fields, MEMBER}
    for one in sent if isinstance(sent, list) else [sent]:
        context, config = (_members(one, name) for name in ("context", "config"))
        yield from (str(name) for name in context if name not in known)
        for name in _members(config, "configurable"):
            if name not in known and get_close_matches(str(name), Context.model_fields, 1, _ALIKE):
                yield str(name)


def _members(given: Any, name: str) -> dict[str, Any]:
    found = given.get(name) if isinstance(given, dict) else None
    return found if isinstance(found, dict) else {}
