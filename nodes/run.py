"""What a node has at hand while it runs: context, meter, models, library, events."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from langgraph.runtime import Runtime
from langgraph.types import RetryPolicy

from ragweave.minds.build import build
from ragweave.minds.context import Context
from ragweave.minds.contracts import Minds
from ragweave.minds.desk import Desk, Turn, chosen
from ragweave.minds.mind import Made
from ragweave.models.chat import Chat, Role, is_transient
from ragweave.models.errors import ModelTransient, RagweaveError
from ragweave.models.meter import Limits, Meter, Spend
from ragweave.models.settings import model_settings
from ragweave.nodes.answer import NodeUsage
from ragweave.nodes.events import Spent
from ragweave.nodes.state import State, Update

logger = logging.getLogger(__name__)
T = TypeVar("T")

RETRY = RetryPolicy(max_attempts=3, initial_interval=0.2, retry_on=is_transient)
"""The one retry policy of the graph. Chat calls retry inside the client wrapper and arrive here as final."""


class Run(Desk):
    """One execution of one node: the desk that it lends to minds, and what it says when it is done.

    Attributes:
        by: maker that decided, for the trace, where no mind was asked.
    """

    def __init__(
        self,
        node: str,
        context: Context,
        turn: Turn,
        hop: int = 0,
        write: Callable[[Any], None] = lambda event: None,
        in_turn: bool = True,
    ) -> None:
        super().__init__(node, context, turn, hop)
        self.by = "small"
        self._in_turn = in_turn
        self._write = write
        self._started = time.perf_counter()

    @classmethod
    def of(cls, node: str, state: State, runtime: Runtime[Context], turn: str = "") -> Run:
        """Start a node: `turn` is given by the node that opens the turn."""
        context = Context.of(runtime)
        shared = context.turn(
            turn or state.get("turn", ""), lambda: _opened(context, () if turn else state.get("usage", ()))
        )
        # A task that `plan` sends knows no turn, and so not what it has spent.
        in_turn = bool(turn or state.get("turn"))
        return cls(node, context, shared, state.get("hop", 0), runtime.stream_writer, in_turn)

    @property
    def minds(self) -> Minds:
        """Who decides in this run, chosen when it is first asked."""
        minds: Minds = self.turn.minds or build(self.context)
        self.turn.minds = minds
        return minds

    def chat(self, role: Role = "judge", choice: str = "auto") -> Chat | None:
        """Return the chat model that should decide, or None where the small mind does.

        Raises:
            ModelError: if a language model is asked for and none is configured.
        """
        return chosen(role, self.context.mind if choice == "auto" else choice)

    async def decide(
        self,
        model: Chat | None,
        llm: Callable[[Chat], Awaitable[T | None]],
        small: Callable[[], Awaitable[T]],
    ) -> T:
        """Let the language model decide, and the small mind where there is none or its reply is no use."""
        if model is not None and self.turn.down:
            self.by = "small, llm down"
        elif model is not None:
            try:
                decided = await llm(model)
                if decided is not None:
                    self.by = "llm"
                    return decided
                self.by = "small, llm unreadable"
            except RagweaveError as error:
                logger.info("%s fell back: %s", self.node, error)
                self.by = "small, llm failed"
                if not self.turn.down:
                    self.note(f"{self.node}: {error}")
                self.turn.down |= isinstance(error, ModelTransient)
        return await small()

    def _spent(self) -> Spent:
        total = self.meter.spent
        tokens = total.input_tokens + total.output_tokens
        return {"calls": total.calls, "tokens": tokens, "seconds": round(self.meter.elapsed, 2)}

    def event(self, event: Any) -> None:
        """Send a typed event to the `custom` stream."""
        self._write(event)

    def done(
        self, summary: str, made: Made[Any] | None = None, /, *, data: dict[str, Any] | None = None, **update: Any
    ) -> Update:
        """Close the node: emit its step event, and add its usage and notes to the update.

        Args:
            summary: what was decided, in words.
            made: the decision, where a mind made it.
            data: the decision as data.
            update: what the node adds to the state.
        """
        seconds = time.perf_counter() - self._started
        step = {
            "type": "step",
            "node": self.node,
            "hop": self.hop,
            "by": made.by if made else self.by,
            "summary": summary,
            "seconds": round(seconds, 4),
            "data": data or {},
        }
        if made and made.fallback:
            step["fallback"] = asdict(made.fallback)
        self.event(step | ({"spent": self._spent()} if self._in_turn else {}))
        usage = [NodeUsage(node=self.node, seconds=round(seconds, 4))]
        for s in self.meter.take(self.node):
            row = NodeUsage.model_validate(s, from_attributes=True)
            usage.append(row)
        return {**update, "usage": usage, **({"notes": self.notes} if self.notes else {})}


def _opened(context: Context, usage: Sequence[NodeUsage]) -> Turn:
    """Open a turn; after a restart its meter is rebuilt from what the state recorded."""
    limits = Limits(context.max_model_calls, context.max_tokens, context.max_seconds, context.max_cost)
    turn = Turn(Meter(limits, model_settings().rate_table()))
    for row in usage:
        spent = NodeUsage.model_validate(row)
        turn.meter.record(Spend(**spent.model_dump()))
        turn.meter.take(spent.node)
    return turn
