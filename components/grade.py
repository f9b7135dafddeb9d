"""Grade what a hop brought (CRAG, section 4.2): by the shipped head, a model or a checkpoint."""

from __future__ import annotations

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

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
"""Relevance of the best item from which a round is correct: from here on its gold is among the first four
passages as often as from higher scores."""
VALUE: dict[Label, float] = {"relevant": 0.9, "partly": 0.0, "irrelevant": -0.9}
"""What a language model's verdict counts on the scale of the other evaluators."""
BY_MODEL = (0.5, -0.5)
"""Thresholds that belong to the three-way verdicts of a language model."""
BY_T5 = (0.59, -0.99)
"""Thresholds that belong to the paper's T5 evaluator, found on PopQA (CRAG, section 5)."""

_SHOWN = TEXT_LIMIT
"""Characters of a passage that a model grades."""
_MOST = 40
"""Passages that a model grades in one call; the least likely ones are left out."""
_NUMBER = re.compile(r"(?<![\d-])\d{1,4}(?!\d)")
_SAID: dict[str, Label] = {
    **{label: label for label in get_args(Label)},
    **dict.fromkeys(("yes", "true", "correct"), "relevant"),
    **dict.fromkeys(
        ("partial", "partially", "partially relevant", "partly relevant", "ambiguous", "maybe"), "partly"
    ),
    **dict.fromkeys(("no", "false", "not relevant", "incorrect", "unrelated"), "irrelevant"),
}


@dataclass(frozen=True)
class Graded:
    """Relevance of items in [-1, 1] to their query, and the thresholds that belong to its evaluator (CRAG).

    Attributes:
        scores: one per item.
        upper: from here on an item is relevant.
        lower: below, it is not.
    """

    scores: list[float]
    upper: float
    lower: float


async def grade_items(
    run: RunContext, query: str, items: Sequence[Evidence], reread: Collection[str]
) -> Outcome[Graded]:
    """Grade what a hop brought against its query.

    Args:
        run: lends the evaluator.
        query: query of the hop.
        items: what it brought.
        reread: ids of items whose text has changed since `fuse` scored them.
    """
    first = evaluator_of(run.context)
    strategy = by_checkpoint if first == CHECKPOINT else by_model
    return await first_of(run, first, strategy, locally, query, items, reread)


async def score_passages(run: RunContext, query: str, passages: Sequence[Passage]) -> Outcome[list[float]]:
    """Score passages that no hop has scored, in [-1, 1]: strips, pages of the web."""
    first = evaluator_of(run.context)
    strategy = score_by_checkpoint if first == CHECKPOINT else score_by_model
    return await first_of(run, first, strategy, score_locally, query, passages)


def evaluator_of(context: Context) -> Chosen | None:
    """Return the evaluator that a run chooses (`grade_by`), or None if the shipped head grades.

    Raises:
        ModelError: the run wants a chat model to grade, and none is configured.
    """
    if context.grade_by == "checkpoint":
        return CHECKPOINT
    return model_of(context, choice="llm" if context.grade_by == "llm" else "local")


async def locally(run: RunContext, query: str, items: Sequence[Evidence], reread: Collection[str]) -> Graded:
    """Return the relevance by which `fuse` ordered each item; only changed texts are read again."""
    again = [e for e in items if e["id"] in reread]
    read = await relevances(await run.library(), query, [reading(e) for e in again]) if again else []
    found = {e["id"]: score for e, score in zip(again, read, strict=True)}
    return Graded([found.get(e["id"], e["relevance"]) for e in items], CORRECT, LOWER)


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
        """Keep the rows that can be read: one bad row must not cost the others."""
        rows = given.get("verdicts", given) if isinstance(given, dict) else given
        if isinstance(rows, dict):
            rows = [{"n": n, "verdict": said} for n, said in rows.items()]
        if not isinstance(rows, list):
            raise ValueError("no list of verdicts")
        read = [row for at, one in enumerate(rows, 1) if (row := _row(one, at)) is not None]
        if not read:
            raise ValueError("no verdict can be read")
        return {"verdicts": read}


def _row(row: Any, at: int) -> dict[str, Any] | None:
    """Read one verdict in any usual spelling; a bare word counts for the passage at its place in the list."""
    number, said = (row.get("n"), row.get("verdict")) if isinstance(row, dict) else (at, row)
    found = _NUMBER.search(str(number))
    label = _SAID.get(" ".join(re.findall(r"[a-z]+", str(said).lower())))
    return {"n": int(found.group()), "verdict": label} if found and label else None


