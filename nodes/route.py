"""Route the hop's query to the corpora that can answer it, or to none (UniversalRAG, section 3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

from langgraph.runtime import Runtime

from ragweave.corpora.types import CORPORA, LABELS, MEANINGS, Label
from ragweave.models import checkpoint, router
from ragweave.models.chat import Chat
from ragweave.models.errors import RagweaveError
from ragweave.models.settings import model_settings
from ragweave.nodes.context import Context
from ragweave.nodes.elsewhere import elsewhere
from ragweave.nodes.expand import clauses
from ragweave.nodes.moments import asked_of
from ragweave.nodes.run import Run
from ragweave.nodes.state import Route, State, Update
from ragweave.prompts import Messages, load

logger = logging.getLogger(__name__)


class Decided(NamedTuple):
    """Labels, best first, the confidence of each label that could be had, and the reason in words."""

    labels: list[Label]
    confidence: dict[str, float]
    why: str


_CLAUSES = 4
"""Clauses of a question that the head is asked about one by one."""
_SEVERAL = (
    "\nOnly where the question asks for two things that lie in different places, reply with both words joined by +."
)
ENSEMBLE_AT = 0.8
"""Confidence from which the ensemble takes the head's word and asks no language model."""


async def route(state: State, runtime: Runtime[Context]) -> Update:
    """Return the corpora of this hop, best first, with calibrated confidence.

    Corpora that the library lacks are masked; `none` is masked after hop 1, because a hop is only made to search. A
    query that is asked again goes to what was not searched for it before.
    """
    run = Run.of("route", state, runtime)
    held: set[Label] = {*_labels([*await run.held()])}
    if run.context.corpora:
        run.by = "asked"
        decided = _forced(run, held)
    elif others := elsewhere(state, state["query"], held):
        run.by = "elsewhere"
        decided = Decided(_labels(others), {}, "what was searched before holds nothing that bears on the question")
    elif run.context.route_by == "unified":
        run.by = "unified"
        decided = Decided([c for c in CORPORA if c in held], {}, "everything is searched and ordered as one")
    else:
        decided = await _decide(run, state["query"], held)
    chosen, confidence, why = decided
    row: Route = {"hop": run.hop, "corpora": chosen, "confidence": confidence, "by": run.by, "why": why}
    shown = ", ".join(f"{c} {confidence[c]:.2f}" if c in confidence else c for c in chosen) or "nothing is indexed"
    return run.done(f"{shown}: {why}", data={"route": row}, routes=[row])


async def _decide(run: Run, query: str, held: set[Label]) -> Decided:
    """Ask the router that the context names."""
    by = run.context.route_by
    if by == "checkpoint":
        return await _by_checkpoint(run, query, held)
    if by == "ensemble":
        sure = await _by_head(run, query, held)
        if max(sure.confidence.values(), default=1.0) >= ENSEMBLE_AT:
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
    return Decided(wanted, {}, "these corpora were asked for")


async def _by_head(run: Run, query: str, held: set[Label]) -> Decided:
    """Decide by the shipped head; it may say `none` only where a rule proves that nothing is to be looked up.

    In a library of several matters a question seldom tells where its answer lies. Unless it does, everything is
    searched, and `fuse` weighs what was found by the head's confidence in its corpus.
    """
    if run.hop <= 1 and router.none_by_rule(query):
        return Decided(["none"], {"none": 1.0}, "a greeting, or something to compute")
    wide, labels, confidence = await asyncio.to_thread(_small, query, held, run.context)
    if wide:
        everything = sorted(_labels([*confidence]), key=lambda c: -confidence[c])
        return Decided(everything, confidence, "the question does not tell what holds its answer")
    why = "so the question reads" if labels else "the library holds nothing"
    added = await _recordings(run, query, held, labels)
    return Decided([*labels, "clip"] if added else labels, confidence, why + added)


async def _recordings(run: Run, query: str, held: set[Label], labels: list[Label]) -> str:
    """Return why the recordings are searched as well, empty where they are not, or are searched in any case.

    The head knows how questions about recordings are worded, and not what these recordings are about.
    """
    if "clip" not in held or {"clip", "video", "none"} & set(labels):
        return ""
    if asked_of(query) is not None or router.names_place(query):
        return ", and it asks for a place in a recording"
    return ", and recordings speak of what it names" if await (await run.library()).speaks_of(query) else ""


