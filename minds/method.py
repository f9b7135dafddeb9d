"""How the methods are run: settings that belong together, and presets that set them as the papers did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Preset = Literal[
    "none",
    "rag-fusion-paper",
    "universal-rag-paper",
    "crag-paper",
    "crag-paper-pubhealth",
    "crag-paper-arc",
    "crag-paper-biography",
    "auto-rag-paper-nq",
    "auto-rag-paper-triviaqa",
    "auto-rag-paper-popqa",
    "auto-rag-paper-hotpotqa",
    "auto-rag-paper-2wiki",
]


class Method(BaseModel):
    """What a paper fixed and measured; a preset or an evaluation sets it, hardly ever a user."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    granularity: Literal["fine", "modality"] = Field(
        "fine",
        description="Tell paragraph from document and clip from video, or search both of a modality (four labels).",
    )
    phrasing: Literal["diverse", "rephrase"] = Field(
        "diverse", description="Rewrites look from different angles, or say the same in other words."
    )
    pool: int = Field(50, ge=5, le=500, description="Candidates per list before fusion and reranking.")
    fusion: Literal["scores", "rrf"] = Field(
        "scores", description="How dense and lexical lists of one query are joined."
    )
    rrf_k: int = Field(60, ge=1, le=1000, description="Constant of reciprocal rank fusion.")
    dense_weight: float = Field(0.45, ge=0, le=100, description="Weight of a dense list beside a lexical one.")
    original_weight: float = Field(2.0, ge=0, le=100, description="Weight of the question beside each rewrite.")
    alpha: float = Field(
        0.8, ge=0, le=1, description="Weight of what a picture shows beside what is written about it (UniversalRAG)."
    )
    thresholds: Literal["popqa", "pubhealth", "arc", "biography"] = Field(
        "popqa", description="Thresholds of the CRAG paper; they belong to the T5 checkpoint and count for it alone."
    )
    upper: float | None = Field(None, ge=-1, le=1, description="CRAG upper threshold; empty uses the evaluator's own.")
    lower: float | None = Field(None, ge=-1, le=1, description="CRAG lower threshold; empty uses the evaluator's own.")
    refine_by: Literal["auto", "small", "llm", "checkpoint"] = Field(
        "auto", description="Evaluator of strips and web pages; auto: the checkpoint where it grades, else small."
    )
    strips: int = Field(10, ge=1, le=50, description="Strips kept per hop after refinement (CRAG top-k).")
    strip_mode: Literal["auto", "sentences", "fixed", "whole"] = Field(
        "auto",
        description="Strips are groups of three sentences, windows of fifty words, or whole items; auto: sentences, "
        "and for a chat model every item whole.",
    )
    strip_threshold: float = Field(-0.5, ge=-1, le=1, description="Strips below this relevance are dropped.")
    turn_passages: int = Field(10, ge=1, le=20, description="New passages that the reasoning model is shown per round.")
    turn_tokens: int = Field(16_000, ge=1000, le=1_000_000, description="Tokens its conversation may take.")
    answerable: float | None = Field(
        None, ge=0, le=1, description="How sure of a sentence the small mind must be to answer; empty: measured."
    )
    channels: tuple[Literal["chunk", "entity", "visual", "speech"], ...] = Field(
        ("chunk", "entity", "visual", "speech"), description="Ways into the recordings that are asked (VideoRAG)."
    )
    clips: int = Field(12, ge=1, le=50, description="Clips that the channels' lists are pooled to.")
    look_frames: int = Field(15, ge=1, le=32, description="Frames of a clip that a vision model is shown.")

    @model_validator(mode="after")
    def _ordered(self) -> Method:
        if self.upper is not None and self.lower is not None and self.lower > self.upper:
            raise ValueError("the lower threshold lies above the upper one")
        return self


def _auto_rag(hops: int, passages: int) -> dict[str, Any]:
    return {"max_hops": hops, "max_recalls": 5, "method": {"turn_passages": passages}}


def _crag(data: str) -> dict[str, Any]:
    return {"grade_by": "checkpoint", "method": {"thresholds": data, "strip_mode": "sentences"}}


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    "rag-fusion-paper": {
        "expand_when": "always",
        "rerank": False,
        "method": {"fusion": "rrf", "dense_weight": 1.0, "original_weight": 1.0},
    },
    "universal-rag-paper": {"route_by": "hard"},
    "crag-paper": _crag("popqa"),
    "crag-paper-pubhealth": _crag("pubhealth"),
    "crag-paper-arc": _crag("arc"),
    "crag-paper-biography": _crag("biography"),
    "auto-rag-paper-nq": _auto_rag(5, 3),
    "auto-rag-paper-triviaqa": _auto_rag(5, 3),
    "auto-rag-paper-popqa": _auto_rag(5, 2),
    "auto-rag-paper-hotpotqa": _auto_rag(5, 3),
    "auto-rag-paper-2wiki": _auto_rag(10, 2),
}
"""The knobs of the published runs; what a caller sets besides wins over them."""


def with_preset(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return knobs with those of the preset that they name below them."""
    preset = PRESETS.get(str(given.get("preset")), {})
    method = given.get("method", {})
    if isinstance(method, Method):
        method = method.model_dump(exclude_unset=True)
    elif not isinstance(method, Mapping):
        return dict(given)
    return {**preset, **given, "method": {**preset.get("method", {}), **method}}
