"""Run the chosen strategy of a decision; if it fails, the local one decides, and the outcome says so."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Concatenate, Generic, Literal, NamedTuple, ParamSpec, TypeVar

from ragweave.components.context import Context
from ragweave.components.run_context import RunContext, chosen
from ragweave.models.chat import Role
from ragweave.models.errors import BudgetSpent, ModelTransient, RagweaveError

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Kind = Literal["unreadable", "failed", "down"]


@dataclass(frozen=True)
class Fallback:
    """Why the chosen strategy did not decide, and which one did instead.

    Attributes:
        why: reason, in words.
        stood_in: name of the strategy that decided.
        kind: the reply was unreadable, the call failed, or the server is down for the rest of the turn.
    """

    why: str
    stood_in: str
    kind: Kind


@dataclass(frozen=True)
class Outcome(Generic[T_co]):
    """A decision, the name of the strategy that made it, and why the chosen one did not."""

    value: T_co
    by: str
    fallback: Fallback | None = None


class Chosen(NamedTuple):
    """The strategy that a run prefers to the local one.

    Attributes:
        name: `llm` or `checkpoint`.
        host: server of its chat model; roles may use different servers.
    """

    name: str
    host: str = ""


CHECKPOINT = Chosen("checkpoint")

Strategy = Callable[Concatenate[RunContext, P], Awaitable[T]]
"""A way to make a decision; the chosen one returns None if the model's reply is unreadable."""


def model_of(context: Context, role: Role = "judge", choice: str = "auto") -> Chosen | None:
    """Return the strategy of the chat model of a role, or None if the local one decides.

    The choice is `auto` (by the mode of the run), `local` or `llm`.

    Raises:
        ModelError: the run requires a chat model, and none is configured.
    """
    model = chosen(role, context, choice)
    return None if model is None else Chosen("llm", model.host)


async def first_of(
    run: RunContext,
    first: Chosen | None,
    strategy: Strategy[P, T | None],
    local: Strategy[P, T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Outcome[T]:
    """Return the decision of `strategy` if a strategy was chosen and succeeds, else that of `local`.

    A failure becomes a note. A server that is down is noted once a turn and gets no further call in it.
    """
    if first is None:
        return Outcome(await local(run, *args, **kwargs), "local")
    failed = Fallback("its reply could not be read", "local", "unreadable")
    tries = True
    if first.name == "llm" and run.lost(first.host):
        failed = Fallback("it could not be reached", "local", "down")
        tries = False
    while tries:
        tries = False
        noted = len(run.notes)
        try:
            made = await strategy(run, *args, **kwargs)
        except RagweaveError as error:
            failed = Fallback(str(error), "local", "failed")
            tries = _note_failure(run, first, error)
            continue
        if made is not None:
            return Outcome(made, first.name)
        # A strategy may have noted the loss in more detail.
        if len(run.notes) == noted:
            run.note("In one step the model's reply could not be read; that step was taken without it.")
    return Outcome(await local(run, *args, **kwargs), f"local, {first.name} {failed.kind}", failed)


def _note_failure(run: RunContext, first: Chosen, error: RagweaveError) -> bool:
    """Note why a strategy failed; return whether the fallback model can replace a server that is down."""
    logger.info("%s fell back: %s", run.node, error)
    # The end of the run names its spent limit once.
    limited = isinstance(error, BudgetSpent) and run.meter.refused
    if not (limited or run.lost(first.host)):
        run.note(f"{run.node}: {error}")
    if first.name != "llm" or not isinstance(error, ModelTransient):
        return False
    # No part of an answer is shown yet: a strategy that has shown one handles the error itself.
    run.lose(first.host)
    return not run.lost(first.host)
