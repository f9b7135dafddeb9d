"""What stands in for what the authors of a preset ran: their model, encoders, evaluator and web search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ragweave.components.context import Context
from ragweave.components.method import published_of
from ragweave.components.run_context import chosen
from ragweave.models.settings import model_settings


class StandIn(NamedTuple):
    """A part of a published run, what the authors had for it, and what this run has."""

    part: str
    published: str
    here: str

    def __str__(self) -> str:
        return f"{self.part} {self.published}: {self.here}"


def stand_ins(context: Context) -> list[StandIn]:
    """Return what a run under a preset has instead of what its authors had; what is theirs is left out."""
    rows = (
        StandIn(part, theirs, _here(part, context)) for part, theirs in published_of(context.preset).items()
    )
    return [row for row in rows if _key(row.published.partition(" ")[0]) not in _key(row.here)]


def told(context: Context) -> str:
    """Say what stands in, "" where nothing does."""
    rows = "; ".join(map(str, stand_ins(context)))
    return f"As {context.preset} was published, but for: {rows}." if rows else ""


def _key(name: str) -> str:
    return "".join(re.findall(r"[a-z0-9]", name.lower()))


def _here(part: str, context: Context) -> str:
    return next(filter(None, _named(part, context)), "none")


def _named(part: str, context: Context) -> Iterator[str]:
    """Yield what this run has for a part, the first that is not empty."""
    settings = model_settings()
    match part:
        case "chat model":
            writer = chosen("writer", context)
            yield f"{writer.name} at {writer.host}" if writer else "none, passages are quoted"
        case "text encoder":
            yield settings.embed
        case "image encoder":
            yield settings.image_text
        case "speech":
            yield settings.asr
        case "vision model":
            seer = chosen("vision", context) if context.look == "auto" else None
            yield f"{seer.name} at {seer.host}" if seer else ""
        case "router":
            yield settings.router if context.route_by in ("checkpoint", "ensemble") else ""
            yield "the chat model" if context.route_by == "llm" else ""
            yield "the head that ships"
        case "evaluator":
            yield settings.evaluator if context.grade_by == "checkpoint" else ""
            yield "the chat model" if context.grade_by == "llm" else "the head that ships"
        case "web search":
            from ragweave.corpora.web.providers import available

            yield available() if context.web != "off" else "off"
