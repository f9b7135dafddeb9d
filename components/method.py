"""How the methods are run: settings that belong together, and presets that set them as the papers did."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ragweave.models.errors import InputError
from ragweave.models.settings import model_settings

Preset = Literal[
    "none",
    "rag-fusion-paper",
    "rag-fusion-seed",
    "universal-rag-paper",
    "crag-paper",
    "crag-paper-pubhealth",
    "crag-paper-arc",
    "crag-paper-biography",
    "auto-rag-paper",
    "auto-rag-paper-nq",
    "auto-rag-paper-triviaqa",
    "auto-rag-paper-popqa",
    "auto-rag-paper-hotpotqa",
    "auto-rag-paper-2wiki",
    "video-rag-paper",
]


class Method(BaseModel):
    """What a paper fixed and measured; a preset or an evaluation sets it, hardly ever a user."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    granularity: Literal["fine", "modality"] = Field(
        "fine",
        description="Tell paragraph from document and clip from video, or search both of a modality (four labels).",
    )
    form: Literal["own", "universal-rag", "rag-fusion", "crag", "auto-rag", "video-rag"] = Field(
        "own",
        description="How a chat model is asked for the answer: in our form with citations, or in that of a paper "
        "without.",
    )
    phrasing: Literal["diverse", "seed", "article"] = Field(
        "diverse",
        description="Rewrites look from different angles, or come from the prompt of RAG-Fusion's program or article.",
    )
    pool: int = Field(50, ge=1, le=500, description="Candidates per list before fusion and reranking.")
    fusion: Literal["scores", "rrf", "dense"] = Field(
        "scores",
        description="How dense and lexical lists are joined: by standardised scores or by ranks; dense takes the "
        "cosines alone.",
    )
    rrf_k: int = Field(60, ge=1, le=1000, description="Constant of reciprocal rank fusion.")
    dense_weight: float = Field(0.45, ge=0, le=100, description="Weight of a dense list beside a lexical one.")
    original_weight: float = Field(
        2.0,
        ge=0,
        le=100,
        description="Weight of the question beside each rewrite; at 0 the rewrites alone are searched.",
    )
    decay: Literal["bearing", "article"] = Field(
        "bearing",
        description="How age counts where recency is on: from the newest item that bears on the question and never to "
        "nothing, or as RAG-Fusion's article has it, the fused score times exp(-0.1 days) from today.",
    )
    alpha: float = Field(
        0.8, ge=0, le=1, description="Weight of what a picture shows beside what is written about it (UniversalRAG)."
    )
    thresholds: Literal["popqa", "pubhealth", "arc", "biography"] = Field(
        "popqa", description="Thresholds of the CRAG paper; they count for its T5 checkpoint alone."
    )
    upper: float | None = Field(None, ge=-1, le=1, description="CRAG upper threshold; empty uses the evaluator's own.")
    lower: float | None = Field(None, ge=-1, le=1, description="CRAG lower threshold; empty uses the evaluator's own.")
    strips: int = Field(10, ge=1, le=50, description="Strips kept per hop after refinement (CRAG top-k).")
    strip_mode: Literal["auto", "sentences", "whole"] = Field(
        "auto",
        description="Strips are three sentences, or whole items; auto: sentences, for a chat model whole.",
    )
    strip_threshold: float = Field(-0.5, ge=-1, le=1, description="Strips below this relevance are dropped.")
    strip_each: bool = Field(True, description="Keep the best strip of every kept item, however low it is.")
    turn_passages: int = Field(10, ge=1, le=20, description="New passages that the reasoning model is shown per round.")
    turn_tokens: int = Field(16_000, ge=1000, le=1_000_000, description="Tokens its conversation may take.")
    whole: int = Field(
        3,
        ge=0,
        le=50,
        description="Of so many best items, the documents are read whole where a round was sent to documents.",
    )
    plan_first: bool = Field(
        False, description="The reasoning model plans before the first search (Auto-RAG, section 3.1)."
    )
    channels: tuple[Literal["chunk", "entity", "visual", "speech"], ...] = Field(
        ("visual", "speech"), description="Ways into the recordings that are asked (VideoRAG)."
    )
    clips: int = Field(12, ge=1, le=50, description="Clips that the channels' lists are pooled to.")
    judge: Literal["pool", "each"] = Field(
        "pool",
        description="A model judges clips in one call, and some always stay; or each by itself, and none need stay.",
    )
    chunk_tokens: int = Field(
        0, ge=0, le=100_000, description="Tokens of transcript around the nearest clips for the writer."
    )
    look_frames: int = Field(
        15, ge=1, le=32, description="Frames of a clip for a vision model, or of all clips for a writer."
    )

    @model_validator(mode="after")
    def _ordered(self) -> Method:
        if self.upper is not None and self.lower is not None and self.lower > self.upper:
            raise ValueError("the lower threshold lies above the upper one")
        return self


