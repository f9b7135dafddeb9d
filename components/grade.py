"""Grade the results of a hop (CRAG, section 4.2) with the shipped head, a chat model or a checkpoint."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, model_validator

from ragweave.components.ask import CHECKPOINT, Chosen, Outcome, first_of, model_of
from ragweave.components.context import Context
from ragweave.components.evidence import TEXT_LIMIT, Evidence
from ragweave.components.fusion import ALPHA
from ragweave.components.passages import reading, relevances
from ragweave.components.picture_relevance import joined
from ragweave.components.recency import refaded
from ragweave.components.run_context import RunContext
from ragweave.models.errors import ModelError
from ragweave.models.relevance import LOWER, Passage
from ragweave.models.settings import model_settings
from ragweave.models.text import clip
from ragweave.prompts import load, quote

Label = Literal["relevant", "partly", "irrelevant"]

CORRECT = 0.0
"""Relevance of the best item from which a round is correct: above it, a higher score does not find the gold
passage among the first four more often."""
VALUE: dict[Label, float] = {"relevant": 0.9, "partly": 0.0, "irrelevant": -0.9}
"""Scores of a language model's verdicts on the scale of the other evaluators."""
BY_MODEL = (0.5, -0.5)
"""Thresholds (upper, lower) for the three-way verdicts of a language model."""
BY_T5 = (0.59, -0.99)
"""Thresholds (upper, lower) of the paper's T5 evaluator, found on PopQA (CRAG, section 5)."""

_SHOWN = TEXT_LIMIT
"""Characters of a passage that a model reads to grade it."""
_MOST = 40
"""Passages that a model grades in one call; the least relevant ones are left out."""
_NUMBER = re.compile(r"(?<![\d-])\d{1,4}(?!\d)")
_SPELLINGS: dict[str, Label] = {
    **dict.fromkeys(("relevant", "yes", "true", "correct"), "relevant"),
    **dict.fromkeys(
        ("partly", "partial", "partially", "partially relevant", "partly relevant", "ambiguous", "maybe"),
        "partly",
    ),
    **dict.fromkeys(("irrelevant", "no", "false", "not relevant", "incorrect", "unrelated"), "irrelevant"),
}
"""Usual spellings of the labels."""


@dataclass(frozen=True)
class Graded:
    """Relevance of items to their query, and the thresholds of the evaluator (CRAG).

    Attributes:
        scores: one per item, in [-1, 1].
        upper: score from which an item is relevant.
        lower: score below which it is irrelevant.
    """

    scores: list[float]
    upper: float
    lower: float


async def grade_items(
    run: RunContext, query: str, items: Sequence[Evidence], reread: Collection[str]
) -> Outcome[Graded]:
    """Grade the results of a hop against its query.

    Args:
        run: provides the evaluator.
        query: query of the hop.
        items: results of the hop.
        reread: ids of items whose text has changed since `fuse` scored them.
    """
    first = evaluator_of(run.context)
    strategy = by_checkpoint if first == CHECKPOINT else by_model
    return await first_of(run, first, strategy, locally, query, items, reread)


async def score_passages(run: RunContext, query: str, passages: Sequence[Passage]) -> Outcome[list[float]]:
    """Score passages that no hop has scored, such as strips and web pages, in [-1, 1]."""
    first = evaluator_of(run.context)
    strategy = score_by_checkpoint if first == CHECKPOINT else score_by_model
    return await first_of(run, first, strategy, score_locally, query, passages)


def evaluator_of(context: Context) -> Chosen | None:
    """Return the evaluator that a run chooses (`grade_by`), or None for the shipped head.

    Raises:
        ModelError: the run requires a chat model to grade, and none is configured.
    """
    if context.grade_by == "checkpoint":
        return CHECKPOINT
    return model_of(context, choice="llm" if context.grade_by == "llm" else "local")


async def locally(run: RunContext, query: str, items: Sequence[Evidence], reread: Collection[str]) -> Graded:
    """Return the relevance by which `fuse` ordered each item; score only changed texts again."""
    changed: list[str] = []
    passages: list[Passage] = []
    for e in items:
        if e["id"] in reread:
            changed.append(e["id"])
            passages.append(reading(e))
    scores = await relevances(await run.library(), query, passages) if passages else []
    read = dict(zip(changed, scores, strict=True))
    graded: list[float] = []
    for e in items:
        graded.append(read.get(e["id"], e["relevance"]))
    return Graded(graded, CORRECT, LOWER)


async def score_locally(run: RunContext, query: str, passages: Sequence[Passage]) -> list[float]:
    """Return the absolute relevance of passages, in [-1, 1]."""
    return await relevances(await run.library(), query, passages)


class PassageVerdict(BaseModel):
    """The model's verdict over one passage."""

    n: int
    verdict: Label


class PassageVerdicts(BaseModel):
    """What the model is asked for."""

    verdicts: list[PassageVerdict]

    @model_validator(mode="before")
    @classmethod
    def _readable(cls, given: Any) -> Any:
        """Keep the readable rows: one bad row must not lose the others."""
        rows = given.get("verdicts", given) if isinstance(given, dict) else given
        if isinstance(rows, dict):
            rows = list(map(_as_row, rows.items()))
        if not isinstance(rows, list):
            raise ValueError("no list of verdicts")
        read: list[dict[str, Any]] = []
        for at, given_row in enumerate(rows, 1):
            row = _row(given_row, at)
            if row is not None:
                read.append(row)
        if not read:
            raise ValueError("no verdict can be read")
        return {"verdicts": read}


