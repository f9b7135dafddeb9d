"""Choose the corpora of a query (UniversalRAG, section 3): by the shipped head, a model or a checkpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

from ragweave.components.ask import CHECKPOINT, Outcome, first_of, model_of
from ragweave.components.context import Context
from ragweave.components.run_context import RunContext, has_writer_model
from ragweave.corpora.types import CORPORA, LABELS, MEANINGS, Label
from ragweave.models import checkpoint, router
from ragweave.models.settings import model_settings
from ragweave.prompts import Messages, load

ENSEMBLE_AT = 0.8
"""Confidence from which the ensemble takes the trained router's word and asks no language model."""
_SEVERAL = (
    "\nOnly where the question asks for two things that lie in different places, reply with both words joined"
    " by +."
)


class Routed(NamedTuple):
    """Labels, best first, the confidence of each label that could be had, and the reason in words."""

    labels: list[Label]
    confidence: dict[str, float]
    why: str


async def choose_corpora(run: RunContext, query: str, held: Collection[Label]) -> Outcome[Routed]:
    """Choose the corpora that a query goes to, of those in which something is held."""
    by = run.context.route_by
    if by == "ensemble":
        return await _ensemble(run, query, held)
    if by == "checkpoint":
        return await first_of(run, CHECKPOINT, by_checkpoint, locally, query, held)
    model = model_of(run.context, choice="llm" if by == "llm" else "local")
    return await first_of(run, model, by_model, locally, query, held)


async def _ensemble(run: RunContext, query: str, held: Collection[Label]) -> Outcome[Routed]:
    """Take the word of a trained router, checkpoint or head, if it is sure, else the language model's."""
    trained = CHECKPOINT if model_settings().router else None
    sure = await first_of(run, trained, by_checkpoint, by_head, query, held)
    if max(sure.value.confidence.values(), default=1.0) >= ENSEMBLE_AT:
        return sure
    return await first_of(run, model_of(run.context, choice="llm"), by_model, locally, query, held)


async def locally(run: RunContext, query: str, held: Collection[Label]) -> Routed:
    """Return the corpora that the head chooses, best first; it chooses `none` only as published.

    A question seldom tells where its answer lies, and one that names a medium may mean another ("who painted
    the picture?"). So in a library of several media everything is searched, and `fuse` weighs what was found
    by the head's confidence in its corpus.
    """
    alone = as_published(run.context)
    # The head takes two milliseconds: a hop to a thread saves little.
    allowed = alone and none_allowed(run)
    chosen, confidence = best(router.predict(query), held, run.context, none_allowed=allowed)
    if len(router.modalities(held)) > 1 and not alone:
        everything = sorted(labels([*confidence]), key=lambda c: -confidence[c])
        return Routed(everything, confidence, "the question does not tell what holds its answer")
    why = "so the question reads" if chosen else "the library holds nothing"
    return Routed(chosen, confidence, why)


async def by_head(run: RunContext, query: str, held: Collection[Label]) -> Routed:
    """Return the best corpus of the head, as the trained router of the ensemble; it may be `none`."""
    found = best(router.predict(query), held, run.context, none_allowed=none_allowed(run))
    return Routed(*found, "so the question reads")


async def by_model(run: RunContext, query: str, held: Collection[Label]) -> Routed | None:
    """Ask the language model for a label, or for two where the question asks for two things."""
    able = [*(["none"] if run.hop <= 1 else []), *(c for c in CORPORA if c in held)]
    if len(able) == 1 and run.hop > 1:
        return Routed(labels(able), {able[0]: 1.0}, "nothing else is held")
    if not held:
        return Routed([], {}, "the library holds nothing")
    sets = [] if as_published(run.context) else combinations_of(able)
    label = await run.label(messages(query, able, several=bool(sets)), [*able, *sets])
    if label is None:
        return None
    named = label.split("+")
    return Routed(labels(named), dict.fromkeys(named, 1.0), "so the language model reads the question")


async def by_checkpoint(run: RunContext, query: str, held: Collection[Label]) -> Routed:
    """Ask the router that RAGWEAVE_ROUTER names; it may say `none` if a model can answer by itself."""

    def ask() -> tuple[dict[str, float], bool]:
        made = checkpoint.router(model_settings().router, LABELS)
        return made(query), made.independent

    probabilities, independent = await asyncio.to_thread(ask)
    if independent:
        able = {*held, *(["none"] if none_allowed(run) else [])}
        usable = {k: p for k, p in probabilities.items() if k in able}
        found = labels(router.label_set(usable)), {k: round(p, 3) for k, p in usable.items()}
    else:
        found = best(probabilities, held, run.context, none_allowed=none_allowed(run))
    return Routed(*found, "so the trained router reads the question")


def messages(question: str, labels: Sequence[str], *, several: bool = False) -> Messages:
    """Return the few-shot prompt of a router that is a language model; `several`: it may name two labels."""
    meanings = "\n".join(f"{label}: {meaning}" for label, meaning in MEANINGS.items() if label in labels)
    made = load(
        "route", labels=", ".join(labels), meanings=meanings, several=_SEVERAL * several, question=question
    )
    # Examples of labels that cannot be had would be answered with.
    (role, system), *rest = made
    able = []
    for line in system.splitlines():
        _, arrow, label = line.rpartition(" -> ")
        if not arrow or label in labels:
            able.append(line)
    return [(role, "\n".join(able)), *rest]


def combinations_of(labels: Sequence[str]) -> list[str]:
    """Return the pairs of labels that one question may need: two media in either order, not `none`."""
    groups = router.modalities([c for c in CORPORA if c in labels])
    pairs = {f"{a}+{b}" for one, other in permutations(groups, 2) for a in one for b in other}
    return sorted(pairs)


def as_published(context: Context) -> bool:
    """Return whether a router names one label and no second (UniversalRAG, section 2)."""
    return context.method.form == "universal-rag"


def none_allowed(run: RunContext) -> bool:
    """Return whether a trained router may say `none`: in the first hop, if a model can answer."""
    return run.hop <= 1 and has_writer_model(run.context)


def best(
    probabilities: Mapping[str, float], held: Collection[Label], context: Context, *, none_allowed: bool
) -> tuple[list[Label], dict[str, float]]:
    """Mask what is not held and take the best label, or the best two if it is not sure (as published: one)."""
    corpora: list[Label] = [c for c in CORPORA if c in held]
    # A trained router may know fewer labels than the library has corpora.
    given: dict[str, float] = {
        c: probabilities.get(c, 0.0) for c in (["none", *corpora] if none_allowed else corpora)
    }
    total = sum(given.values()) or 1.0
    confidence = {c: round(p / total, 3) for c, p in given.items()}
    second_below = 0.0 if as_published(context) else router.SECOND_BELOW
    chosen = router.choose(given, set(held), second_below, none_allowed)
    return labels(chosen), confidence


def labels(names: Collection[str]) -> list[Label]:
    """Return the names that are labels, as such."""
    known: dict[str, Label] = {label: label for label in LABELS}
    return [known[n] for n in names if n in known]
