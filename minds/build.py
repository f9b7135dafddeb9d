"""Choose who decides, once a run."""

from __future__ import annotations

from typing import ParamSpec, TypeVar

from ragweave.minds.context import Context
from ragweave.minds.contracts import Minds, Router
from ragweave.minds.desk import chosen
from ragweave.minds.llm import check as llm_check
from ragweave.minds.llm import clips as llm_clips
from ragweave.minds.llm import condense as llm_condense
from ragweave.minds.llm import expand as llm_expand
from ragweave.minds.llm import grade as llm_grade
from ragweave.minds.llm import look, recall
from ragweave.minds.llm import reason as llm_reason
from ragweave.minds.llm import rewrite as llm_rewrite
from ragweave.minds.llm import route as llm_route
from ragweave.minds.llm import search_web as llm_search_web
from ragweave.minds.llm import see as llm_see
from ragweave.minds.llm import write as llm_write
from ragweave.minds.mind import Maker, Mind
from ragweave.minds.small import check as small_check
from ragweave.minds.small import clips as small_clips
from ragweave.minds.small import condense as small_condense
from ragweave.minds.small import expand as small_expand
from ragweave.minds.small import grade as small_grade
from ragweave.minds.small import quotes as small_quotes
from ragweave.minds.small import reason as small_reason
from ragweave.minds.small import rewrite as small_rewrite
from ragweave.minds.small import route as small_route
from ragweave.minds.small import search_web as small_search_web
from ragweave.minds.small import see as small_see
from ragweave.models.chat import Role
from ragweave.models.settings import model_settings

P = ParamSpec("P")
T = TypeVar("T")


def build(context: Context) -> Minds:
    """Return the minds of a run: a language model where the context asks for one or, under `auto`, one is configured.

    Raises:
        ModelError: if a language model is asked for and none is configured.
    """
    strips = context.method.refine_by
    if strips == "auto":
        strips = "small" if context.grade_by == "auto" else context.grade_by
    opinion = "small" if context.check_by == "off" else context.check_by
    second = either(context, llm_check.doubt, llm_check.check, opinion)
    recaller = either(context, recall.nothing, recall.recall, role="writer")
    rewrites = "auto" if context.expand_when == "always" else "small"
    by, sees = context.grade_by, context.look == "auto" and chosen("vision", context) is not None
    graded, passages, keep = small_grade.grade, small_grade.passages, small_clips.keep
    return Minds(
        condenser=either(context, small_condense.condense, llm_condense.condense),
        seer=either(context, small_see.see, llm_see.see, role="vision" if context.look == "auto" else None),
        router=_router(context),
        expander=either(context, small_expand.expand, llm_expand.expand),
        web_querist=either(context, small_search_web.web_query, llm_search_web.web_query),
        evaluator=_graded(context, by, graded, llm_grade.grade, llm_grade.grade_by_checkpoint),
        strip_evaluator=_graded(context, strips, passages, llm_grade.passages, llm_grade.passages_by_checkpoint),
        reasoner=either(context, small_reason.reason, llm_reason.reason, role="reasoner"),
        recaller=None if recaller.alone else recaller,
        writer=either(context, small_quotes.write, llm_write.write, role="writer"),
        checker=Mind(small_check.check),
        second=None if second.alone else second,
        rewriter=either(context, small_rewrite.rewrite, llm_rewrite.rewrite, rewrites),
        clip_filter=_graded(context, by, keep, llm_clips.keep, llm_clips.keep_by_checkpoint),
        looker=Mind(look.nothing, look.look_closer) if sees else Mind(look.nothing),
    )


def either(
    context: Context,
    small: Maker[P, T],
    llm: Maker[P, T | None],
    choice: str = "auto",
    role: Role | None = "judge",
) -> Mind[P, T]:
    """Return the mind of a language model with the small one behind it where `choice` says so, else the small one.

    The choice is `auto`, `small` or `llm`; without a role there is no model to ask.
    """
    model = chosen(role, context, choice) if role else None
    return Mind(small) if model is None else Mind(small, llm, host=model.host)


def _graded(
    context: Context, by: str, small: Maker[P, T], llm: Maker[P, T | None], checkpoint: Maker[P, T | None]
) -> Mind[P, T]:
    """Return the mind of a trained checkpoint, that of a language model, or the small one, as `by` says."""
    if by == "checkpoint":
        return Mind(small, checkpoint, "checkpoint")
    return either(context, small, llm, "llm" if by == "llm" else "small")


def _router(context: Context) -> Router:
    if context.route_by == "ensemble":
        trained = llm_route.by_checkpoint if model_settings().router else None
        first = Mind(small_route.route, trained, "checkpoint")
        model = chosen("judge", context)
        host = "" if model is None else model.host
        return llm_route.Ensemble(first, Mind(small_route.route, llm_route.route, host=host))
    return _graded(context, context.route_by, small_route.route, llm_route.route, llm_route.by_checkpoint)