def _as_row(pair: tuple[Any, Any]) -> dict[str, Any]:
    number, verdict = pair
    return {"n": number, "verdict": verdict}


def _row(row: Any, at: int) -> dict[str, Any] | None:
    """Read one verdict in any usual spelling; a bare word is for the passage at its place in the list."""
    number: Any = at
    verdict = row
    if isinstance(row, dict):
        number, verdict = row.get("n"), row.get("verdict")
    found = _NUMBER.search(str(number))
    words = re.findall(r"[a-z]+", str(verdict).lower())
    label = _SPELLINGS.get(" ".join(words))
    return {"n": int(found.group()), "verdict": label} if found and label else None


async def by_model(
    run: RunContext, query: str, items: Sequence[Evidence], reread: Collection[str]
) -> Graded | None:
    """Return the language model's verdict on each item; None if no verdict can be read."""

    async def ask(left: Sequence[Evidence]) -> list[float] | None:
        likely = [e["relevance"] for e in left]
        return await score_by_model(run, query, list(map(reading, left)), likely)

    return await _graded(run, items, reread, ask, BY_MODEL)


async def by_checkpoint(
    run: RunContext, query: str, items: Sequence[Evidence], reread: Collection[str]
) -> Graded | None:
    """Return the scores of the checkpoint that RAGWEAVE_EVALUATOR names, with the paper's thresholds."""

    async def ask(left: Sequence[Evidence]) -> list[float]:
        return await score_by_checkpoint(run, query, list(map(reading, left)))

    return await _graded(run, items, reread, ask, BY_T5)


async def _graded(
    run: RunContext,
    items: Sequence[Evidence],
    reread: Collection[str],
    ask: Callable[[Sequence[Evidence]], Awaitable[list[float] | None]],
    thresholds: tuple[float, float],
) -> Graded | None:
    """Return the relevance of items by the verdicts they have, and by those of `ask` for the others.

    The look of pictures and the age of items, which `fuse` knows, are added to it.
    """
    left: list[Evidence] = []
    for e in items:
        if "judged" not in e:
            left.append(e)
    found = await ask(left) if left else []
    if found is None:
        return None
    verdicts = iter(found)
    scores: list[float] = []
    ages: list[float] = []
    aged = False
    for e in items:
        score = e["judged"] if "judged" in e else next(verdicts)
        if "looks" in e and e["id"] not in reread:
            score = joined(score, e["looks"], ALPHA, bool(reading(e).text))
        scores.append(score)
        ages.append(e.get("fresh", 1.0))
        aged = aged or "fresh" in e
    if aged:
        scores = [round(score, 9) for score in refaded(scores, ages)]
    return Graded(scores, *thresholds)


async def score_by_checkpoint(run: RunContext, query: str, passages: Sequence[Passage]) -> list[float]:
    """Score with the checkpoint that RAGWEAVE_EVALUATOR names, clamped to [-1, 1].

    Raises:
        ModelError: no checkpoint is named, it cannot be loaded, or its output is not one number per passage.
    """
    path = model_settings().evaluator
    if not path:
        raise ModelError("No evaluator checkpoint is configured", "set RAGWEAVE_EVALUATOR to its folder")
    from ragweave.models.checkpoint import evaluator

    scores = await asyncio.to_thread(lambda: list(map(float, evaluator(path)(query, passages))))
    if len(scores) != len(passages) or not all(map(math.isfinite, scores)):
        raise ModelError(
            f"The evaluator at {path} gave no number for each passage", "train or fetch it again"
        )
    return [max(-1.0, min(1.0, s)) for s in scores]


async def score_by_model(
    run: RunContext, query: str, passages: Sequence[Passage], likely: Sequence[float] = ()
) -> list[float] | None:
    """Grade all passages in one call; None if the reply has no readable verdict.

    Passages that the reply leaves out count as partly relevant. If there are more passages than fit in a
    prompt, the most relevant ones by `likely` are shown, and the others count as irrelevant.
    """
    shown = list(range(len(passages)))
    if len(shown) > _MOST:
        likely = likely or await relevances(await run.library(), query, passages)
        best = sorted(shown, key=lambda i: -likely[i])
        shown = sorted(best[:_MOST])
    blocks = [f"[{n}]\n{quote(_flat(passages[i]))}" for n, i in enumerate(shown, 1)]
    reply = await run.json(load("grade", question=query, passages="\n\n".join(blocks)), PassageVerdicts)
    values = _values(reply.verdicts if reply else [])
    if values.keys().isdisjoint(range(1, len(shown) + 1)):
        return None
    scores = [VALUE["irrelevant"]] * len(passages)
    for n, i in enumerate(shown, 1):
        scores[i] = values.get(n, VALUE["partly"])
    return scores


def _values(verdicts: Sequence[PassageVerdict]) -> dict[int, float]:
    """Return the score of each number; two different verdicts on one passage count as partly relevant."""
    values: dict[int, float] = {}
    for row in verdicts:
        value = VALUE[row.verdict]
        if values.setdefault(row.n, value) != value:
            values[row.n] = VALUE["partly"]
    return values


def _flat(passage: Passage) -> str:
    """Return title and text as one block for a quote: the title is untrusted, too."""
    title = " ".join(passage.title.split())
    return f"{clip(title, 200)}\n{clip(passage.text, _SHOWN)}"
