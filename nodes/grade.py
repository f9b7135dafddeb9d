"""Grade the hop's items against its query and draw CRAG's verdict (CRAG, sections 4.2 and 4.3)."""

from __future__ import annotations

from typing import Literal

from langgraph.runtime import Runtime
from pydantic import BaseModel

from ragweave.models import relevance
from ragweave.models.chat import Chat
from ragweave.models.text import clip
from ragweave.nodes.context import Context
from ragweave.nodes.run import Run
from ragweave.nodes.state import Action, Evidence, Grade, State, Update
from ragweave.prompts import load, quote

_SHOWN = 1_200
"""Characters of a passage that a model grades."""
_VALUE = {"relevant": 0.9, "partly": 0.0, "irrelevant": -0.9}
_BY_MODEL = (0.5, -0.5)
"""Thresholds that belong to the three-way verdicts of a language model."""


class Verdict(BaseModel):
    """The model's verdict over one passage."""

    n: int
    verdict: Literal["relevant", "partly", "irrelevant"]


class Verdicts(BaseModel):
    """What the model is asked for."""

    verdicts: list[Verdict]


async def grade(state: State, runtime: Runtime[Context]) -> Update:
    """Return the verdict over the hop's items, and the items with their relevance.

    Each item is scored against the query of the hop that fetched it. The small evaluator's scores were computed by
    `fuse`; a language model reads all items in one call. A verdict that cannot be read is `ambiguous`.
    """
    run = Run.of("grade", state, runtime)
    rows = {e["id"]: e for e in state.get("evidence", [])}
    items = [rows[i] for i in state.get("candidates", []) if i in rows]
    choice = {"auto": "auto", "llm": "llm"}.get(run.context.grade_by, "small")
    graded = items
    if items:
        graded = await run.decide(
            run.chat("judge", choice), lambda model: _by_model(model, run, items), lambda: _as_scored(items)
        )
    preset = _BY_MODEL if run.by == "llm" else (relevance.UPPER, relevance.LOWER)
    upper = preset[0] if run.context.upper is None else run.context.upper
    lower = preset[1] if run.context.lower is None else run.context.lower
    best = max((e["relevance"] for e in graded), default=-1.0)
    action = verdict(best, upper, lower) if run.by != "small, llm unreadable" else "ambiguous"
    row: Grade = {"hop": run.hop, "action": action, "best": best, "upper": upper, "lower": lower, "by": run.by}
    return run.done(f"{action}, best {best:+.2f} of {len(graded)}", data={"grade": row}, grade=row, evidence=graded)


def verdict(best: float, upper: float, lower: float) -> Action:
    """Draw the verdict from the best score; both thresholds are inclusive (max rule, CRAG section 4.3)."""
    if best >= upper:
        return "correct"
    return "ambiguous" if best >= lower else "incorrect"


def after_grade(state: State, runtime: Runtime[Context]) -> list[str]:
    """Return CRAG's repairs: use what was found, the web as well, the web instead; empty where neither helps."""
    grade = state.get("grade")
    action = grade["action"] if grade else "ambiguous"
    web = ["search_web"] if Context.of(runtime).web != "off" and action != "correct" else []
    return web if action == "incorrect" else ["refine", *web]


async def _as_scored(items: list[Evidence]) -> list[Evidence]:
    return items


async def _by_model(model: Chat, run: Run, items: list[Evidence]) -> list[Evidence] | None:
    shown = "\n\n".join(f"[{n}] {e['title']}\n{quote(clip(e['text'], _SHOWN))}" for n, e in enumerate(items, 1))
    messages = load("grade", question=items[0]["query"], passages=shown)
    reply = await model.json(messages, Verdicts, node=run.node, meter=run.meter)
    if not isinstance(reply, Verdicts):
        return None
    given = {v.n: _VALUE[v.verdict] for v in reply.verdicts}
    if not any(n in given for n in range(1, len(items) + 1)):
        return None
    return [Evidence(**{**e, "relevance": given.get(n, 0.0)}) for n, e in enumerate(items, 1)]
