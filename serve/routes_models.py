"""Which models are set up and by what, and whether one answers; for whoever may use all libraries.

No key is told.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from fastapi import APIRouter
from pydantic import Field

from ragweave.models import trial
from ragweave.models.offers import OFFERS, TABLE
from ragweave.models.rerank import EMBEDDED
from ragweave.models.settings import Role, model_settings
from ragweave.serve.access import CallerNow
from ragweave.serve.app_state import Body
from ragweave.serve.problems import Refused

router = APIRouter(prefix="/api/models")

_CHAT = ("writer", "reasoner", "judge", "check", "vision")
_HERE = frozenset(("wordllama", EMBEDDED, "fastembed", "hf", "whisper", "auto", "off"))
"""What stands before the colon where a model of another role runs in this process, and no server is asked."""


@router.get("")
async def list_models(caller: CallerNow) -> dict[str, Any]:
    """List the roles, each with its model, the host it is asked at, whether it was set itself, and whether a key is.

    `parts` tells in words what a model of each part brings and which command sets one up, `offers` what can
    be had.
    """
    caller.require_all()
    settings, rows = model_settings(), []
    for role in get_args(Role):
        at = settings.endpoint(role)
        # Only the roles of a chat model fall back to the writer's.
        model = at.model if role in _CHAT else str(getattr(settings, role))
        here = role not in _CHAT and model.partition(":")[0] in _HERE
        host, keyed = (
            ("", False) if here else (urlsplit(at.url).hostname or "", bool(at.key.get_secret_value()))
        )
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
    offers = [
        {"part": o.part, "name": o.name, "megabytes": o.megabytes, "licence": o.licence, "brings": o.brings}
        for o in OFFERS
    ]
    parts = [{"part": n, **asdict(part), "command": f"ragweave setup {n}"} for n, part in TABLE.items()]
    return {"roles": rows, "writers": settings.writers, "parts": parts, "offers": offers}


class Tried(Body):
    """Which writer is tried; empty: the usual one."""

    model: str = Field("", max_length=200)


@router.post("/{role}/test")
async def try_model(
    caller: CallerNow,
    body: Tried,
    role: Literal["writer", "reasoner", "judge", "check", "vision", "embed", "rerank"],
) -> dict[str, Any]:
    """Ask a model for one word, encode one, or order two passages; say what came back and how long it took."""
    caller.require_all()
    settings, began = model_settings(), time.monotonic()
    if role == "embed":
        said = str(await asyncio.to_thread(trial.encoded))
    elif role == "rerank":
        said = str(await asyncio.to_thread(trial.ordered))
    else:
        at = settings.endpoint(role, body.model)
        if not at.model or body.model not in ("", *settings.writers):
            raise Refused(
                409, "this chat model is not set up", "run `ragweave setup`, or set RAGWEAVE_CHAT"
            ).named("chat_model_not_set")
        said = await trial.said(role, at)
    return {"said": said, "seconds": round(time.monotonic() - began, 3)}
