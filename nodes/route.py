"""Route the hop's query to the corpora that can answer it, or to none (UniversalRAG, section 3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from langgraph.runtime import Runtime

from ragweave.corpora.types import CORPORA, LABELS, Label
from ragweave.models import checkpoint, router
from ragweave.models.chat import Chat
from ragweave.models.errors import RagweaveError
from ragweave.models.settings import model_settings
from ragweave.nodes.context import Context
from ragweave.nodes.run import Run
from ragweave.nodes.state import Route, State, Update
from ragweave.prompts import load

logger = logging.getLogger(__name__)

Decided = tuple[list[Label], dict[str, float]]
"""Labels, best first, and the confidence of each label that could be had."""

ENSEMBLE_AT = 0.8
"""Confidence from which the ensemble takes the head's word and asks no language model."""


async def route(state: State, runtime: Runtime[Context]) -> Update:
    """Return the corpora of this hop, best first, with calibrated confidence.

    Corpora that the library lacks are masked; `none` is masked after hop 1, because a hop is only made to search.
    """
    run = Run.of("route", state, runtime)
    held: set[Label] = {c for c, n in (await (await run.library()).counts()).items() if n}
    if run.context.corpora:
        run.by = "asked"
        decided = _forced(run, held)
    else:
        decided = await _decide(run, state["query"], held)
    chosen, confidence = decided
    row: Route = {"hop": run.hop, "corpora": chosen, "confidence": confidence, "by": run.by}
    shown = ", ".join(f"{c} {confidence[c]:.2f}" if c in confidence else c for c in chosen) or "nothing is indexed"
    return run.done(shown, data={"route": row}, routes=[row])


async def _decide(run: Run, query: str, held: set[Label]) -> Decided:
    """Ask the router that the context names."""
    by = run.context.route_by
    if by == "checkpoint":
        return await _by_checkpoint(run, query, held)
    if by == "ensemble":
        sure = await _by_head(run, query, held)
        if max(sure[1].values(), default=1.0) >= ENSEMBLE_AT:
            return sure
    return await run.decide(
        run.chat("judge", "llm" if by == "ensemble" else by),
        lambda model: _by_model(model, run, query, held),
        lambda: _by_head(run, query, held),
    )


def _forced(run: Run, held: set[Label]) -> Decided:
    wanted: list[Label] = [c for c in run.context.corpora if c in held]
    for missing in sorted(set(run.context.corpora) - held):
        run.note(f"The library holds nothing in its {missing} corpus.")
    return wanted, {}


async def _by_head(run: Run, query: str, held: set[Label]) -> Decided:
    """Decide by the shipped head; it may say `none` only where a rule proves that nothing is to be looked up."""
    if run.hop <= 1 and router.none_by_rule(query):
        return ["none"], {"none": 1.0}
    return _best(await asyncio.to_thread(router.predict, query), held, none_allowed=False)


async def _by_checkpoint(run: Run, query: str, held: set[Label]) -> Decided:
    """Decide by the router that RAGWEAVE_ROUTER names; where it cannot be used the head decides, and a note says so.

    It may say `none` where a language model can answer from its own knowledge.
    """

    def ask() -> dict[str, float]:
        return checkpoint.router(model_settings().router, LABELS)(query)

    try:
        probabilities = await asyncio.to_thread(ask)
    except RagweaveError as error:
        logger.info("route fell back: %s", error)
        run.note(f"route: {error}")
        decided = await _by_head(run, query, held)
        run.by = "small, checkpoint failed"
        return decided
    run.by = "checkpoint"
    return _best(probabilities, held, none_allowed=run.hop <= 1 and run.chat("writer") is not None)


def _best(probabilities: Mapping[str, float], held: set[Label], *, none_allowed: bool) -> Decided:
    """Mask what is not to be had, and take the best label, or the best two where it is not sure."""
    corpora: list[Label] = [c for c in CORPORA if c in held]
    # A trained router may know fewer labels than the library has corpora.
    given: dict[str, float] = {c: probabilities.get(c, 0.0) for c in (["none", *corpora] if none_allowed else corpora)}
    chosen = router.choose(given, set(held), second_below=router.SECOND_BELOW, none_allowed=none_allowed)
    total = sum(given.values()) or 1.0
    return _labels(chosen), {c: round(p / total, 3) for c, p in given.items()}


async def _by_model(model: Chat, run: Run, query: str, held: set[Label]) -> Decided | None:
    labels = [*(["none"] if run.hop <= 1 else []), *(c for c in CORPORA if c in held)]
    if len(labels) == 1 and run.hop > 1:
        return _labels(labels), {labels[0]: 1.0}
    if not held:
        return [], {}
    messages = load("route", labels=", ".join(labels), question=query)
    label = await model.label(messages, labels, node=run.node, meter=run.meter)
    return None if label is None else (_labels([label]), {label: 1.0})


def _labels(names: list[str]) -> list[Label]:
    known: dict[str, Label] = {label: label for label in LABELS}
    return [known[n] for n in names if n in known]
