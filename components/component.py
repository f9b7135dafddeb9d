"""One decision, and the one place where another strategy stands in for one that fails."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Concatenate, Generic, Literal, ParamSpec, TypeVar

from ragweave.components.run_context import RunContext
from ragweave.models.errors import BudgetSpent, ModelTransient, RagweaveError

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Fallback:
    """Why a strategy did not decide, and which one stood in.

    Attributes:
        why: in words.
        stood_in: name of the strategy that decided.
        kind: its reply could not be read, it failed, or it could not be reached in this turn and was not asked again.
    """

    why: str
    stood_in: str
    kind: Literal["unreadable", "failed", "down"]


@dataclass(frozen=True)
class Outcome(Generic[T_co]):
    """A decision, the name of the strategy that made it, and why it is not the one that was chosen."""

    value: T_co
    by: str
    fallback: Fallback | None = None


Strategy = Callable[Concatenate[RunContext, P], Awaitable[T]]


class Component(Generic[P, T]):
    """A decision and its strategies: the one of choice, and one that cannot fail to stand in for it.

    Args:
        local: stands in, or decides alone where there is no other.
        first: the strategy of choice; None from it says that its reply cannot be read.
        name: what the strategy of choice is called.
        host: server of its model; another role may have another one, and go on where this one is down.
    """

    def __init__(
        self, local: Strategy[P, T], first: Strategy[P, T | None] | None = None, name: str = "llm", host: str = ""
    ) -> None:
        self._local, self._first, self._name, self._host = local, first, name, host

    @property
    def alone(self) -> bool:
        """Whether the local strategy decides, and no other is asked."""
        return self._first is None

    async def __call__(self, run: RunContext, *args: P.args, **kwargs: P.kwargs) -> Outcome[T]:
        """Decide; that another strategy stood in is noted in the run, a server that is down once a turn."""
        if self._first is None:
            return Outcome(await self._local(run, *args, **kwargs), "local")
        kind: Literal["unreadable", "failed", "down"] = "unreadable"
        why = "its reply could not be read"
        asks = True
        if self._name == "llm" and run.lost(self._host):
            asks, kind, why = False, "down", "it could not be reached"
        while asks:
            said, asks = len(run.notes), False
            try:
                made = await self._first(run, *args, **kwargs)
                if made is not None:
                    return Outcome(made, self._name)
                if len(run.notes) == said:  # a strategy that knows more of what was lost has noted it
                    run.note("In one step the model's reply could not be read; that step was taken without it.")
            except RagweaveError as error:
                logger.info("%s fell back: %s", run.node, error)
                kind, why = "failed", str(error)
                # A limit of the run is told once, at its end.
                limited = isinstance(error, BudgetSpent) and run.meter.refused
                if not (limited or run.lost(self._host)):
                    run.note(f"{run.node}: {error}")
                if isinstance(error, ModelTransient) and self._name == "llm":
                    # Nothing was shown: what was cut short over its answer does not come here.
                    run.lose(self._host)
                    asks = not run.lost(self._host)
        stood_in = await self._local(run, *args, **kwargs)
        return Outcome(stood_in, f"local, {self._name} {kind}", Fallback(why, "local", kind))