async def by_model(
    run: RunContext, query: str, items: Sequence[Evidence], reread: Collection[str]
) -> Graded | None:
    """Ask the language model for a verdict over each item without one; None where nothing can be read."""
    shown = [reading(e) for e in items]

    async def ask(left: Sequence[int]) -> list[float] | None:
        return await score_by_model(
            run, query, [shown[n] for n in left], [items[n]["relevance"] for n in left]
        )

    return await _graded(run, items, reread, ask, BY_MODEL)


async def by_checkpoint(
    run: RunContext, query: str, items: Sequence[Evidence], reread: Collection[str]
) -> Graded | None:
    """Ask the evaluator that RAGWEAVE_EVALUATOR names; its thresholds are those of the paper."""
    shown = [reading(e) for e in items]

    async def ask(left: Sequence[int]) -> list[float]:
        return await score_by_checkpoint(run, query, [shown[n] for n in left])

    return await _graded(run, items, reread, ask, BY_T5)


async def _graded(
    run: RunContext,
    items: Sequence[Evidence],
    reread: Collection[str],
    ask: Callable[[Sequence[int]], Awaitable[list[float] | None]],
    thresholds: tuple[float, float],
) -> Graded | None:
    """Return the relevance of items: the verdict of each, or what `ask` returns for the places of the others.

    Added is what `fuse` knows besides: what pictures show, and the age of items.
    """
    left = [n for n, e in enumerate(items) if "judged" not in e]
    found = await ask(left) if left else []
    if found is None:
        return None
    made, alpha = dict(zip(left, found, strict=True)), ALPHA
    whole = [e["judged"] if "judged" in e else made[n] for n, e in enumerate(items)]
    whole = [
        joined(s, e["looks"], alpha, bool(reading(e).text)) if "looks" in e and e["id"] not in reread else s
        for s, e in zip(whole, items, strict=True)
    ]
    if any("fresh" in e for e in items):
        whole = [round(s, 9) for s in refaded(whole, [e.get("fresh", 1.0) for e in items])]
    return Graded(whole, *thresholds)


async def score_by_checkpoint(run: RunContext, query: str, passages: Sequence[Passage]) -> list[float]:
    """Score with the checkpoint that RAGWEAVE_EVALUATOR names, cut to [-1, 1].

    Raises:
        ModelError: none is named, it cannot be loaded, or it gives something else than a number per passage.
    """
    path = model_settings().evaluator
    if not path:
        raise ModelError("No evaluator checkpoint is configured", "set RAGWEAVE_EVALUATOR to its folder")
    from ragweave.models.checkpoint import evaluator

    scores = await asyncio.to_thread(lambda: [float(s) for s in evaluator(path)(query, passages)])
    if len(scores) != len(passages) or not all(map(math.isfinite, scores)):
        raise ModelError(
            f"The evaluator at {path} gave no number for each passage", "train or fetch it again"
        )
    return [max(-1.0, min(1.0, s)) for s in scores]


async def score_by_model(
    run: RunContext, query: str, passages: Sequence[Passage], likely: Sequence[float] = ()
) -> list[float] | None:
    """Grade all passages in one call; one that the reply leaves out is undecided. None if it cannot be read.

    Of more passages than fit a prompt the likeliest are shown; the others count as irrelevant.
    """
    shown = list(range(len(passages)))
    if len(shown) > _MOST:
        likely = likely or await relevances(await run.library(), query, passages)
        shown = sorted(sorted(shown, key=lambda i: -likely[i])[:_MOST])
    blocks = [f"[{n}]\n{quote(_flat(passages[i]))}" for n, i in enumerate(shown, 1)]
    reply = await run.json(load("grade", question=query, passages="\n\n".join(blocks)), PassageVerdicts)
    said: dict[int, float] = {}
    for row in reply.verdicts if reply else []:
        # Two different verdicts over one passage decide nothing.
        value = VALUE[row.verdict]
        said[row.n] = value if said.get(row.n, value) == value else VALUE["partly"]
    if not said.keys() & set(range(1, len(shown) + 1)):
        return None
    scores = [VALUE["irrelevant"]] * len(passages)
    for n, i in enumerate(shown, 1):
        scores[i] = said.get(n, VALUE["partly"])
    return scores


def _flat(passage: Passage) -> str:
    """Return title and text as one block; the title is from outside as well."""
    return f"{clip(' '.join(passage.title.split()), 200)}\n{clip(passage.text, _SHOWN)}"
