"""Per-run knobs. They become the form in Studio; secrets and addresses live in the environment, never here."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from ragweave.corpora.types import MAX_HALF_LIFE, Corpus, Recency

T = TypeVar("T")
_TURNS_KEPT = 100
"""Turns that one context remembers: as many as may wait or run side by side."""

Mind = Literal["auto", "small", "llm"]
AutoRagPreset = Literal["none", "nq", "triviaqa", "popqa", "hotpotqa", "2wiki"]

AUTO_RAG_PRESETS: dict[str, dict[str, int]] = {
    "nq": {"max_hops": 5, "turn_passages": 3, "max_recalls": 5},
    "triviaqa": {"max_hops": 5, "turn_passages": 3, "max_recalls": 5},
    "popqa": {"max_hops": 5, "turn_passages": 2, "max_recalls": 5},
    "hotpotqa": {"max_hops": 5, "turn_passages": 3, "max_recalls": 5},
    "2wiki": {"max_hops": 10, "turn_passages": 2, "max_recalls": 5},
}
"""Settings of the published runs of Auto-RAG, by data set."""


class Context(BaseModel):
    """What a caller may set for one run. Bounds are enforced; defaults answer well on a laptop without any key."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    _turns: OrderedDict[str, Any] = PrivateAttr(default_factory=OrderedDict)

    library: str = Field("default", min_length=1, max_length=200, description="Name of the library to ask.")
    mind: Mind = Field("auto", description="Who decides: the small models that ship, or the configured chat model.")
    route_by: Literal["auto", "small", "llm", "checkpoint", "ensemble", "hard", "soft", "unified"] = Field(
        "auto",
        description="Router; auto follows `mind`. small searches every corpus of a library of several media, unless "
        "the question names one, and weighs what it finds by its confidence; hard takes its best corpora alone, soft "
        "never does; unified searches and orders all as one.",
    )
    granularity: Literal["fine", "modality"] = Field(
        "fine",
        description="Tell paragraph from document and clip from video, or search both of a modality (four labels).",
    )
    grade_by: Literal["auto", "small", "llm", "checkpoint"] = Field(
        "auto", description="Evaluator for the verdict; auto follows `mind`."
    )
    corpora: tuple[Corpus, ...] = Field((), description="Search only these corpora; empty lets the router decide.")
    sources: tuple[str, ...] = Field((), max_length=200, description="Search only these source ids; empty means all.")
    videos: tuple[str, ...] = Field(
        (), max_length=200, description="Search only these recordings: file names, titles, or ids of sources."
    )
    collection: str = Field("", max_length=4_000, description="Search only sources in this folder and below it.")
    from_time: float | None = Field(None, ge=0, description="Search recordings only from this second on.")
    to_time: float | None = Field(None, ge=0, description="Search recordings only up to this second.")
    channels: tuple[Literal["chunk", "entity", "visual", "speech"], ...] = Field(
        ("chunk", "entity", "visual", "speech"), description="Ways into the recordings that are asked."
    )
    clips: int = Field(12, ge=1, le=50, description="Clips that the channels' lists are pooled to.")
    look: Literal["auto", "off"] = Field(
        "auto",
        description="Look at the pictures that were found, and at frames of clips, where a vision model is configured.",
    )
    look_frames: int = Field(15, ge=1, le=32, description="Frames of a clip that a vision model is shown.")
    references: bool = Field(True, description="Show the numbers of the sources in the answer's text.")
    answer_form: Literal["auto", "letter", "short", "sentences"] = Field(
        "auto",
        description="Full sentences, a few words (small mind: its best sentence), or an option's letter; "
        "auto takes the letter where the question states its options.",
    )
    choices: tuple[str, ...] = Field((), max_length=26, description="Answers to choose from: multiple choice.")
    top_k: int = Field(8, ge=1, le=50, description="Items kept per hop after fusion.")
    pool: int = Field(50, ge=5, le=500, description="Candidates per list before fusion and reranking.")
    phrasings: int = Field(4, ge=0, le=10, description="Rewrites beside the question (RAG-Fusion).")
    phrasing: Literal["diverse", "rephrase"] = Field(
        "diverse", description="Rewrites look from different angles, or say the same in other words."
    )
    expand_when: Literal["auto", "always", "never"] = Field(
        "auto", description="Rewrite always, never, or when the first look is weak."
    )
    fusion: Literal["scores", "rrf"] = Field(
        "scores", description="How dense and lexical lists of one query are joined."
    )
    rrf_k: int = Field(60, ge=1, le=1000, description="Constant of reciprocal rank fusion.")
    rrf_base: Literal[0, 1] = Field(1, description="Rank of the first item in reciprocal rank fusion.")
    dense_weight: float = Field(0.45, ge=0, le=100, description="Weight of a dense list beside a lexical one.")
    alpha: float = Field(
        0.8, ge=0, le=1, description="Weight of what a picture shows beside what is written about it (UniversalRAG)."
    )
    stands_out: float = Field(
        4.0,
        ge=0,
        le=100,
        description="Standard deviations by which a picture must be nearer to the question than to questions about "
        "other things, to count as neither relevant nor not.",
    )
    original_weight: float = Field(2.0, ge=0, le=100, description="Weight of the question beside each rewrite.")
    rerank: bool = Field(True, description="Order the pool with the relevance model, or the one RAGWEAVE_RERANK names.")
    rerank_when: Literal["auto", "always"] = Field(
        "auto", description="Ask a cross-encoder always, or where the relevance model finds nothing strong."
    )
    rerank_pool: int = Field(50, ge=1, le=200, description="Items of the fused pool that are reranked.")
    recency: Recency = Field(
        "auto", description="Prefer newer documents always, never, or (auto) as the library and the question ask."
    )
    half_life: float | None = Field(
        None,
        gt=0,
        le=MAX_HALF_LIFE,
        description="Days after which a document is half as new; empty: as the library says, or 7.",
    )
    recency_floor: float = Field(0.3, ge=0, le=1, description="Share of its relevance that any old document keeps.")
    max_hops: int = Field(3, ge=0, le=10, description="Rounds of retrieval (Auto-RAG T).")
    max_recalls: int = Field(0, ge=0, le=10, description="Passages the chat model may write from memory (Auto-RAG E).")
    auto_rag_preset: AutoRagPreset = Field(
        "none", description="Auto-RAG's rounds, passages and recalls for a data set; what is set besides wins over it."
    )
    turn_passages: int = Field(5, ge=1, le=20, description="New passages that the reasoning model is shown per round.")
    turn_tokens: int = Field(6000, ge=1000, le=1_000_000, description="Tokens its conversation may take.")
    hop_weight: float = Field(
        0.6, ge=0, le=5, description="What an item of a later hop earns from the item that led to it."
    )
    refine_by: Literal["auto", "small", "llm", "checkpoint"] = Field(
        "auto", description="Evaluator of strips and web pages; auto: the checkpoint where it grades, else small."
    )
    check_by: Literal["auto", "small", "llm"] = Field(
        "small",
        description="Check of each sentence; with llm the chat model has to agree as well. auto follows `mind`.",
    )
    thresholds: Literal["popqa", "pubhealth", "arc", "biography"] = Field(
        "popqa", description="Thresholds of the CRAG paper; they belong to the T5 checkpoint and count for it alone."
    )
    upper: float | None = Field(None, ge=-1, le=1, description="CRAG upper threshold; empty uses the evaluator's own.")
    lower: float | None = Field(None, ge=-1, le=1, description="CRAG lower threshold; empty uses the evaluator's own.")
    strips: int = Field(10, ge=1, le=50, description="Strips kept per hop after refinement (CRAG top-k).")
    strip_mode: Literal["sentences", "fixed", "whole"] = Field(
        "sentences", description="Strips are groups of three sentences, windows of fifty words, or whole items."
    )
    strip_threshold: float = Field(-0.5, ge=-1, le=1, description="Strips below this relevance are dropped.")
    strip_order: Literal["source", "score"] = Field(
        "source", description="Strips stand as in their source, or the best first."
    )
    web: Literal["off", "ask", "auto"] = Field("off", description="Web search: never, after consent, or when needed.")
    answerable: float | None = Field(
        None, ge=-1, le=1, description="Relevance to the question below which the small mind declines; empty: measured."
    )
    sentences: int = Field(3, ge=1, le=12, description="Longest extractive answer, in sentences.")
    max_model_calls: int = Field(40, ge=0, le=10_000, description="Chat model calls this run may make.")
    max_tokens: int = Field(0, ge=0, description="Tokens this run may use, in and out; 0 means no limit.")
    max_seconds: float = Field(0, ge=0, description="Seconds this run may take; 0 means no limit.")
    max_cost: float = Field(
        0, ge=0, description="Money this run may cost, in the unit of your rates; 0 means no limit."
    )

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, given: Any) -> Any:
        preset = AUTO_RAG_PRESETS.get(str(given.get("auto_rag_preset"))) if isinstance(given, dict) else None
        return {**preset, **given} if preset else given

    @model_validator(mode="after")
    def _ordered(self) -> Context:
        if self.upper is not None and self.lower is not None and self.lower > self.upper:
            raise ValueError("the lower threshold lies above the upper one")
        if self.from_time is not None and self.to_time is not None and self.to_time <= self.from_time:
            raise ValueError("the time range ends before it begins")
        if len(self.choices) == 1 or len(set(self.choices)) < len(self.choices):
            raise ValueError("a multiple choice needs at least two different answers")
        return self

    @classmethod
    def of(cls, runtime: Any) -> Context:
        """Return the run's context; plain `graph.invoke(x)` gives none, some servers give a dict."""
        given = getattr(runtime, "context", None)
        if given is None:
            return cls()
        return given if isinstance(given, cls) else cls.model_validate(cast(Any, given))

    def turn(self, name: str, make: Callable[[], T]) -> T:
        """Return what the nodes of one turn share; it lives with the context of its run, and `make` opens it."""
        if name not in self._turns:
            self._turns[name] = make()
            while len(self._turns) > _TURNS_KEPT:
                self._turns.popitem(last=False)
        return cast("T", self._turns[name])
