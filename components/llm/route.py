"""Route by a language model, by a trained checkpoint, or by the head with a model where it is not sure."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from itertools import permutations

from ragweave.components.component import Outcome
from ragweave.components.local.route import as_published, best, labels, none_allowed
from ragweave.components.protocols import Routed, Router
from ragweave.components.run_context import RunContext, chosen
from ragweave.corpora.types import CORPORA, LABELS, MEANINGS, Label
from ragweave.models import checkpoint, router
from ragweave.models.settings import model_settings
from ragweave.prompts import Messages, load

ENSEMBLE_AT = 0.8
"""Confidence from which the ensemble takes the trained router's word and asks no language model."""
_SEVERAL = (
    "\nOnly where the question asks for two things that lie in different places, reply with both words joined by +."
)


async def route(run: RunContext, query: str, held: Collection[Label]) -> Routed | None:
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
    if run.context.method.granularity == "modality":
        named = [c for name in named for group in router.modalities(able) if name in group for c in group]
    return Routed(labels(named), dict.fromkeys(named, 1.0), "so the language model reads the question")


async def by_checkpoint(run: RunContext, query: str, held: Collection[Label]) -> Routed:
    """Ask the router that RAGWEAVE_ROUTER names; it may say `none` where a language model can answer by itself."""

    def ask() -> tuple[dict[str, float], bool]:
        made = checkpoint.router(model_settings().router, LABELS)
        return made(query), made.independent

    probabilities, independent = await asyncio.to_thread(ask)
    if independent:
        usable = {k: p for k, p in probabilities.items() if k in held or (k == "none" and none_allowed(run))}
        found = labels(router.label_set(usable)), {k: round(p, 3) for k, p in usable.items()}
    else:
        found = best(probabilities, held, run.context, none_allowed=none_allowed(run))
    return Routed(*found, "so the trained router reads the question")


class Ensemble:
    """The word of a trained router, head or checkpoint, where it is sure, else the language model's."""

    def __init__(self, trained: Router, model: Router) -> None:
        self._trained, self._model = trained, model

    async def __call__(self, run: RunContext, query: str, held: Collection[Label]) -> Outcome[Routed]:
        """Return the corpora."""
        sure = await self._trained(run, query, held)
        if max(sure.value.confidence.values(), default=1.0) >= ENSEMBLE_AT:
            return sure
        chosen("judge", run.context, "llm")  # there has to be one
        return await self._model(run, query, held)


def messages(question: str, labels: Sequence[str], *, several: bool = False) -> Messages:
    """Return the few-shot prompt of a router that is a language model; `several`: it may name two labels."""
    meanings = "\n".join(f"{label}: {meaning}" for label, meaning in MEANINGS.items() if label in labels)
    made = load("route", labels=", ".join(labels), meanings=meanings, several=_SEVERAL * several, question=question)
    # Examples of labels that cannot be had would be answered with.
    (role, system), *rest = made
    able = [line for line in system.splitlines() if " -> " not in line or line.rpartition(" -> ")[2] in labels]
    return [(role, "\n".join(able)), *rest]


def combinations_of(labels: Sequence[str]) -> list[str]:
    """Return the pairs of labels that one question may need, in either order: of different matter, and not `none`."""
    groups = router.modalities([c for c in CORPORA if c in labels])
    pairs = {f"{a}+{b}" for one, other in permutations(groups, 2) for a in one for b in other}
    return sorted(pairs)
