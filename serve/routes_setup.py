"""Serve the form that sets up models: list offers and the models of a server, try a model and save it.

Only the owner of the machine, or a key for all libraries, may use it. API keys are never returned.
"""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from pydantic import Field, StrictBool
from sse_starlette import EventSourceResponse, ServerSentEvent

from ragweave.models.chat_client import address
from ragweave.models.listing import models_at
from ragweave.models.offered import choices, variables
from ragweave.models.offers import TABLE, PartName
from ragweave.models.settings import ModelSettings, model_settings
from ragweave.models.user_settings import hidden, nearer
from ragweave.serve.access import CallerNow
from ragweave.serve.app_state import AppStateNow, Body
from ragweave.serve.setting_up import ModelWanted, stored_key

router = APIRouter(prefix="/api/setup")


class Address(Body):
    """A server whose models are listed; `key` defaults to the stored key of the server."""

    url: str = Field(max_length=2_000)
    key: str = Field("", max_length=4_000)


class WantedModel(Body):
    """An offered model by its text, or any model by its name; `remove` restores the default."""

    choice: str = Field("", max_length=1_000)
    model: str = Field("", max_length=500)
    url: str = Field("", max_length=2_000)
    key: str = Field("", max_length=4_000)
    remove: StrictBool = False
    again: StrictBool = Field(False, description="The libraries may be encoded again for it.")


@router.get("/{part}")
async def show_form(caller: CallerNow, part: PartName) -> dict[str, Any]:
    """Return the model of a part, and the offered models.

    `fixed` names the place of a setting that takes precedence over a saved model.
    """
    caller.require_all()
    settings, name = model_settings(), TABLE[part].setting
    url = str(getattr(settings, f"{name}_url", ""))
    key = getattr(settings, f"{name}_key", None)
    offered = []
    for choice in await choices(part):
        missing = f"pip install 'ragweave[{choice.missing}]'" if choice.missing else ""
        offered.append({"text": choice.text, "megabytes": choice.megabytes, "missing": missing})
    return {
        "title": TABLE[part].title,
        "brings": TABLE[part].brings,
        "model": str(getattr(settings, name)),
        "own": getattr(settings, name) != ModelSettings.model_fields[name].default,
        "url": hidden(f"{name}_URL", url),
        "host": address(url),
        "key": bool(key is not None and key.get_secret_value()),
        "served": part != "pictures",
        "fixed": nearer(variables(part)[:3]),
        "choices": offered,
    }


@router.post("/{part}/models")
async def list_served(caller: CallerNow, part: PartName, body: Address) -> dict[str, Any]:
    """List the models of a server, and the address that was queried."""
    caller.require_all()
    found = await models_at(body.url, body.key.strip() or stored_key(part, body.url))
    return {"url": found.url, "models": found.names}


@router.post("/{part}")
async def set_model_up(
    caller: CallerNow, app_state: AppStateNow, part: PartName, body: WantedModel
) -> EventSourceResponse:
    """Try a model, save it and use it from now on; events report the progress.

    If libraries have no vectors of an encoder, it is not saved. The event `again` has the time to encode
    them, and the same request with `again` encodes them first.
    """
    caller.require_all()
    events = app_state.setups.start(part, ModelWanted(**body.model_dump()))

    async def sent() -> Any:
        async for event in events:
            yield ServerSentEvent(json.dumps(event, ensure_ascii=False))

    return EventSourceResponse(sent(), sep="\n", ping=15)
