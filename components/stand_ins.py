"""List what a preset's run has instead of its authors' model, encoders, evaluator and web search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ragweave.components.context import Context
from ragweave.components.method import published_of
from ragweave.components.run_context import RunContext, chosen
from ragweave.corpora.knowledge.search import has_graph
from ragweave.corpora.settings import corpora_settings
from ragweave.models.settings import model_settings

GRAPH = "entity graph"
"""The part of VideoRAG that a chat model builds while recordings are indexed."""


class StandIn(NamedTuple):
    """A part of a published run, what its authors used for it, and what this run uses."""

    part: str
    published: str
    here: str

    def __str__(self) -> str:
        return f"{self.part} {self.published}: {self.here}"


def stand_ins(context: Context, graph: bool | None = None) -> list[StandIn]:
    """Return the parts for which a run under a preset uses something else than its authors.

    Args:
        context: the knobs of the run.
        graph: whether the library that is asked has an entity graph; None: the settings say what indexing
            builds.
    """
    rows: list[StandIn] = []
    for part, theirs in published_of(context.preset).items():
        if part == GRAPH:
            here = _graph(graph)
        else:
            here = next(filter(None, _candidates(part, context)), "none")
        if here and _key(theirs.partition(" ")[0]) not in _key(here):
            rows.append(StandIn(part, theirs, here))
    return rows


def told(context: Context, graph: bool | None = None) -> str:
    """Return a sentence that names the stand-ins of a run, or ""; `graph` as `stand_ins` takes it."""
    rows = "; ".join(map(str, stand_ins(context, graph)))
    return f"As {context.preset} was published, but for: {rows}." if rows else ""


async def told_of(run: RunContext) -> str:
    """Return a sentence that names the stand-ins of a run and a missing entity graph of its recordings."""
    if GRAPH not in published_of(run.context.preset):
        return told(run.context)
    recordings = "clip" in await run.held()
    return told(run.context, not recordings or await has_graph(await run.library()))


def _graph(built: bool | None) -> str:
    """Return what there is in place of the entity graph, or "" if there is one."""
    if built or (built is None and corpora_settings().entities == "llm"):
        return ""
    return f"none{' in this library' if built is False else ''}; `ragweave setup entities` offers it"


def _key(name: str) -> str:
    """Return the letters and digits of a name, without case."""
    return "".join(re.findall(r"[a-z0-9]", name.lower()))


def _candidates(part: str, context: Context) -> Iterator[str]:
    """Yield what this run may use for a part; the first that is not empty counts."""
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
        case "cross-encoder":
            from ragweave.models.rerank import EMBEDDED

            yield "none, set RAGWEAVE_RERANK" if settings.rerank in ("", EMBEDDED) else settings.rerank
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
