"""Route the hop's query to the corpora that can answer it, or to none (UniversalRAG, section 3)."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime

from ragweave.corpora.types import CORPORA, LABELS, Label
from ragweave.models import router
from ragweave.models.chat import Chat
from ragweave.nodes.context import Context
from ragweave.nodes.run import Run
from ragweave.nodes.state import Route, State, Update
from ragweave.prompts import load


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
        decided = await run.decide(
            run.chat("judge", _choice(run.context)),
            lambda model: _by_model(model, run, state["query"], held),
            lambda: _by_head(run, state["query"], held),
        )
    chosen, confidence = decided
    row: Route = {"hop": run.hop, "corpora": chosen, "confidence": confidence, "by": run.by}
    shown = ", ".join(f"{c} {confidence[c]:.2f}" if c in confidence else c for c in chosen) or "nothing is indexed"
    return run.done(shown, data={"route": row}, routes=[row])


def _choice(context: Context) -> str:
    return {"auto": "auto", "small": "small", "checkpoint": "small"}.get(context.route_by, "llm")


def _forced(run: Run, held: set[Label]) -> tuple[list[Label], dict[str, float]]:
    wanted: list[Label] = [c for c in run.context.corpora if c in held]
    for missing in sorted(set(run.context.corpora) - held):
        run.note(f"The library holds nothing in its {missing} corpus.")
    return wanted, {}


async def _by_head(run: Run, query: str, held: set[Label]) -> tuple[list[Label], dict[str, float]]:
    """Decide by the shipped head; it may say `none` only where a rule proves that nothing is to be looked up."""
    if run.hop <= 1 and router.none_by_rule(query):
        return ["none"], {"none": 1.0}
    probabilities = await asyncio.to_thread(router.predict, query)
    chosen = router.choose(probabilities, set(held), second_below=router.SECOND_BELOW, none_allowed=False)
    total = sum(probabilities[c] for c in CORPORA if c in held) or 1.0
    confidence: dict[str, float] = {c: round(probabilities[c] / total, 3) for c in CORPORA if c in held}
    return _labels(chosen), confidence


async def _by_model(model: Chat, run: Run, query: str, held: set[Label]) -> tuple[list[Label], dict[str, float]] | None:
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
