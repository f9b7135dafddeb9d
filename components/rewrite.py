"""Rewrite a query into the forms that the retrievers of recordings need (VideoRAG, section 3.2)."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel, field_validator
from typing_extensions import TypedDict

from ragweave.components.ask import Outcome, first_of, model_of
from ragweave.components.run_context import RunContext
from ragweave.models.text import clip, content_terms
from ragweave.prompts import load

LONGEST = 400
"""Characters of a form; a longer one is prose about it."""
KEYWORDS = 12
_LONGEST_KEYWORD = 80


class Forms(TypedDict):
    """A query in the forms that the retrievers of recordings need."""

    statement: str
    """Declarative sentence, for entities."""
    scene: str
    """Description of the scene, for pictures."""
    keywords: list[str]
    """Words to be heard or shown."""


class Rewritten(BaseModel):
    """What the model is asked for."""

    statement: str = ""
    scene: str = ""
    keywords: list[str] = []

    @field_validator("statement", "scene", mode="before")
    @classmethod
    def _text(cls, value: Any) -> str:
        """Return one line of text of a usable length, "" for anything else."""
        text = " ".join(value.split()) if isinstance(value, str) else ""
        return text if len(text) <= LONGEST else ""

    @field_validator("keywords", mode="before")
    @classmethod
    def _words(cls, value: Any) -> list[str]:
        """Read a list, or one string with commas: models write both."""
        parts = re.split(r"[,;，、\n]", value) if isinstance(value, str) else value
        if not isinstance(parts, list):
            return []
        words: list[str] = []
        for part in parts:
            word = " ".join(part.split()).strip("\"'`*-") if isinstance(part, str) else ""
            if 0 < len(word) <= _LONGEST_KEYWORD:
                words.append(word)
        return words[:KEYWORDS]


async def forms_of(run: RunContext, query: str) -> Outcome[Forms]:
    """Return the forms of a query; a model writes them for the form VideoRAG or high effort."""
    context = run.context
    by_chat = context.method.form == "video-rag" or context.effort == "high"
    choice = "auto" if by_chat else "local"
    return await first_of(run, model_of(run.context, choice=choice), by_model, locally, query)


async def locally(run: RunContext, query: str) -> Forms:
    """Return the query as statement, its content words as scene and keywords."""
    words: list[str] = []
    for part in query.split():
        word = part.strip("?,.!;:？\"'“”()")
        if word and content_terms(word):
            words.append(word)
    return {
        "statement": clip(query, LONGEST),
        "scene": " ".join(words) or query,
        "keywords": words[:KEYWORDS],
    }


async def by_model(run: RunContext, query: str) -> Forms | None:
    """Return the model's forms, completed by rule; None if it gives none."""
    reply = await run.json(load("rewrite", question=query), Rewritten)
    if reply is None or not (reply.statement or reply.scene or reply.keywords):
        return None
    plain = await locally(run, query)
    return {
        "statement": reply.statement or plain["statement"],
        "scene": reply.scene or plain["scene"],
        "keywords": reply.keywords or plain["keywords"],
    }
