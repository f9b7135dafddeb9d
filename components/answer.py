"""The answer object: one model for CLI, servers and tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from ragweave.components.evidence import Citation, Sentence
from ragweave.components.markdown import as_markdown, in_block, in_markdown
from ragweave.components.phrases import SIGNS, mark

Kind = Literal["answer", "quotes", "closest", "nothing"]


class NodeUsage(BaseModel, frozen=True):
    """What one node spent."""

    node: str
    role: str = ""
    model: str = ""
    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0


class Answer(BaseModel, frozen=True):
    """An answer that can be checked."""

    question: str = ""
    """The standalone question that was answered."""
    text: str = ""
    """The answer with numbered marks such as [1]; for an abstention, the sentence that says so."""
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    confidence: float = Field(0.0, ge=0, le=1)
    """How far the evidence carries the answer."""
    abstained: bool = False
    """Nothing is shown that could answer: what came closest may still be cited."""
    kind: Kind = "nothing"
    """Sentences that a model wrote; quotes, where no model read what was found; the closest alone; or nothing."""
    why: str = ""
    """Reason for an abstention, or empty."""
    mode: Literal["extractive", "llm"] = "extractive"
    """Who wrote it."""
    model: str = ""
    """Name and host of the chat model used, or empty."""
    preset: str = ""
    """Preset of a paper that the run was set by, or empty."""
    dropped: int = 0
    """Sentences that were written and are withheld, because only what is verified was asked for."""
    notes: tuple[str, ...] = ()
    """What could not be done, in words."""
    searched: tuple[str, ...] = ()
    """Where each round looked, and why, in words."""
    usage: tuple[NodeUsage, ...] = ()

    @property
    def model_calls(self) -> int:
        """Chat model calls over all nodes, replies from the cache not counted."""
        return sum(u.calls for u in self.usage)

    @property
    def tokens(self) -> int:
        """Tokens in and out over all nodes."""
        return sum(u.input_tokens + u.output_tokens for u in self.usage)


def set_out(sign: str, before: str | None, text: str, marks: str = "") -> str:
    """Return a sentence with its marks as it follows what was told: in its line, its list, its table or as code.

    `before` is the sign of the sentence before it, None where it is the first.
    """
    if before is None:
        gap = ""
    elif sign.strip() or before.strip():
        kinds = [
            {"|": "row", "`": "code"}.get(s[:1], "item" if s.strip() else "prose") for s in (before, sign)
        ]
        gap = "\n" if kinds in (["row", "row"], ["item", "item"]) else "\n\n"
    else:
        gap = sign or " "
    if sign.startswith("```"):
        return f"{gap}{sign}\n{text}\n```" + (f"\n{marks}" if marks else "")
    said = " ".join(filter(None, (sign.strip(), text, marks)))
    if sign != "|":
        return gap + said
    heads = "" if before == "|" else "\n" + "|---" * (text.count("|") + 1) + "|"
    return f"{gap}{said} |{heads}"


def told(sentences: Sequence[Sentence], citations: Sequence[Citation] = ()) -> str:
    """Return sentences as one text with their marks; a quote below the title of its citation."""
    signs = [None, *(s.sign for s in sentences)]
    titles = {c.n: c.title for c in citations}
    return "".join(
        following(s, before, titles.get(s.citations[0], "") if s.citations else "")
        for s, before in zip(sentences, signs, strict=False)
    )


def following(sentence: Sentence, before: str | None, title: str = "") -> str:
    """Return a sentence as it follows another, with the numbers of its sources and its mark.

    One that its source contradicts is struck out, and followed by what the source says. A quote stands in
    Markdown below its `title`, the words that match in bold.
    """
    signs = "".join(f"[{n}]" for n in sentence.citations)
    if sentence.support == "quoted":
        head = in_block(" ".join(filter(None, (in_markdown(title), signs))))
        return ("" if before is None else "\n\n") + f"{head}\n\n{as_markdown(sentence.text, sentence.marked)}"
    text = struck(sentence) if sentence.support == "contradicted" else sentence.text
    said = mark(sentence.support, sentence.says, sentence.against)
    return set_out(sentence.sign, before, text, " ".join(filter(None, (signs, said))))


def struck(sentence: Sentence) -> str:
    """Return the text of a contradicted sentence struck out in Markdown, the cells of a row each; code stays."""
    if sentence.sign.startswith("```"):
        return sentence.text
    return " | ".join(f"~~{part.strip()}~~" if part.strip() else part for part in sentence.text.split(" | "))


def behind(sentence: Sentence) -> str:
    """Return what is added to a text that has the sentence already, once it has its mark; "" if that is a sign."""
    said = mark(sentence.support, sentence.says, sentence.against)
    if not said or sentence.support in SIGNS:
        return ""
    numbers = [n for n in sentence.citations if sentence.support != "contradicted" or n in sentence.against]
    signs = "".join(f"[{n}]" for n in numbers)
    return " ".join(filter(None, (f"“{sentence.text}”", signs, said)))
