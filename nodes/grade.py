"""Grade the hop's items against its query and draw CRAG's verdict (CRAG, sections 4.2 and 4.3)."""

from __future__ import annotations

from ragweave.components.ask import Outcome
from ragweave.components.context import Context
from ragweave.components.evidence import Action, Evidence, Grade, Step
from ragweave.components.grade import Graded, grade_items
from ragweave.components.look import look_first
from ragweave.components.picture_relevance import worth_a_look
from ragweave.components.run_context import rewrites
from ragweave.models import relevance
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update, asked_together, phrasings_of


async def grade(state: State, runtime: NodeRuntime) -> Update:
    """Return the verdict over the hop's items, and the items with their relevance.

    Each item is scored against the query of the hop that fetched it: pictures and video by their text,
    pictures also by what an image encoder makes of them, or by what a vision model, asked first, sees in
    them. A model's verdict that cannot be read is `ambiguous`. Where newer items are preferred, age changes
    their order and never the verdict.
    """
    run = NodeRun("grade", state, runtime)
    rows = {e["id"]: e for e in state.get("evidence", [])}
    items = [rows[i] for i in state.get("candidates", []) if i in rows]
    worth = worth_a_look(items)
    looked = await look_first(run, state["query"], [e for e in items if e["id"] in worth], relevance.UPPER)
    items = [Evidence(**{**e, "seen": looked[e["id"]]}) if e["id"] in looked else e for e in items]
    made = Outcome(Graded([], relevance.UPPER, relevance.LOWER), "local")
    if items:
        made = await grade_items(run, asked_together(state), items, looked)
    scores = made.value.scores
    upper, lower = thresholds(run.context, made.value)
    best = max(scores, default=-1.0)
    unreadable = made.fallback is not None and made.fallback.kind == "unreadable"
    action = "ambiguous" if unreadable else verdict(best, upper, lower)
    graded = [Evidence(**{**e, "relevance": round(s, 4)}) for e, s in zip(items, scores, strict=True)]
    before = state.get("grade")
    if before is not None and before["hop"] == run.hop:
        # Rewrites were searched since. Their passages look better than they are: the first verdict holds.
        action = before["action"]
    row: Grade = {
        "hop": run.hop,
        "action": action,
        "best": best,
        "upper": upper,
        "lower": lower,
        "by": made.by,
        "web": run.context.web != "off",
        "again": _again(run.context) if not phrasings_of(state)["by"] else [],
    }
    update: Update = {"grade": row, "evidence": graded}
    return run.done(f"{action}, best {best:+.2f} of {len(graded)}", made, data={"grade": row}, **update)


def thresholds(context: Context, graded: Graded) -> tuple[float, float]:
    """Return the upper and lower threshold of the evaluator that graded; what the context names comes first."""
    upper = graded.upper if context.method.upper is None else context.method.upper
    lower = graded.lower if context.method.lower is None else context.method.lower
    # A threshold given alone may lie beyond the evaluator's other one; then there is no `ambiguous` left
    # between them.
    return (upper, min(lower, upper)) if context.method.lower is None else (max(upper, lower), lower)


def verdict(best: float, upper: float, lower: float) -> Action:
    """Draw the verdict from the best score; both thresholds are inclusive (max rule, CRAG section 4.3)."""
    if best >= upper:
        return "correct"
    return "ambiguous" if best >= lower else "incorrect"


def _again(context: Context) -> list[Action]:
    """Return the verdicts upon which a chat model writes other words for a query."""
    if not rewrites(context):
        return []
    return ["incorrect", "ambiguous"] if context.effort == "high" else ["incorrect"]


def after_grade(state: State) -> list[Step]:
    """Return what the verdict leads to, in the words of the graph's edges (CRAG, section 4.3).

    An incorrect one is searched once more in other words, if the web is not searched. What was found goes on
    even then: in two of three such rounds it holds what the question needs. With high effort an ambiguous one
    is searched in other words as well.
    """
    grade = state["grade"]
    assert grade is not None
    if grade["action"] == "incorrect":
        return ["web"] if grade["web"] else ["incorrect"] if "incorrect" in grade["again"] else ["unsure"]
    if grade["action"] in grade["again"]:
        return ["reword"]
    return [grade["action"], "web"] if grade["web"] and grade["action"] == "ambiguous" else [grade["action"]]
