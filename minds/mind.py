"""One decision, and the one place where another mind stands in for one that fails."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Concatenate, Generic, Literal, ParamSpec, TypeVar

from ragweave.minds.desk import Desk
from ragweave.models.errors import ModelTransient, RagweaveError

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True)
class Fallback:
    """Why a mind did not decide, and which one stood in.

    Attributes:
        why: in words.
        stood_in: name of the mind that decided.
        kind: its reply could not be read, it failed, or it could not be reached in this turn and was not asked again.
    """

    why: str
    stood_in: str
    kind: Literal["unreadable", "failed", "down"]


@dataclass(frozen=True)
class Made(Generic[T_co]):
    """A decision, the name of the mind that made it, and why it is not the one that was chosen."""

    value: T_co
    by: str
    fallback: Fallback | None = None


Maker = Callable[Concatenate[Desk, P], Awaitable[T]]


class Mind(Generic[P, T]):
    """A decision and who makes it: the maker of choice, and one that cannot fail to stand in for it.

    Args:
        small: stands in, or decides alone where there is no other.
        first: the maker of choice; None from it says that its reply cannot be read.
        name: what the maker of choice is called.
        host: server of its model; another role may have another one, and go on where this one is down.
    """

    def __init__(
        self, small: Maker[P, T], first: Maker[P, T | None] | None = None, name: str = "llm", host: str = ""
    ) -> None:
        self._small, self._first, self._name, self._host = small, first, name, host

    @property
    def alone(self) -> bool:
        """Whether the small maker decides, and no other is asked."""
        return self._first is None

    async def __call__(self, desk: Desk, *args: P.args, **kwargs: P.kwargs) -> Made[T]:
        """Decide; that another mind stood in is noted at the desk, a server that is down once a turn."""
        if self._first is None:
            return Made(await self._small(desk, *args, **kwargs), "small")
        kind: Literal["unreadable", "failed", "down"] = "unreadable"
        why = "its reply could not be read"
        if self._name == "llm" and self._host in desk.turn.down:
            kind, why = "down", "it could not be reached"
        else:
            said = len(desk.notes)
            try:
                made = await self._first(desk, *args, **kwargs)
                if made is not None:
                    return Made(made, self._name)
                if len(desk.notes) == said:  # a maker that knows more of what was lost has noted it
                    desk.note(f"{desk.node}: the model's reply could not be read, and the small mind stood in")
            except RagweaveError as error:
                logger.info("%s fell back: %s", desk.node, error)
                kind, why = "failed", str(error)
                if self._host not in desk.turn.down:
                    desk.note(f"{desk.node}: {error}")
                if isinstance(error, ModelTransient) and self._name == "llm":
                    desk.turn.down.add(self._host)
        stood_in = await self._small(desk, *args, **kwargs)
        return Made(stood_in, f"small, {self._name} {kind}", Fallback(why, "small", kind))
