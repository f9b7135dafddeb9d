"""List the models that are set up, and test one; for callers who own all libraries.

API keys are never returned.
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
from ragweave.models.asr import asr
from ragweave.models.offers import OFFERS, TABLE
from ragweave.models.rerank import EMBEDDED
from ragweave.models.settings import ModelSettings, Role, model_settings
from ragweave.serve.access import CallerNow
from ragweave.serve.app_state import Body
from ragweave.serve.problems import Refused

router = APIRouter(prefix="/api/models")

_CHAT = ("writer", "reasoner", "judge", "check", "vision")
_LOCAL = frozenset(("wordllama", EMBEDDED, "fastembed", "hf", "whisper", "auto", "off"))
"""Prefixes, before the colon, of models that run in this process; chat models never do."""


@router.get("")
async def list_models(caller: CallerNow) -> dict[str, Any]:
    """List each role with its model, its host, and whether the model and a key were set for it or are absent.

    `parts` describes the benefit of a model for each part and the command to set one up. `offers` lists the
    available models.
    """
    caller.require_all()
    settings = model_settings()
    rows = await asyncio.to_thread(_roles, settings)
    offers = []
    for offer in OFFERS:
        offers.append(
            {
                "part": offer.part,
                "name": offer.name,
                "megabytes": offer.megabytes,
                "licence": offer.licence,
                "brings": offer.brings,
            }
        )
    parts = []
    for name, part in TABLE.items():
        parts.append({"part": name, **asdict(part), "command": f"ragweave setup {name}"})
    return {"roles": rows, "writers": settings.writers, "parts": parts, "offers": offers}


def _roles(settings: ModelSettings) -> list[dict[str, Any]]:
    rows = [_role(settings, role) for role in get_args(Role)]
    for row in rows:
        # Speech is `auto` from the start, but its model does not ship.
        row["absent"] = row["model"] == "auto" and asr() is None
    return rows


def _role(settings: ModelSettings, role: Role) -> dict[str, Any]:
    """Return the settings of a role as the page shows them."""
    at = settings.endpoint(role)
    # Only the roles of a chat model fall back to the writer's.
    model = at.model if role in _CHAT else str(getattr(settings, role))
    local = role not in _CHAT and model.partition(":")[0] in _LOCAL
    name = "chat" if role == "writer" else role
    return {
        "role": role,
        "model": model,
        "host": "" if local else urlsplit(at.url).hostname or "",
        "own": not settings.model_fields_set.isdisjoint((name, f"{name}_url")),
        "variable": f"RAGWEAVE_{name.upper()}",
        "key": not local and bool(at.key.get_secret_value()),
        "test": bool(model) and role != "asr" and model != EMBEDDED,
    }


class Tried(Body):
    """The writer to test; by default the usual one."""

    model: str = Field("", max_length=200)


@router.post("/{role}/test")
async def try_model(
    caller: CallerNow,
    body: Tried,
    role: Literal["writer", "reasoner", "judge", "check", "vision", "embed", "rerank"],
) -> dict[str, Any]:
    """Test a model with one small call, and return its result and duration."""
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
            ).named("chat_model_not_configured")
        said = await trial.said(role, at)
    return {"said": said, "seconds": round(time.monotonic() - began, 3)}
