"""Which models are set up and by what, and whether one answers; for whoever may use all libraries. No key is told."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from fastapi import APIRouter
from pydantic import Field

from ragweave.models import embed
from ragweave.models.chat import Chat
from ragweave.models.chat_client import Served
from ragweave.models.meter import Meter
from ragweave.models.relevance_reading import Passage
from ragweave.models.rerank import EMBEDDED, reranker
from ragweave.models.settings import Role, model_settings
from ragweave.serve.access import CallerNow
from ragweave.serve.app_state import Body
from ragweave.serve.problems import Refused

router = APIRouter(prefix="/api/models")

_CHAT = ("writer", "reasoner", "judge", "vision")
_LONGEST = 60
"""Characters of a reply that are shown."""


@router.get("")
async def list_models(caller: CallerNow) -> dict[str, Any]:
    """List the roles, each with its model, the host it is asked at, whether it was set itself, and whether a key is."""
    caller.require_all()
    settings, rows = model_settings(), []
    for role in get_args(Role):
        at = settings.endpoint(role)
        # Only the roles of a chat model fall back to the writer's.
        model = at.model if role in _CHAT else str(getattr(settings, role))
        host, keyed = urlsplit(at.url).hostname or "", bool(at.key.get_secret_value())
        name = "chat" if role == "writer" else role
        rows.append(
            {
                "role": role,
                "model": model,
                "host": host,
                "own": not settings.model_fields_set.isdisjoint((name, f"{name}_url")),
                "variable": f"RAGWEAVE_{name.upper()}",
                "key": keyed,
                "test": bool(model) and role != "asr" and model != EMBEDDED,
            }
        )
    return {"roles": rows, "writers": settings.writers}


class Tried(Body):
    """Which writer is tried; empty: the usual one."""

    model: str = Field("", max_length=200)


@router.post("/{role}/test")
async def try_model(
    caller: CallerNow, body: Tried, role: Literal["writer", "reasoner", "judge", "vision", "embed", "rerank"]
) -> dict[str, Any]:
    """Ask a model for one word, encode one, or order two passages; say what came back and how long it took."""
    caller.require_all()
    settings, began = model_settings(), time.monotonic()
    if role == "embed":
        vectors = await asyncio.to_thread(lambda: embed.encoder().queries(["ready"]))
        said = f"{vectors.shape[-1]}"
    elif role == "rerank":
        said = await asyncio.to_thread(_ordered)
    else:
        at = settings.endpoint(role, body.model)
        if not at.model or body.model not in ("", *settings.writers):
            raise Refused(409, "this chat model is not set up", "run `ragweave setup`, or set RAGWEAVE_CHAT")
        asked = Chat(role, Served.of(at, settings))
        said = await asked.text([("user", "Reply with the word: ready")], node="setup", meter=Meter())
    return {"said": " ".join(said.split())[:_LONGEST], "seconds": round(time.monotonic() - began, 3)}


def _ordered() -> str:
    """Return which of two passages the reranker puts first, by its number."""
    made = reranker()
    if made is None:
        raise Refused(409, "the reranker that ships needs no trial", "set RAGWEAVE_RERANK to have another")
    passages = [Passage("", "The tea house serves three kinds of tea."), Passage("", "The lamp was first lit in 1874.")]
    return str(int(made.scores("When was the lamp first lit?", passages).argmax()) + 1)
