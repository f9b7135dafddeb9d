"""Recast the question into the forms that the channels ask for, in one model call or none (VideoRAG, section 3.2)."""

from __future__ import annotations

import re
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import Send
from pydantic import BaseModel, field_validator

from ragweave.minds.context import Context
from ragweave.minds.small.moments import asked_of
from ragweave.models.chat import Chat
from ragweave.models.text import clip, content_terms
from ragweave.nodes.expand import keyword_form
from ragweave.nodes.retrieve_video import Channel, Recast, VideoState, VideoTask
from ragweave.nodes.run import Run
from ragweave.nodes.state import State, Update
from ragweave.prompts import load

_LONGEST = 400
"""Characters of a recast; a longer one is prose about it."""
_KEYWORDS = 12
_ASKS = re.compile(
    r"^\W*(?:(?:and|so|but|then)\s+)?"
    r"(?:who|whom|whose|when|where|which|what|why|how(?: many| much| long| far| often)?"
    r"|(?:can|could|would) you|tell me|show me|do you know)\b"
    r"(?:\s+(?:is|are|was|were|do|does|did|has|have|had|can)\b)?\s*",
    re.I,
)


class Recasts(BaseModel):
    """What the model is asked for."""

    statement: str = ""
    scene: str = ""
    keywords: list[str] = []

    @field_validator("statement", "scene", mode="before")
    @classmethod
    def _text(cls, value: Any) -> str:
        """Take one line of text of a usable length; anything else counts as not given."""
        text = " ".join(value.split()) if isinstance(value, str) else ""
        return text if len(text) <= _LONGEST else ""

    @field_validator("keywords", mode="before")
    @classmethod
    def _words(cls, value: Any) -> list[str]:
        """Take a list, or one string with commas: models write both."""
        parts = re.split(r"[,;，、\n]", value) if isinstance(value, str) else value
        if not isinstance(parts, list):
            return []
        words = [" ".join(p.split()).strip("\"'`*-") for p in parts if isinstance(p, str)]
        return [w for w in words if w and len(w) <= 80][:_KEYWORDS]


async def recast(state: VideoState, runtime: Runtime[Context]) -> Update:
    """Return the statement, the scene and the keywords of the hop's query; the small mind makes them by rule."""
    run = Run.of("recast", State(turn=state.get("turn", ""), hop=state.get("hop", 1)), runtime)
    query = state["query"]
    made = await run.decide(run.chat("judge"), lambda m: _by_model(m, run, query), lambda: by_rule(query))
    asked = asked_of(query, state.get("titles", []))
    told = f"{made['statement']} | {made['scene']} | {', '.join(made['keywords'])}"
    if asked is not None:
        told += f" | of the timeline: {asked.kind} {asked.thing}".rstrip()
    return run.done(told, data={"recast": made}, recast=made)


async def _by_model(model: Chat, run: Run, query: str) -> Recast | None:
    reply = await model.json(load("recast", question=query), Recasts, node=run.node, meter=run.meter)
    if reply is None or not (reply.statement or reply.scene or reply.keywords):
        return None
    plain = await by_rule(query)
    return {
        "statement": reply.statement or plain["statement"],
        "scene": reply.scene or plain["scene"],
        "keywords": reply.keywords or plain["keywords"],
    }


async def by_rule(query: str) -> Recast:
    """Recast without a model: the question without its question words, and its content words."""
    bare = _ASKS.sub("", query).strip(" ?？")
    words = [w for w in keyword_form(query).split() if content_terms(w)]
    return {
        "statement": clip(bare or query, _LONGEST),
        "scene": " ".join(words) or query,
        "keywords": words[:_KEYWORDS],
    }


def channels(state: VideoState, runtime: Runtime[Context]) -> list[Send]:
    """Send one task per channel: those of the context, the recordings, and the timeline where it is asked."""
    wanted: list[Channel] = [*Context.of(runtime).channels, "video"]
    if asked_of(state["query"], state.get("titles", [])) is not None:
        wanted.append("timeline")
    keys = VideoTask.__annotations__
    task = {key: value for key, value in state.items() if key in keys}
    return [Send("channel", {**task, "channel": c, "recast": state["recast"]}) for c in wanted]
