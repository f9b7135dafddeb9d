"""One call of a chat model that judges all sentences of an answer against numbered passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, Field, field_validator

from ragweave.components.run_context import RunContext
from ragweave.models.chat_reply import tokens_of
from ragweave.prompts import load, passage

Said = Literal["supported", "follows", "disputed", "contradicted", "not stated", "about sources"]

_NUMBERS = ("n", "passage", "against")
_WORDS = ("words", "says")


class ShownPassage(NamedTuple):
    """A passage as the checking model reads it."""

    title: str
    text: str


class Verdict(BaseModel):
    """The verdict on one sentence, with the words that decide it."""

    n: int = Field(description="number of the sentence")
    verdict: Said
    passage: int = Field(0, description="number of the passage that decides, 0 if none does")
    words: str = Field("", description="the sentence of that passage that decides, copied")
    against: int = Field(0, description="number of a passage that says otherwise, 0 if none does")
    says: str = Field("", description="the sentence of that passage, copied")


class Verdicts(BaseModel):
    """What the model is asked for: one row a sentence, or two if two passages decide it together."""

    verdicts: list[Verdict]

    @field_validator("verdicts", mode="before")
    @classmethod
    def _readable(cls, value: Any) -> Any:
        """Leave out rows that cannot be read: one bad row must not cost the others."""
        if not isinstance(value, list):
            return value
        rows = (_row(given) for given in value if isinstance(given, dict))
        return [row for row in rows if row is not None]


def _row(given: dict[str, Any]) -> dict[str, Any] | None:
    """Read one row in any usual spelling of its verdict; None if it names no sentence or no verdict."""
    verdict = (
        " ".join(str(given.get("verdict", "")).replace("_", " ").replace("-", " ").split())
        .strip(" .")
        .lower()
    )
    row: dict[str, Any] = {"verdict": verdict}
    for key in _NUMBERS:
        row[key] = _number(given.get(key))
    for key in _WORDS:
        row[key] = str(given.get(key) or "")
    return row if row["n"] and verdict in get_args(Said) else None


def _number(given: Any) -> int:
    """Return a whole number however it is written, `[2]` too; 0 if there is none."""
    digits = str(given if given is not None else "").strip("[] ")
    return int(digits) if digits.isdecimal() and len(digits) < 5 else 0


async def ask(
    run: RunContext,
    question: str,
    passages: Sequence[ShownPassage],
    sentences: Sequence[str],
    cited: Sequence[Sequence[int]] = (),
) -> dict[int, list[Verdict]] | None:
    """Judge all sentences in one call.

    Args:
        run: lends the model.
        question: what was asked.
        passages: numbered from 1 in this order.
        sentences: the answer in its order, numbered from 1.
        cited: for each sentence the numbers of the passages that it names.

    Returns:
        The rows of each sentence, in order; a sentence that the reply leaves out has none. None if nothing
        can be read.
    """
    shown = [passage(n, p.title, p.text) for n, p in enumerate(passages, 1)]
    passages_block = "\n\n".join(shown) or "(none)"
    messages = load(
        "verdicts", question=question, passages=passages_block, answer=_numbered(sentences, cited)
    )
    tokens = sum(tokens_of(text) for _, text in messages)
    if (room := await run.room("check", tokens)) and tokens > room:
        # A sentence whose passage was left out of the prompt would be called not found.
        run.note(
            "The answer and its passages are longer than the checking model reads at once, so nothing is"
            " marked."
        )
        return None
    reply = await run.json(
        messages, Verdicts, "check", good=lambda read: any(v.n <= len(sentences) for v in read.verdicts)
    )
    rows: dict[int, list[Verdict]] = {}
    for verdict in reply.verdicts if reply is not None else []:
        if verdict.n <= len(sentences):
            words = _untitled(verdict.words, passages, verdict.passage)
            says = _untitled(verdict.says, passages, verdict.against)
            rows.setdefault(verdict.n, []).append(verdict.model_copy(update={"words": words, "says": says}))
    return rows or None


def _numbered(sentences: Sequence[str], cited: Sequence[Sequence[int]]) -> str:
    """Return sentences line by line, each with its number and the numbers of the passages that it names."""
    lines = []
    for n, text in enumerate(sentences, 1):
        names = "".join(f"[{i}]" for i in cited[n - 1]) if n <= len(cited) else ""
        lines.append(f"{n}. {text} {names}".strip())
    return "\n".join(lines)


def _untitled(words: str, passages: Sequence[ShownPassage], number: int) -> str:
    """Return copied words without the title of their passage, which is its first line to the model."""
    title = " ".join(passages[number - 1].title.split()) if 0 < number <= len(passages) else ""
    flat = " ".join(words.split())
    rest = flat[len(title) :].strip()
    return rest if title and rest and flat.casefold().startswith(title.casefold()) else words
