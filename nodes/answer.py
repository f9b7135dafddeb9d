"""The answer object: one model for CLI, servers and tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ragweave.minds.evidence import Citation, Sentence
from ragweave.minds.phrases import phrase

Sure = Literal["answer", "closest", "nothing"]


class NodeUsage(BaseModel):
    """What one node spent."""

    model_config = ConfigDict(frozen=True)

    node: str
    role: str = ""
    model: str = ""
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0


class Answer(BaseModel):
    """An answer that can be checked."""

    model_config = ConfigDict(frozen=True)

    question: str = ""
    """The standalone question that was answered."""
    text: str = ""
    """The answer with numbered marks such as [1]; for an abstention, the sentence that says so."""
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    confidence: float = Field(0.0, ge=0, le=1)
    """How far the evidence carries the answer."""
    abstained: bool = False
    """Nothing is claimed to be the answer: what came closest may still be quoted and cited."""
    sure: Sure = "nothing"
    """An answer; the closest that was found, which may not answer; or nothing at all."""
    why: str = ""
    """Reason for an abstention, or empty."""
    mind: Literal["small", "llm"] = "small"
    """Who wrote it."""
    model: str = ""
    """Name and host of the chat model used, or empty."""
    preset: str = ""
    """Preset of a paper that the run was set by, or empty."""
    dropped: int = 0
    """Sentences written but not shown: contradicted, or not verified where that is asked for."""
    notes: tuple[str, ...] = ()
    """What could not be done, in words."""
    searched: tuple[str, ...] = ()
    """Where each round looked, and why, in words."""
    usage: tuple[NodeUsage, ...] = ()
    trace: str = ""
    """Id of its trace in OpenTelemetry, or empty."""

    @property
    def model_calls(self) -> int:
        """Chat model calls over all nodes, replies from the cache not counted."""
        return sum(u.calls for u in self.usage)

    @property
    def tokens(self) -> int:
        """Tokens in and out over all nodes."""
        return sum(u.input_tokens + u.output_tokens for u in self.usage)


def lead(sign: str, before: str | None) -> str:
    """Return what stands before a sentence: nothing, a space, or the end of a line and its list sign.

    `before` is the sign of the sentence before it, None where it is the first.
    """
    gap = "" if before is None else "\n" if sign and before else "\n\n" if sign or before else " "
    return f"{gap}{sign} " if sign else gap


def told(sentences: Sequence[Sentence]) -> str:
    """Return sentences as one text with their marks."""
    signs = [None, *(s.sign for s in sentences)]
    return "".join(lead(s.sign, before) + marked(s) for s, before in zip(sentences, signs, strict=False))


def marked(sentence: Sentence) -> str:
    """Return a sentence followed by its citation marks, and by a word where nothing was found that says it."""
    signs = "".join(f"[{n}]" for n in sentence.citations)
    doubt = phrase("unverified", sentence.text) if sentence.support == "unverified" else ""
    return " ".join(filter(None, (sentence.text, signs, doubt)))
