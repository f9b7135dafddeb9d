"""Who may decide what: a protocol per decision, and the one place where another mind stands in for one that fails."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Concatenate, Generic, Literal, NamedTuple, ParamSpec, Protocol, TypeVar

from ragweave.corpora.types import Label
from ragweave.minds.desk import Desk
from ragweave.minds.evidence import Evidence
from ragweave.models.errors import ModelTransient, RagweaveError
from ragweave.models.relevance import Passage

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
    """

    def __init__(self, small: Maker[P, T], first: Maker[P, T | None] | None = None, name: str = "llm") -> None:
        self._small, self._first, self._name = small, first, name

    async def __call__(self, desk: Desk, *args: P.args, **kwargs: P.kwargs) -> Made[T]:
        """Decide; a failure is noted at the desk once a turn."""
        if self._first is None:
            return Made(await self._small(desk, *args, **kwargs), "small")
        kind: Literal["unreadable", "failed", "down"] = "unreadable"
        why = "its reply could not be read"
        if self._name == "llm" and desk.turn.down:
            kind, why = "down", "it could not be reached"
        else:
            try:
                made = await self._first(desk, *args, **kwargs)
                if made is not None:
                    return Made(made, self._name)
            except RagweaveError as error:
                logger.info("%s fell back: %s", desk.node, error)
                kind, why = "failed", str(error)
                if not desk.turn.down:
                    desk.note(f"{desk.node}: {error}")
                desk.turn.down |= isinstance(error, ModelTransient) and self._name == "llm"
        stood_in = await self._small(desk, *args, **kwargs)
        return Made(stood_in, f"small, {self._name} {kind}", Fallback(why, "small", kind))


class Routed(NamedTuple):
    """Labels, best first, the confidence of each label that could be had, and the reason in words."""

    labels: list[Label]
    confidence: dict[str, float]
    why: str


class Router(Protocol):
    """Chooses the corpora that a query is sent to (UniversalRAG)."""

    async def __call__(self, desk: Desk, query: str, held: Collection[Label]) -> Made[Routed]:
        """Return the corpora; `held` are those in which the library holds something."""
        ...


@dataclass(frozen=True)
class Graded:
    """Relevance of items in [-1, 1] to their query, and the thresholds that belong to its evaluator (CRAG).

    Attributes:
        scores: one per item.
        upper: from here on an item is relevant.
        lower: below, it is not.
        looked: what a vision model saw in items that were looked at for the verdict, by id.
    """

    scores: list[float]
    upper: float
    lower: float
    looked: dict[str, str] = field(default_factory=dict)


class Evaluator(Protocol):
    """Grades what a hop brought against its query (CRAG, section 4.2)."""

    async def __call__(
        self, desk: Desk, query: str, items: Sequence[Evidence], reread: Collection[str]
    ) -> Made[Graded]:
        """Return the grades; `reread` are the ids of items whose text has changed since `fuse` scored them."""
        ...


class PassageEvaluator(Protocol):
    """Scores passages that no hop has scored: strips, pages of the web, clips."""

    async def __call__(self, desk: Desk, query: str, passages: Sequence[Passage]) -> Made[list[float]]:
        """Return their relevance in [-1, 1]."""
        ...


@dataclass(frozen=True)
class Minds:
    """Who decides in a run."""

    router: Router
    evaluator: Evaluator
    passage_evaluator: PassageEvaluator
    """Judges clips; follows the evaluator."""
    strip_evaluator: PassageEvaluator
    """Judges strips and pages of the web."""
