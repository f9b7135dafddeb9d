"""Hold the settings of the methods, and the presets that set them as the papers did."""

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
    """Settings that papers fixed and measured; a preset or an evaluation sets them, rarely a user."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    form: Form = Field(
        "own",
        description=(
            "Whose prompts and constants a run has: ours, with citations, or those of a paper, without."
        ),
    )
    answer: Literal["sentences", "words", "letter"] = Field(
        "sentences",
        description=(
            "Form in which a question set scores answers: sentences, a few words, or an option's letter."
        ),
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
        description="Weight of a dense list against a lexical one; empty goes by the encoder's kind.",
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
        """Length of the answer, in words, if a question set scores a few words or a letter; else ""."""
        return _SCORED.get(self.answer, "")

    @property
    def reranks(self) -> bool:
        """Whether a reranker orders the pool."""
        return self.fusion == "reranked"

    @property
    def cross_encodes(self) -> bool:
        """Whether a cross-encoder that is set orders the pool (RAG-Fusion, the article, section 2.1)."""
        return self.reranks or self.form == "rag-fusion"

    @property
    def by_scores(self) -> bool:
        """Whether lists are fused by standardised scores."""
        return self.fusion in ("reranked", "scores")

    @property
    def phrasing(self) -> Literal["diverse", "seed", "article"]:
        """Prompt for rewrites: from different angles, or that of RAG-Fusion's program or article."""
        if self.form == "rag-fusion":
            return "article"
        return "seed" if self.form == "rag-fusion-seed" else "diverse"

    @property
    def original_weight(self) -> float:
        """Weight of the question against each rewrite; at 0 only the rewrites are searched."""
        if self.form == "rag-fusion":
            return 1.0
        return 0.0 if self.form == "rag-fusion-seed" else 2.0

    @property
    def decay(self) -> Literal["bearing", "article"]:
        """Start of age: the newest item that bears on the question, or today (RAG-Fusion, the article)."""
        return "article" if self.form in ("rag-fusion", "rag-fusion-seed") else "bearing"

    @property
    def rrf_k(self) -> int:
        """Constant of reciprocal rank fusion; 59 for RAG-Fusion's program, whose ranks start at 0."""
        return 59 if self.form == "rag-fusion-seed" else 60

    @property
    def strips(self) -> int:
        """Strips kept per hop after refinement (CRAG, section 4.4, keeps five)."""
        return 5 if self.form == "crag" else 10

    @property
    def strip_each(self) -> bool:
        """Whether the best strip of every item is kept, even at low relevance."""
        return self.form != "crag"

    @property
    def whole_documents(self) -> bool:
        """Whether one document may fill the prompt's budget (UniversalRAG, section 2.2)."""
        return self.form == "universal-rag"

    @property
    def look_frames(self) -> int:
        """Frames of a clip for a vision model, or of all clips for a writer (UniversalRAG, appendix B)."""
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
"""Budgets of the flow; knobs that the caller sets win."""

PRESETS = tuple(name for name in get_args(Preset) if name != "none")
_FILES = Path(__file__).with_name("presets")
_JOINED = re.compile(r"^(universal|auto|video|rag)-?(rag|fusion)(?=-|$)")


@cache
def preset_of(name: str) -> Mapping[str, Any]:
    """Return the knobs of a preset and, as `graph`, its paper's control flow, from its file in `presets/`.

    Raises:
        InputError: no preset has that name.
    """
    if name == "none":
        return {}
    if name not in PRESETS:
        raise InputError(f"there is no preset named “{name}”", f"use one of: {', '.join(PRESETS)}")
    return _without(_file(name), "published")


@cache
def _file(name: str) -> Mapping[str, Any]:
    """Read the file of a preset."""
    found = tomllib.loads((_FILES / f"{name}.toml").read_text(encoding="utf-8"))
    method: dict[str, Any] = {}
    for knob, value in found.get("method", {}).items():
        method[knob] = tuple(value) if isinstance(value, list) else value
    return {**found, "method": method}


def _without(knobs: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in knobs.items() if name not in names}


def published_of(name: str) -> Mapping[str, str]:
    """Return the models and tools of a preset's paper by their part in a run; empty if it names none."""
    return {} if name == "none" else dict(_file(name).get("published", {}))


def spelled(name: str) -> str:
    """Return the name of a preset as in its file, for spellings such as “AutoRAG”, “Auto-RAG” or “crag”."""
    plain = _JOINED.sub(r"\1-\2", name.lower())
    return f"{plain}-paper" if f"{plain}-paper" in PRESETS else plain


def graph_of(preset: str) -> str:
    """Return the graph that a preset belongs to; "" for `none`."""
    return str(preset_of(preset).get("graph", ""))


def of_effort(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the knobs of the given effort; a chat model grades only if the run may call one."""
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
    """Add the knobs of the preset and of the effort that the given ones name; given ones win."""
    preset = given.get("preset")
    method = given.get("method", {})
    if isinstance(method, Method):
        method = method.model_dump(exclude_unset=True)
    elif not isinstance(method, Mapping):
        return dict(given)
    effort = of_effort(given)
    own = dict(given)
    for knob in effort:
        if own.get(knob) == "auto":  # the effort decides
            del own[knob]
    name = spelled(preset) if isinstance(preset, str) else ""
    if name not in get_args(Preset):
        return {**effort, **own, "method": method}
    knobs = _without(preset_of(name), "graph")
    return {**effort, **knobs, **own, "preset": name, "method": {**knobs.get("method", {}), **method}}


def knobs_of(preset: str) -> dict[str, Any]:
    """Return the knobs of a preset by the names that `--set` takes."""
    knobs = preset_of(preset)
    flat = _without(knobs, "graph", "method")
    for knob, value in knobs.get("method", {}).items():
        flat[f"method.{knob}"] = value
    return flat
