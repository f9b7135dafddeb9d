"""Put a query into the forms that the retrievers of recordings ask for, in one model call (VideoRAG, section 3.2)."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, field_validator

from ragweave.components.local import rewrite as small
from ragweave.components.protocols import Forms
from ragweave.components.run_context import RunContext
from ragweave.prompts import load


class Rewritten(BaseModel):
    """What the model is asked for."""

    statement: str = ""
    scene: str = ""
    keywords: list[str] = []

    @field_validator("statement", "scene", mode="before")
    @classmethod
    def _text(cls, value: Any) -> str:
        """Take one line of text of a usable length; anything else counts as not given."""
        text = " ".join(value.split()) if isinstance(value, str) else ""
        return text if len(text) <= small.LONGEST else ""

    @field_validator("keywords", mode="before")
    @classmethod
    def _words(cls, value: Any) -> list[str]:
        """Take a list, or one string with commas: models write both."""
        parts = re.split(r"[,;，、\n]", value) if isinstance(value, str) else value
        said = parts if isinstance(parts, list) else []
        words = [" ".join(p.split()).strip("\"'`*-") for p in said if isinstance(p, str)]
        return [w for w in words if w and len(w) <= 80][: small.KEYWORDS]


async def rewrite(run: RunContext, query: str) -> Forms | None:
    """Return the model's forms, by rule what it leaves out; None where it gives none."""
    reply = await run.json(load("rewrite", question=query), Rewritten)
    if reply is None or not (reply.statement or reply.scene or reply.keywords):
        return None
    plain = await small.rewrite(run, query)
    return {
        "statement": reply.statement or plain["statement"],
        "scene": reply.scene or plain["scene"],
        "keywords": reply.keywords or plain["keywords"],
    }
