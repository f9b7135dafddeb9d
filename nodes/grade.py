"""Grade the hop's items against its query and draw CRAG's verdict (CRAG, sections 4.2 and 4.3)."""

from __future__ import annotations

from langgraph.runtime import Runtime

from ragweave.models import relevance
from ragweave.models.relevance import Passage
from ragweave.nodes.context import Context
from ragweave.nodes.evaluators import judge, thresholds
from ragweave.nodes.looks import joined
from ragweave.nodes.passages import floors
from ragweave.nodes.pictures import look_first
from ragweave.nodes.recency import refaded
from ragweave.nodes.run import Run
from ragweave.nodes.state import Action, Evidence, Grade, State, Update, on_timeline


async def grade(state: State, runtime: Runtime[Context]) -> Update:
    """Return the verdict over the hop's items, and the items with their relevance.

    Each item is scored against the query of the hop that fetched it: pictures and video by their text, pictures also
    by what an image encoder makes of them, or by what a vision model, asked first, sees in them. The small
    evaluator's scores were computed by `fuse`; the other evaluators read all items at once. A model's verdict that
    cannot be read is `ambiguous`. Where newer items are preferred, age changes their order and never the verdict.
    """
    run = Run.of("grade", state, runtime)
    rows = {e["id"]: e for e in state.get("evidence", [])}
    items = [rows[i] for i in state.get("candidates", []) if i in rows]
    looked = await look_first(run, state["query"], items, relevance.UPPER)
    items = [Evidence(**{**e, "seen": looked[e["id"]]}) if e["id"] in looked else e for e in items]
    passages = [Passage(e["title"], " ".join(filter(None, (e["text"], e.get("seen"))))) for e in items]

    async def as_fused() -> list[float]:
        again = [n for n, e in enumerate(items) if e["id"] in looked]
        read = await floors(await run.library(), state["query"], [passages[n] for n in again]) if again else []
        found = dict(zip(again, read, strict=True))
        return [found.get(n, e["relevance"]) for n, e in enumerate(items)]

    scores: list[float] = []
    if items:
        scores = await judge(run, run.context.grade_by, state["query"], passages, as_fused)
    if run.by in ("llm", "checkpoint"):
        # The evaluators read texts; what an encoder saw counts beside them as it does in `fuse`.
        scores = [
            joined(s, e["looks"], run.context.alpha, bool(p.text)) if "looks" in e and e["id"] not in looked else s
            for s, e, p in zip(scores, items, passages, strict=True)
        ]
    upper, lower = thresholds(run.context, run.by)
    best = max(scores, default=-1.0)
    action = "ambiguous" if run.by == "small, llm unreadable" else verdict(best, upper, lower)
    if run.by in ("llm", "checkpoint") and any("fresh" in e for e in items):
        # What `fuse` computed includes age already; another evaluator's scores do not.
        scores = refaded(scores, [e.get("fresh", 1.0) for e in items])
    if on_timeline(state):
        # What only the order of things tells is on the timeline, however little its clips resemble the question.
        action, run.by = "correct", "timeline"
    graded = [Evidence(**{**e, "relevance": round(s, 4)}) for e, s in zip(items, scores, strict=True)]
    row: Grade = {"hop": run.hop, "action": action, "best": best, "upper": upper, "lower": lower, "by": run.by}
    update: Update = {"grade": row, "evidence": graded}
    if looked and state["query"] == state["question"]:
        update["best"] = max(s for s, e in zip(scores, items, strict=True) if e["id"] in looked)
    return run.done(f"{action}, best {best:+.2f} of {len(graded)}", data={"grade": row}, **update)


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
