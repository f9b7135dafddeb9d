"""Which models are set up, and whether one answers; for whoever may use all libraries. No key is ever told."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Literal
from urllib.parse import urlsplit

from fastapi import APIRouter

from ragweave.models import embed
from ragweave.models.chat import Chat
from ragweave.models.chat_client import Served
from ragweave.models.meter import Meter
from ragweave.models.settings import Role, model_settings
from ragweave.serve.access import CallerNow
from ragweave.serve.problems import Refused

router = APIRouter(prefix="/api/models")

_CHAT = ("writer", "reasoner", "judge", "vision")
_ROLES: tuple[Role, ...] = ("writer", "reasoner", "judge", "vision", "embed", "rerank", "asr")
_TRIED = (*_CHAT, "embed")
_LONGEST = 60
"""Characters of a reply that are shown."""


@router.get("")
async def list_models(caller: CallerNow) -> dict[str, Any]:
    """List the roles, each with its model, the host it is asked at, and whether a key is set."""
    caller.require_all()
    settings, rows = model_settings(), []
    for role in _ROLES:
        at = settings.endpoint(role)
        # Only the roles of a chat model fall back to the writer's.
        model = at.model if role in _CHAT else str(getattr(settings, role))
        host, keyed = urlsplit(at.url).hostname or "", bool(at.key.get_secret_value())
        rows.append({"role": role, "model": model, "host": host, "key": keyed, "test": bool(model) and role in _TRIED})
    return {"roles": rows}


@router.post("/{role}/test")
async def try_model(
    caller: CallerNow, role: Literal["writer", "reasoner", "judge", "vision", "embed"]
) -> dict[str, Any]:
    """Ask a model for one word, or encode one, and say what came back and how long it took."""
    caller.require_all()
    settings, began = model_settings(), time.monotonic()
    if role == "embed":
        vectors = await asyncio.to_thread(lambda: embed.encoder().queries(["ready"]))
        said = f"{vectors.shape[-1]}"
    else:
        at = settings.endpoint(role)
        if not at.model:
            raise Refused(409, "no chat model is set up", "run `ragweave setup`, or set RAGWEAVE_CHAT")
        asked = Chat(role, Served.of(at, settings))
        said = await asked.text([("user", "Reply with the word: ready")], node="setup", meter=Meter())
    return {"said": " ".join(said.split())[:_LONGEST], "seconds": round(time.monotonic() - began, 3)}
