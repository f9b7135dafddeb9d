"""Grade the hop's items against its query and draw CRAG's verdict (CRAG, sections 4.2 and 4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragweave.components.ask import Outcome
from ragweave.components.context import Context
from ragweave.components.evidence import Action, Evidence, Grade, Step, with_relevance
from ragweave.components.grade import Graded, grade_items
from ragweave.components.look import look_first
from ragweave.components.picture_relevance import worth_a_look
from ragweave.components.run_context import rewrites
from ragweave.models import relevance
from ragweave.nodes.run import NodeRun, NodeRuntime
from ragweave.nodes.state import State, Update, asked_together, best_of_hop, phrasings_of


async def grade(state: State, runtime: NodeRuntime) -> Update:
    """Return the verdict over the hop's items, and the items with their relevance.

    Each item is scored against the query of the hop that fetched it. Pictures and recordings are scored by
    their text; pictures also by an image encoder, or by what a vision model sees in them. A model's verdict
    that cannot be read is `ambiguous`. If newer items are preferred, age changes the order, but not the
    verdict.
    """
    run = NodeRun("grade", state, runtime)
    items = best_of_hop(state)
    looked = await look_first(run, state["query"], _worth_looking_at(items), relevance.UPPER)
    items = _with_looks(items, looked)
    made = Outcome(Graded([], relevance.UPPER, relevance.LOWER), "local")
    if items:
        made = await grade_items(run, asked_together(state), items, looked)
    scores = made.value.scores
    upper, lower = thresholds(run.context, made.value)
    best = max(scores, default=-1.0)
    unreadable = made.fallback is not None and made.fallback.kind == "unreadable"
    action = "ambiguous" if unreadable else verdict(best, upper, lower)
    graded = with_relevance(items, scores)
    before = state.get("grade")
    if before is not None and before["hop"] == run.hop:
        # Rewrites were searched in between. Their passages score too high, so the first verdict holds.
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


def _worth_looking_at(items: Sequence[Evidence]) -> list[Evidence]:
    worth = worth_a_look(items)
    kept = []
    for item in items:
        if item["id"] in worth:
            kept.append(item)
    return kept


def _with_looks(items: Sequence[Evidence], looked: Mapping[str, str]) -> list[Evidence]:
    """Return items with what a vision model saw in them."""
    seen: list[Evidence] = []
    for row in items:
        seen.append(Evidence(**{**row, "seen": looked[row["id"]]}) if row["id"] in looked else row)
    return seen


def thresholds(context: Context, graded: Graded) -> tuple[float, float]:
    """Return the upper and lower threshold: those of the context, or else of the evaluator that graded."""
    upper = graded.upper if context.method.upper is None else context.method.upper
    lower = graded.lower if context.method.lower is None else context.method.lower
    # A single given threshold may cross the evaluator's other one; then no score is `ambiguous`.
    return (upper, min(lower, upper)) if context.method.lower is None else (max(upper, lower), lower)


def verdict(best: float, upper: float, lower: float) -> Action:
    """Draw the verdict from the best score; both thresholds are inclusive (max rule, CRAG section 4.3)."""
    if best >= upper:
        return "correct"
    return "ambiguous" if best >= lower else "incorrect"


def _again(context: Context) -> list[Action]:
    """Return the verdicts after which a chat model rephrases the query."""
    if not rewrites(context):
        return []
    return ["incorrect", "ambiguous"] if context.effort == "high" else ["incorrect"]


def after_grade(state: State) -> list[Step]:
    """Return the next steps after the verdict, as labels of the graph's edges (CRAG, section 4.3).

    An incorrect round is searched once more in other words, unless the web is searched. Its items are kept
    even then: in two of three such rounds they hold what the question needs. With high effort an ambiguous
    round is rephrased as well.
    """
    grade = state["grade"]
    assert grade is not None
    action = grade["action"]
    if action == "incorrect":
        if grade["web"]:
            return ["web"]
        return ["incorrect"] if "incorrect" in grade["again"] else ["unsure"]
    if action in grade["again"]:
        return ["reword"]
    if action == "ambiguous" and grade["web"]:
        return [action, "web"]
    return [action]
