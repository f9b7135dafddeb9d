"""Route by the shipped head (UniversalRAG, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ragweave.components.context import Context
from ragweave.components.protocols import Routed
from ragweave.components.run_context import RunContext, has_writer_model
from ragweave.corpora.types import CORPORA, LABELS, Label
from ragweave.models import router


async def route(run: RunContext, query: str, held: Collection[Label]) -> Routed:
    """Return the corpora that the head chooses, best first; it chooses `none` only as published.

    A question seldom tells where its answer lies, and one that names a medium may mean another ("who painted the
    picture?"). So in a library of several matters everything is searched, and `fuse` weighs what was found by the
    head's confidence in its corpus.
    """
    alone = as_published(run.context)
    # The head takes two milliseconds: a hop to a thread saves little.
    allowed = alone and none_allowed(run)
    chosen, confidence = best(router.predict(query), held, run.context, none_allowed=allowed)
    if len(router.modalities(held)) > 1 and run.context.route_by != "hard" and not alone:
        everything = sorted(labels([*confidence]), key=lambda c: -confidence[c])
        return Routed(everything, confidence, "the question does not tell what holds its answer")
    why = "so the question reads" if chosen else "the library holds nothing"
    return Routed(chosen, confidence, why)


async def trained(run: RunContext, query: str, held: Collection[Label]) -> Routed:
    """Return the best corpus of the head, as the trained router of the ensemble; it may be `none`."""
    found = best(router.predict(query), held, run.context, none_allowed=none_allowed(run))
    return Routed(*found, "so the question reads")


def as_published(context: Context) -> bool:
    """Return whether a router names one label and no second (UniversalRAG, section 2)."""
    return context.method.form == "universal-rag"


def none_allowed(run: RunContext) -> bool:
    """Return whether a trained router may say `none`: a later hop is made to search, and somebody has to answer."""
    return run.hop <= 1 and has_writer_model(run.context)


def best(
    probabilities: Mapping[str, float], held: Collection[Label], context: Context, *, none_allowed: bool
) -> tuple[list[Label], dict[str, float]]:
    """Mask what is not to be had, and take the best label, or, but as published, the best two where it is not sure.

    Where the run does not tell granularities apart, the label of a matter stands for all corpora that hold it.
    """
    corpora: list[Label] = [c for c in CORPORA if c in held]
    # A trained router may know fewer labels than the library has corpora.
    given: dict[str, float] = {c: probabilities.get(c, 0.0) for c in (["none", *corpora] if none_allowed else corpora)}
    total = sum(given.values()) or 1.0
    confidence = {c: round(p / total, 3) for c, p in given.items()}
    groups: dict[str, tuple[str, ...]] = {c: (c,) for c in given}
    if context.method.granularity == "modality":
        groups = {group[0]: group for group in router.modalities(list(given))}
        given = {name: sum(given[c] for c in group) for name, group in groups.items()}
    second_below = 0.0 if as_published(context) else router.SECOND_BELOW
    chosen = router.choose(given, set(held), second_below, none_allowed)
    return labels([c for name in chosen for c in groups[name]]), confidence


def labels(names: Collection[str]) -> list[Label]:
    """Return the names that are labels, as such."""
    known: dict[str, Label] = {label: label for label in LABELS}
    return [known[n] for n in names if n in known]
