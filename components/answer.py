"""Define the answer object of CLI, servers and tests, and set its sentences out as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from ragweave.components.evidence import Citation, Sentence
from ragweave.components.markdown import as_markdown, in_block, in_markdown
from ragweave.components.phrases import SIGNS, mark

Kind = Literal["answer", "quotes", "closest", "nothing"]


class NodeUsage(BaseModel, frozen=True):
    """The calls, tokens and costs of one node."""

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
    """How far the evidence supports the answer."""
    abstained: bool = False
    """Nothing shown could answer; the closest passages may still be cited."""
    kind: Kind = "nothing"
    """Sentences of a model; quotes, if no model read the evidence; the closest passages alone; or nothing."""
    why: str = ""
    """Reason for an abstention, or empty."""
    mode: Literal["extractive", "llm"] = "extractive"
    """Whether quotes or a chat model make up the answer."""
    model: str = ""
    """Name and host of the chat model used, or empty."""
    preset: str = ""
    """Preset of the run, or empty."""
    dropped: int = 0
    """Sentences that are withheld because they are not verified, in strict checks."""
    notes: tuple[str, ...] = ()
    """Limitations of the run, in words."""
    searched: tuple[str, ...] = ()
    """Corpora and reasons of each round, in words."""
    usage: tuple[NodeUsage, ...] = ()

    @property
    def model_calls(self) -> int:
        """Chat model calls over all nodes, without cached replies."""
        return sum(u.calls for u in self.usage)

    @property
    def tokens(self) -> int:
        """Tokens in and out over all nodes."""
        return sum(u.input_tokens + u.output_tokens for u in self.usage)


def set_out(sign: str, before: str | None, text: str, marks: str = "") -> str:
    """Return a sentence with its marks as it follows the text before: in its line, list, table or as code.

    `before` is the sign of the sentence before it, None for the first.
    """
    gap = _gap(sign, before)
    if sign.startswith("```"):
        below = f"\n{marks}" if marks else ""
        return f"{gap}{sign}\n{text}\n```{below}"
    line = _joined(sign.strip(), text, marks)
    if sign != "|":
        return gap + line
    head_rule = "" if before == "|" else "\n" + "|---" * (text.count("|") + 1) + "|"
    return f"{gap}{line} |{head_rule}"


def _gap(sign: str, before: str | None) -> str:
    """Return the white space between two sentences by their signs."""
    if before is None:
        return ""
    if not sign.strip() and not before.strip():
        return sign or " "
    kind = _kind(sign)
    return "\n" if kind in ("row", "item") and kind == _kind(before) else "\n\n"


def _kind(sign: str) -> str:
    if sign[:1] == "|":
        return "row"
    if sign[:1] == "`":
        return "code"
    return "item" if sign.strip() else "prose"


def _joined(*parts: str) -> str:
    return " ".join(filter(None, parts))


def _brackets(numbers: Sequence[int]) -> str:
    return "".join(f"[{n}]" for n in numbers)


def answer_text(sentences: Sequence[Sentence], citations: Sequence[Citation] = ()) -> str:
    """Return sentences as one text with their marks; a quote below the title of its citation."""
    titles = {c.n: c.title for c in citations}
    text = ""
    before: str | None = None
    for sentence in sentences:
        title = titles.get(sentence.citations[0], "") if sentence.citations else ""
        text += following(sentence, before, title)
        before = sentence.sign
    return text


def following(sentence: Sentence, before: str | None, title: str = "") -> str:
    """Return a sentence as it follows another, with the numbers of its sources and its mark.

    A sentence that its source contradicts is struck out and followed by what the source states. A quote is
    Markdown below its `title`, with the matching words in bold.
    """
    numbers = _brackets(sentence.citations)
    if sentence.support == "quoted":
        gap = "" if before is None else "\n\n"
        head = in_block(_joined(in_markdown(title), numbers))
        return f"{gap}{head}\n\n{as_markdown(sentence.text, sentence.marked)}"
    text = struck(sentence) if sentence.support == "contradicted" else sentence.text
    note = mark(sentence.support, sentence.says, sentence.against)
    return set_out(sentence.sign, before, text, _joined(numbers, note))


def struck(sentence: Sentence) -> str:
    """Return the text of a sentence struck out in Markdown, each cell of a row apart; code is unchanged."""
    if sentence.sign.startswith("```"):
        return sentence.text
    cells: list[str] = []
    for part in sentence.text.split(" | "):
        cells.append(f"~~{part.strip()}~~" if part.strip() else part)
    return " | ".join(cells)


def behind(sentence: Sentence) -> str:
    """Return a note about a shown sentence that has its mark now; "" if the mark is only a sign."""
    note = mark(sentence.support, sentence.says, sentence.against)
    if not note or sentence.support in SIGNS:
        return ""
    numbers: list[int] = []
    for n in sentence.citations:
        if sentence.support != "contradicted" or n in sentence.against:
            numbers.append(n)
    return _joined(f"“{sentence.text}”", _brackets(numbers), note)
