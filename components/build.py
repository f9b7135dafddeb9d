"""Choose who decides, once a run."""

from __future__ import annotations

from typing import ParamSpec, TypeVar

from ragweave.components.component import Component, Strategy
from ragweave.components.context import Context
from ragweave.components.llm import clips as llm_clips
from ragweave.components.llm import condense as llm_condense
from ragweave.components.llm import expand as llm_expand
from ragweave.components.llm import grade as llm_grade
from ragweave.components.llm import look, recall
from ragweave.components.llm import reason as llm_reason
from ragweave.components.llm import rewrite as llm_rewrite
from ragweave.components.llm import route as llm_route
from ragweave.components.llm import search_web as llm_search_web
from ragweave.components.llm import see as llm_see
from ragweave.components.llm import write as llm_write
from ragweave.components.local import clips as local_clips
from ragweave.components.local import condense as local_condense
from ragweave.components.local import expand as local_expand
from ragweave.components.local import grade as local_grade
from ragweave.components.local import quotes as local_quotes
from ragweave.components.local import reason as local_reason
from ragweave.components.local import rewrite as local_rewrite
from ragweave.components.local import route as local_route
from ragweave.components.local import search_web as local_search_web
from ragweave.components.local import see as local_see
from ragweave.components.protocols import Components, Router
from ragweave.components.run_context import chosen
from ragweave.models.chat import Role
from ragweave.models.settings import model_settings

P = ParamSpec("P")
T = TypeVar("T")


def build(context: Context) -> Components:
    """Return the components of a run: a language model's where one is asked for or, under `auto`, configured.

    Raises:
        ModelError: if a language model is asked for and none is configured.
    """
    recaller = either(context, recall.nothing, recall.recall, role="writer")
    rewrites = "auto" if context.method.form == "video-rag" or context.effort == "high" else "local"
    by, sees = context.grade_by, context.look == "auto" and chosen("vision", context) is not None
    graded, passages, keep = local_grade.grade, local_grade.passages, local_clips.keep
    return Components(
        condenser=either(context, local_condense.condense, llm_condense.condense),
        seer=either(context, local_see.see, llm_see.see, role="vision" if context.look == "auto" else None),
        router=_router(context),
        expander=either(context, local_expand.expand, llm_expand.expand),
        web_querist=either(context, local_search_web.web_query, llm_search_web.web_query),
        evaluator=_graded(context, by, graded, llm_grade.grade, llm_grade.grade_by_checkpoint),
        strip_evaluator=_graded(context, by, passages, llm_grade.passages, llm_grade.passages_by_checkpoint),
        reasoner=either(context, local_reason.reason, llm_reason.reason, role="reasoner"),
        recaller=None if recaller.alone else recaller,
        writer=either(context, local_quotes.write, llm_write.write, role="writer"),
        rewriter=either(context, local_rewrite.rewrite, llm_rewrite.rewrite, rewrites),
        clip_filter=_graded(context, by, keep, llm_clips.keep, llm_clips.keep_by_checkpoint),
        looker=Component(look.nothing, look.look_closer) if sees else Component(look.nothing),
    )


def either(
    context: Context,
    local: Strategy[P, T],
    llm: Strategy[P, T | None],
    choice: str = "auto",
    role: Role | None = "judge",
) -> Component[P, T]:
    """Return the component of a language model, the local one behind it, where `choice` says so; else the local one.

    The choice is `auto`, `local` or `llm`; without a role there is no model to ask.
    """
    model = chosen(role, context, choice) if role else None
    return Component(local) if model is None else Component(local, llm, host=model.host)


def _graded(
    context: Context, by: str, local: Strategy[P, T], llm: Strategy[P, T | None], checkpoint: Strategy[P, T | None]
) -> Component[P, T]:
    """Return the component of a trained checkpoint, of a language model, or the local one, as `by` says."""
    if by == "checkpoint":
        return Component(local, checkpoint, "checkpoint")
    return either(context, local, llm, "llm" if by == "llm" else "local")


def _router(context: Context) -> Router:
    if context.route_by == "ensemble":
        trained = llm_route.by_checkpoint if model_settings().router else None
        first = Component(local_route.trained, trained, "checkpoint")
        model = chosen("judge", context)
        host = "" if model is None else model.host
        return llm_route.Ensemble(first, Component(local_route.route, llm_route.route, host=host))
    return _graded(context, context.route_by, local_route.route, llm_route.route, llm_route.by_checkpoint)
