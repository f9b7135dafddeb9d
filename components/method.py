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
    "auto-rag-paper",
    "video-rag-paper",
]
Form = Literal["own", "universal-rag", "rag-fusion", "rag-fusion-seed", "crag", "auto-rag", "video-rag"]


_SCORED = {
    "words": "a few words: the name, number or phrase alone, no sentence around it",
    "letter": "the letter of the one best option alone, even if you are not sure",
}


class Method(BaseModel):
    """What a paper fixed and measured; a preset or an evaluation sets it, hardly ever a user."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    form: Form = Field(
        "own",
        description=(
            "Whose prompts and constants a run has: ours, with citations, or those of a paper, without."
        ),
    )
    answer: Literal["sentences", "words", "letter"] = Field(
        "sentences",
        description="Form in which a question set scores answers: sentences, a few words, or an option's letter.",
    )
    fusion: Literal["reranked", "scores", "rrf", "dense"] = Field(
        "reranked",
        description=(
            "How dense and lexical lists are joined: by standardised scores or by ranks; dense takes the "
            "cosines alone. reranked takes scores, and the reranker then orders the best."
        ),
    )
    pool: int = Field(50, ge=1, le=500, description="Candidates per list before fusion and reranking.")
    dense_weight: float | None = Field(
        None,
        ge=0,
        le=100,
        description="Weight of a dense list beside a lexical one; empty goes by the encoder's kind.",
    )
    upper: float | None = Field(
        None, ge=-1, le=1, description="CRAG upper threshold; empty uses the evaluator's own."
    )
    lower: float | None = Field(
        None, ge=-1, le=1, description="CRAG lower threshold; empty uses the evaluator's own."
    )
    strip_mode: Literal["auto", "sentences", "whole", "all"] = Field(
        "auto",
        description=(
            "Strips are three sentences, or whole items; auto: sentences, for a chat model whole; all: "
            "sentences, and none is left out."
        ),
    )
    turn_passages: int = Field(
        10, ge=1, le=20, description="New passages that the reasoning model is shown per round."
    )
    recalls: int = Field(
        0, ge=0, le=10, description="Passages the chat model may write from memory (Auto-RAG E)."
    )
    turn_tokens: int = Field(16_000, ge=1000, le=1_000_000, description="Tokens its conversation may take.")
    channels: tuple[Literal["chunk", "entity", "visual", "speech"], ...] = Field(
        ("visual", "speech"), description="Ways into the recordings that are asked (VideoRAG)."
    )
    chunk_tokens: int = Field(
        0,
        ge=0,
        le=100_000,
        description="Tokens of transcript around the nearest clips for the writer (VideoRAG).",
    )

    @property
    def scored(self) -> str:
        """What a writer is asked for where a question set scores a few words or a letter; "" for sentences."""
        return _SCORED.get(self.answer, "")

    @property
    def reranks(self) -> bool:
        """Whether a reranker orders the pool."""
        return self.fusion == "reranked"

    @property
    def by_scores(self) -> bool:
        """Whether lists are joined by standardised scores."""
        return self.fusion in ("reranked", "scores")

    @property
    def phrasing(self) -> Literal["diverse", "seed", "article"]:
        """Prompt for rewrites: from different angles, or that of RAG-Fusion's program or article."""
        return {"rag-fusion": "article", "rag-fusion-seed": "seed"}.get(self.form, "diverse")  # type: ignore[return-value]

    @property
    def original_weight(self) -> float:
        """Weight of the question beside each rewrite; at 0 the rewrites alone are searched."""
        return {"rag-fusion": 1.0, "rag-fusion-seed": 0.0}.get(self.form, 2.0)

    @property
    def decay(self) -> Literal["bearing", "article"]:
        """How age counts: from the newest item that bears on the question, or from today (RAG-Fusion, the article)."""
        return "article" if self.form in ("rag-fusion", "rag-fusion-seed") else "bearing"

    @property
    def rrf_k(self) -> int:
        """Constant of reciprocal rank fusion; the ranks of RAG-Fusion's program count from 0: 1 / (60 + 0)."""
        return 59 if self.form == "rag-fusion-seed" else 60

    @property
    def strips(self) -> int:
        """Strips kept per hop after refinement (CRAG, section 4.4, keeps five)."""
        return 5 if self.form == "crag" else 10

    @property
    def strip_each(self) -> bool:
        """Whether the best strip of every item is kept, however low its relevance is."""
        return self.form != "crag"

    @property
    def look_frames(self) -> int:
        """Frames of a clip for a vision model, or of all clips for a writer (UniversalRAG, appendix B: 32)."""
        return 32 if self.form == "universal-rag" else 15

    @model_validator(mode="after")
    def _ordered(self) -> Method:
        if self.upper is not None and self.lower is not None and self.lower > self.upper:
            raise ValueError("the lower threshold lies above the upper one")
        return self


Effort = Literal["low", "normal", "high"]
EFFORTS: Mapping[str, Mapping[str, Any]] = {
    "low": {"max_hops": 1},
    "high": {"grade_by": "llm", "max_hops": 5},
}
"""Budgets of the one flow; knobs that are set besides win."""

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
    """Read the file of a preset."""
    found = tomllib.loads((_FILES / f"{name}.toml").read_text(encoding="utf-8"))
    method = {k: tuple(v) if isinstance(v, list) else v for k, v in found.get("method", {}).items()}
    return {**found, "method": method}


def published_of(name: str) -> Mapping[str, str]:
    """Return what the paper of a preset ran with, by the part of a run; nothing where it names none."""
    return {} if name == "none" else dict(_file(name).get("published", {}))


def spelled(name: str) -> str:
    """Return the name of a preset as its file has it: papers write “AutoRAG” and “Auto-RAG”; `crag` is `crag-paper`."""
    plain = _JOINED.sub(r"\1-\2", name.lower())
    return f"{plain}-paper" if f"{plain}-paper" in PRESETS else plain


def graph_of(preset: str) -> str:
    """Return the graph that a preset belongs to; "" for `none`."""
    return str(preset_of(preset).get("graph", ""))


def of_effort(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the knobs of the effort that is named; a model grades only if there is one and it may be asked."""
    named = given.get("effort")
    knobs = dict(EFFORTS.get(named, {})) if isinstance(named, str) else {}
    if "grade_by" in knobs:
        from ragweave.models.chat import chat

        if given.get("mode") == "extractive" or chat() is None:
            del knobs["grade_by"]
        elif model_settings().evaluator:
            knobs["grade_by"] = "checkpoint"
    return knobs


def with_preset(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return knobs with those of the preset and of the effort that they name below them."""
    named, method = given.get("preset"), given.get("method", {})
    if isinstance(method, Method):
        method = method.model_dump(exclude_unset=True)
    elif not isinstance(method, Mapping):
        return dict(given)
    effort = of_effort(given)
    own = {k: v for k, v in given.items() if v != "auto" or k not in effort}
    if not isinstance(named, str) or (name := spelled(named)) not in get_args(Preset):
        return {**effort, **own, "method": method}
    knobs = {k: v for k, v in preset_of(name).items() if k != "graph"}
    return {**effort, **knobs, **own, "preset": name, "method": {**knobs.get("method", {}), **method}}


def knobs_of(preset: str) -> dict[str, Any]:
    """Return the knobs of a preset under the names by which `--set` knows them."""
    knobs = preset_of(preset)
    flat = {k: v for k, v in knobs.items() if k not in ("graph", "method")}
    return flat | {f"method.{k}": v for k, v in knobs.get("method", {}).items()}
