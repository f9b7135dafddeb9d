"""Choose the corpora of a query by the shipped head, a model or a checkpoint (UniversalRAG, section 3)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from itertools import permutations, product
from typing import NamedTuple

from ragweave.components.ask import CHECKPOINT, Outcome, first_of, model_of
from ragweave.components.context import Context
from ragweave.components.run_context import RunContext, has_writer_model
from ragweave.corpora.types import CORPORA, LABELS, MEANINGS, Label
from ragweave.models import checkpoint, router
from ragweave.models.settings import model_settings
from ragweave.prompts import Messages, load

ENSEMBLE_AT = 0.8
"""Confidence of the trained router from which the ensemble asks no language model."""
_SEVERAL = (
    "\nOnly where the question asks for two things that lie in different places, reply with both words joined"
    " by +."
)


class Routed(NamedTuple):
    """The corpora that a query goes to.

    Attributes:
        labels: labels, best first.
        confidence: confidence of each label that was possible.
        why: the reason in words.
    """

    labels: list[Label]
    confidence: dict[str, float]
    why: str


async def choose_corpora(run: RunContext, query: str, held: Collection[Label]) -> Outcome[Routed]:
    """Choose the corpora that a query goes to, among those that hold something."""
    by = run.context.route_by
    if by == "ensemble":
        return await _ensemble(run, query, held)
    if by == "checkpoint":
        return await first_of(run, CHECKPOINT, by_checkpoint, locally, query, held)
    model = model_of(run.context, choice="llm" if by == "llm" else "local")
    return await first_of(run, model, by_model, locally, query, held)


async def _ensemble(run: RunContext, query: str, held: Collection[Label]) -> Outcome[Routed]:
    """Return the choice of the trained router if it is sure, else that of the language model."""
    trained = CHECKPOINT if model_settings().router else None
    sure = await first_of(run, trained, by_checkpoint, by_head, query, held)
    if max(sure.value.confidence.values(), default=1.0) >= ENSEMBLE_AT:
        return sure
    return await first_of(run, model_of(run.context, choice="llm"), by_model, locally, query, held)


async def locally(run: RunContext, query: str, held: Collection[Label]) -> Routed:
    """Return the corpora that the head chooses, best first; `none` only in the published form.

    A question seldom shows where its answer is, and one that names a medium may mean another ("who painted
    the picture?"). So a library of several media is searched as a whole, and `fuse` weights what was found
    by the head's confidence in its corpus.
    """
    alone = as_published(run.context)
    # The head takes two milliseconds, so it needs no thread.
    allowed = alone and none_allowed(run)
    chosen, confidence = best(router.predict(query), held, run.context, none_allowed=allowed)
    if len(router.modalities(held)) > 1 and not alone:
        everything = sorted(labels([*confidence]), key=lambda c: -confidence[c])
        return Routed(everything, confidence, "the question does not tell what holds its answer")
    why = "so the question reads" if chosen else "the library holds nothing"
    return Routed(chosen, confidence, why)


async def by_head(run: RunContext, query: str, held: Collection[Label]) -> Routed:
    """Return the best corpus of the head as the ensemble's trained router; it may be `none`."""
    found = best(router.predict(query), held, run.context, none_allowed=none_allowed(run))
    return Routed(*found, "so the question reads")


async def by_model(run: RunContext, query: str, held: Collection[Label]) -> Routed | None:
    """Ask the language model for a label, or for two if the question asks for two things."""
    able: list[str] = [*_corpora_of(held)]
    if run.hop <= 1:
        able = ["none", *able]
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
    """Ask the router that RAGWEAVE_ROUTER names; it may choose `none` if a model can answer by itself."""

    def ask() -> tuple[dict[str, float], bool]:
        made = checkpoint.router(model_settings().router, LABELS)
        return made(query), made.independent

    probabilities, independent = await asyncio.to_thread(ask)
    if independent and not as_published(run.context):
        usable = {}
        for label, probability in probabilities.items():
            if label in held or (label == "none" and none_allowed(run)):
                usable[label] = probability
        chosen = labels(router.label_set(usable))
        confidence = {label: round(probability, 3) for label, probability in usable.items()}
    else:
        chosen, confidence = best(probabilities, held, run.context, none_allowed=none_allowed(run))
    return Routed(chosen, confidence, "so the trained router reads the question")


def messages(question: str, labels: Sequence[str], *, several: bool = False) -> Messages:
    """Return the few-shot prompt of a language model as router; with `several` it may name two labels."""
    meanings = []
    for label, meaning in MEANINGS.items():
        if label in labels:
            meanings.append(f"{label}: {meaning}")
    (role, system), *rest = load(
        "route",
        labels=", ".join(labels),
        meanings="\n".join(meanings),
        several=_SEVERAL if several else "",
        question=question,
    )
    # The model would repeat labels of examples that are not possible here.
    kept = []
    for line in system.splitlines():
        _, arrow, answer = line.rpartition(" -> ")
        if not arrow or answer in labels:
            kept.append(line)
    return [(role, "\n".join(kept)), *rest]


def combinations_of(labels: Sequence[str]) -> list[str]:
    """Return the pairs of labels that one question may need: two media in either order, not `none`."""
    groups = router.modalities(_corpora_of(labels))
    pairs = set()
    for one, other in permutations(groups, 2):
        for first, second in product(one, other):
            pairs.add(f"{first}+{second}")
    return sorted(pairs)


def _corpora_of(names: Collection[str]) -> list[Label]:
    """Return the corpora among names, in their fixed order."""
    return [corpus for corpus in CORPORA if corpus in names]


def as_published(context: Context) -> bool:
    """Return whether a router names exactly one label (UniversalRAG, section 2)."""
    return context.method.form == "universal-rag"


def none_allowed(run: RunContext) -> bool:
    """Return whether a trained router may choose `none`: in the first hop, if a model can answer."""
    return run.hop <= 1 and has_writer_model(run.context)


def best(
    probabilities: Mapping[str, float], held: Collection[Label], context: Context, *, none_allowed: bool
) -> tuple[list[Label], dict[str, float]]:
    """Return the best label that is held, or the best two if it is not sure, with the confidence of each.

    In the published form only one label is returned.
    """
    corpora = _corpora_of(held)
    given: dict[str, float] = {}
    for label in ["none", *corpora] if none_allowed else corpora:
        # A trained router may know fewer labels than the library has corpora.
        given[label] = probabilities.get(label, 0.0)
    total = sum(given.values()) or 1.0
    confidence = {label: round(probability / total, 3) for label, probability in given.items()}
    second_below = 0.0 if as_published(context) else router.SECOND_BELOW
    chosen = router.choose(given, set(held), second_below, none_allowed)
    return labels(chosen), confidence


def labels(names: Collection[str]) -> list[Label]:
    """Return those names that are labels."""
    known: dict[str, Label] = dict(zip(LABELS, LABELS, strict=True))
    return [known[name] for name in names if name in known]