async def _by_checkpoint(run: Run, query: str, held: set[Label]) -> Decided:
    """Decide by the router that RAGWEAVE_ROUTER names; where it cannot be used the head decides, and a note says so.

    It may say `none` where a language model can answer from its own knowledge.
    """

    def ask() -> tuple[dict[str, float], bool]:
        made = checkpoint.router(model_settings().router, LABELS)
        return made(query), made.independent

    try:
        probabilities, independent = await asyncio.to_thread(ask)
    except RagweaveError as error:
        logger.info("route fell back: %s", error)
        run.note(f"route: {error}")
        decided = await _by_head(run, query, held)
        run.by = "small, checkpoint failed"
        return decided
    run.by = "checkpoint"
    none_allowed = run.hop <= 1 and run.chat("writer") is not None
    if independent:
        usable = {k: p for k, p in probabilities.items() if k in held or (k == "none" and none_allowed)}
        found = _labels(router.label_set(usable)), {k: round(p, 3) for k, p in usable.items()}
    else:
        found = _best(probabilities, held, run.context, none_allowed=none_allowed)
    return Decided(*found, "so the trained router reads the question")


def _small(query: str, held: set[Label], context: Context) -> tuple[bool, list[Label], dict[str, float]]:
    """Ask the head: whether to search everything, else which corpora, and its confidence.

    A question whose clauses clearly ask for different matter gets the corpora of all of them.
    """
    probabilities = router.predict(query)
    chosen, confidence = _best(probabilities, held, context, none_allowed=False)
    parts = clauses(query)[:_CLAUSES]
    joined = router.several([router.predict(c) for c in parts], set(held)) if parts else []
    if joined:
        return False, _labels(joined), confidence
    several = len(router.matters(held)) > 1
    wide = several and (
        context.route_by == "soft" or (context.route_by != "hard" and not router.narrowed(query, confidence))
    )
    return wide, chosen, confidence


def _best(
    probabilities: Mapping[str, float], held: set[Label], context: Context, *, none_allowed: bool
) -> tuple[list[Label], dict[str, float]]:
    """Mask what is not to be had, and take the best label, or the best two where it is not sure.

    Where the run does not tell granularities apart, the label of a matter stands for all corpora that hold it.
    """
    corpora: list[Label] = [c for c in CORPORA if c in held]
    # A trained router may know fewer labels than the library has corpora.
    given: dict[str, float] = {c: probabilities.get(c, 0.0) for c in (["none", *corpora] if none_allowed else corpora)}
    total = sum(given.values()) or 1.0
    confidence = {c: round(p / total, 3) for c, p in given.items()}
    groups: dict[str, tuple[str, ...]] = {c: (c,) for c in given}
    if context.granularity == "modality":
        groups = {group[0]: group for group in router.matters(list(given))}
        given = {name: sum(given[c] for c in group) for name, group in groups.items()}
    chosen = router.choose(given, set(held), second_below=router.SECOND_BELOW, none_allowed=none_allowed)
    return _labels([c for name in chosen for c in groups[name]]), confidence


async def _by_model(model: Chat, run: Run, query: str, held: set[Label]) -> Decided | None:
    labels = [*(["none"] if run.hop <= 1 else []), *(c for c in CORPORA if c in held)]
    if len(labels) == 1 and run.hop > 1:
        return Decided(_labels(labels), {labels[0]: 1.0}, "nothing else is held")
    if not held:
        return Decided([], {}, "the library holds nothing")
    sets = combinations_of(labels)
    label = await model.label(
        messages(query, labels, several=bool(sets)), [*labels, *sets], node=run.node, meter=run.meter
    )
    if label is None:
        return None
    named = label.split("+")
    if run.context.granularity == "modality":
        named = [c for name in named for group in router.matters(labels) if name in group for c in group]
    return Decided(_labels(named), dict.fromkeys(named, 1.0), "so the language model reads the question")


def messages(question: str, labels: Sequence[str], *, several: bool = False) -> Messages:
    """Return the few-shot prompt of a router that is a language model.

    Args:
        question: as asked.
        labels: what it may answer.
        several: tell it that it may name two where the question asks for two things.
    """
    meanings = "\n".join(f"{label}: {meaning}" for label, meaning in MEANINGS.items() if label in labels)
    return load("route", labels=", ".join(labels), meanings=meanings, several=_SEVERAL * several, question=question)


def combinations_of(labels: Sequence[str]) -> list[str]:
    """Return the pairs of labels that one question may need, in either order: of different matter, and not `none`."""
    groups = router.matters([c for c in CORPORA if c in labels])
    pairs = {f"{a}+{b}" for one, other in permutations(groups, 2) for a in one for b in other}
    return sorted(pairs)


def _labels(names: list[str]) -> list[Label]:
    known: dict[str, Label] = {label: label for label in LABELS}
    return [known[n] for n in names if n in known]
