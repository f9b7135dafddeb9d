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
        """Leave out unreadable rows: one bad row must not lose the others."""
        if not isinstance(value, list):
            return value
        rows: list[dict[str, Any]] = []
        for given in value:
            row = _row(given) if isinstance(given, dict) else None
            if row is not None:
                rows.append(row)
        return rows


def _row(given: dict[str, Any]) -> dict[str, Any] | None:
    """Read one row in any usual spelling of its verdict; None if it names no sentence or no verdict."""
    spelled = str(given.get("verdict", "")).replace("_", " ").replace("-", " ")
    verdict = " ".join(spelled.split()).strip(" .").lower()
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
        run: provides the model.
        question: question of the turn.
        passages: numbered from 1 in this order.
        sentences: the answer in its order, numbered from 1.
        cited: numbers of the passages that each sentence cites.

    Returns:
        The verdicts on each sentence, in order; none on a sentence that the reply leaves out. None if the
        reply is unreadable.
    """
    shown = [passage(n, p.title, p.text) for n, p in enumerate(passages, 1)]
    texts = "\n\n".join(shown) or "(none)"
    messages = load("verdicts", question=question, passages=texts, answer=_numbered(sentences, cited))
    tokens = sum(tokens_of(text) for _, text in messages)
    room = await run.room("check", tokens)
    if room and tokens > room:
        # A sentence whose passage was left out of the prompt would be called not found.
        run.note(
            "The answer and its passages are longer than the checking model reads at once, so nothing is"
            " marked."
        )
        return None

    def judges(reply: Verdicts) -> bool:
        return _by_sentence(reply, passages, len(sentences)) is not None

    reply = await run.json(messages, Verdicts, "check", good=judges)
    return _by_sentence(reply, passages, len(sentences)) if reply is not None else None


def _by_sentence(
    reply: Verdicts, passages: Sequence[ShownPassage], sentences: int
) -> dict[int, list[Verdict]] | None:
    """Return the verdicts by the number of their sentence, their words without titles; None for none."""
    rows: dict[int, list[Verdict]] = {}
    for verdict in reply.verdicts:
        if verdict.n <= sentences:
            words = _untitled(verdict.words, passages, verdict.passage)
            says = _untitled(verdict.says, passages, verdict.against)
            rows.setdefault(verdict.n, []).append(verdict.model_copy(update={"words": words, "says": says}))
    return rows or None


def _numbered(sentences: Sequence[str], cited: Sequence[Sequence[int]]) -> str:
    """Return sentences line by line, each with its number and the numbers of the passages that it cites."""
    lines: list[str] = []
    for n, text in enumerate(sentences, 1):
        numbers = cited[n - 1] if n <= len(cited) else ()
        marks = "".join(f"[{i}]" for i in numbers)
        lines.append(f"{n}. {text} {marks}".strip())
    return "\n".join(lines)


def _untitled(words: str, passages: Sequence[ShownPassage], number: int) -> str:
    """Return copied words without the title of their passage, which the model reads as its first line."""
    if not 0 < number <= len(passages):
        return words
    title = " ".join(passages[number - 1].title.split())
    flat = " ".join(words.split())
    rest = flat[len(title) :].strip()
    return rest if title and rest and flat.casefold().startswith(title.casefold()) else words