Depth = Literal["fast", "thorough"]
THOROUGH: Mapping[str, Any] = {
    "route_by": "ensemble",
    "expand_when": "always",
    "grade_by": "llm",
    "max_hops": 5,
    "max_recalls": 2,
    "method": {
        "plan_first": True,
        "strip_mode": "sentences",
        "whole": 8,
        "channels": ("chunk", "entity", "visual", "speech"),
    },
}
"""Knobs of the depth `thorough`: the five methods as published, woven into one run."""

PRESETS = tuple(name for name in get_args(Preset) if name != "none")
_FILES = Path(__file__).with_name("presets")
_JOINED = re.compile(r"^(universal|auto|video|rag)-?(rag|fusion)(?=-|$)")


@cache
def preset_of(name: str) -> Mapping[str, Any]:
    """Return the knobs of a preset and, under `graph`, its paper's own control flow: one file of `presets/` each.

    Raises:
        InputError: no preset has that name.
    """
    if name == "none":
        return {}
    if name not in PRESETS:
        raise InputError(f"there is no preset named “{name}”", f"use one of: {', '.join(PRESETS)}")
    return {k: v for k, v in _file(name).items() if k != "published"}


@cache
def _file(name: str) -> Mapping[str, Any]:
    """Read the file of a preset, over that of its `base` where it names one."""
    found = tomllib.loads((_FILES / f"{name}.toml").read_text(encoding="utf-8"))
    base = _file(found.pop("base")) if "base" in found else {}
    method = {k: tuple(v) if isinstance(v, list) else v for k, v in found.get("method", {}).items()}
    return {**base, **found, "method": {**base.get("method", {}), **method}}


def published_of(name: str) -> Mapping[str, str]:
    """Return what the paper of a preset ran with, by the part of a run; nothing where it names none."""
    return {} if name == "none" else dict(_file(name).get("published", {}))


def spelled(name: str) -> str:
    """Return the name of a preset as its file has it: the papers write “AutoRAG” and “Auto-RAG”."""
    return _JOINED.sub(r"\1-\2", name.lower())


def graph_of(preset: str) -> str:
    """Return the graph that a preset belongs to; "" for `none`."""
    return str(preset_of(preset).get("graph", ""))


def of_depth(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the knobs of the depth that is named; none without a chat model, which all of them need.

    A trained evaluator grades where one is set. What is given as `auto` is left to the depth.
    """
    if given.get("depth") != "thorough" or given.get("mode") == "extractive":
        return {}
    from ragweave.models.chat import chat

    if chat() is None:
        return {}
    grades = {"grade_by": "checkpoint"} if model_settings().evaluator else {}
    return {**THOROUGH, **grades}


def with_preset(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return knobs with those of the preset and of the depth that they name below them."""
    named, method = given.get("preset"), given.get("method", {})
    if isinstance(method, Method):
        method = method.model_dump(exclude_unset=True)
    elif not isinstance(method, Mapping):
        return dict(given)
    depth = of_depth(given)
    own = {k: v for k, v in given.items() if v != "auto" or k not in depth}
    if not isinstance(named, str) or (name := spelled(named)) not in get_args(Preset):
        return {**depth, **own, "method": {**depth.get("method", {}), **method}}
    knobs = {k: v for k, v in preset_of(name).items() if k != "graph"}
    set_by = [m for m in (depth.get("method"), knobs.get("method"), method) if m]
    return {**depth, **knobs, **own, "preset": name, "method": {k: v for m in set_by for k, v in m.items()}}


def knobs_of(preset: str) -> dict[str, Any]:
    """Return the knobs of a preset under the names by which `--set` knows them."""
    knobs = preset_of(preset)
    flat = {k: v for k, v in knobs.items() if k not in ("graph", "method")}
    return flat | {f"method.{k}": v for k, v in knobs.get("method", {}).items()}
