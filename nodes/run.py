"""What a node has at hand while it runs: context, meter, models, library, events."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from langgraph.runtime import Runtime
from langgraph.types import RetryPolicy

from ragweave.corpora.store.library import Library, open_library
from ragweave.models.chat import Chat, Role, chat, is_transient
from ragweave.models.errors import ModelError, ModelTransient, RagweaveError
from ragweave.models.meter import Limits, Meter, Spend
from ragweave.models.settings import model_settings
from ragweave.nodes.answer import NodeUsage
from ragweave.nodes.context import Context
from ragweave.nodes.events import Spent
from ragweave.nodes.state import State, Update

logger = logging.getLogger(__name__)
T = TypeVar("T")

RETRY = RetryPolicy(max_attempts=3, initial_interval=0.2, retry_on=is_transient)
"""The one retry policy of the graph. Chat calls retry inside the client wrapper and arrive here as final."""


@dataclass
class Turn:
    """What the nodes of one turn share.

    Attributes:
        meter: its budget.
        down: the chat model could not be reached, all tries spent; the rest of the turn does not wait for it again.
    """

    meter: Meter
    down: bool = False


_TURNS: OrderedDict[str, Turn] = OrderedDict()
_TURNS_KEPT = 1_000


def turn_of(name: str, context: Context, usage: Sequence[NodeUsage] = ()) -> Turn:
    """Return what a turn's nodes share; after a restart its meter is rebuilt from what the state recorded."""
    turn = _TURNS.get(name)
    if turn is None:
        limits = Limits(context.max_model_calls, context.max_tokens, context.max_seconds, context.max_cost)
        turn = Turn(Meter(limits, model_settings().rate_table()))
        for row in usage:
            spent = NodeUsage.model_validate(row)
            turn.meter.record(Spend(**spent.model_dump()))
            turn.meter.take(spent.node)
        _TURNS[name] = turn
        while len(_TURNS) > _TURNS_KEPT:
            _TURNS.popitem(last=False)
    return turn


class Run:
    """One execution of one node.

    Attributes:
        node: name of the node.
        context: the run's knobs.
        meter: the turn's budget.
        hop: hop it works in.
        by: maker that decided, for the trace.
    """

    def __init__(
        self, node: str, context: Context, turn: Turn, hop: int, write: Callable[[Any], None], in_turn: bool = True
    ) -> None:
        self.node, self.context, self.hop = node, context, hop
        self.meter = turn.meter
        self.by = "small"
        self._turn = turn
        self._in_turn = in_turn
        self._write = write
        self._notes: list[str] = []
        self._started = time.perf_counter()

    @classmethod
    def of(cls, node: str, state: State, runtime: Runtime[Context], turn: str = "") -> Run:
        """Start a node: `turn` is given by the node that opens the turn."""
        context = Context.of(runtime)
        shared = turn_of(turn or state.get("turn", ""), context, () if turn else state.get("usage", ()))
        # A task that `plan` sends knows no turn, and so not what it has spent.
        in_turn = bool(turn or state.get("turn"))
        return cls(node, context, shared, state.get("hop", 0), runtime.stream_writer, in_turn)

    async def library(self) -> Library:
        """Open the library that the context names."""
        return await open_library(self.context.library)

    async def held(self) -> set[str]:
        """Return the corpora in which the library holds something."""
        return {corpus for corpus, n in (await (await self.library()).counts()).items() if n}

    def chat(self, role: Role = "judge", choice: str = "auto") -> Chat | None:
        """Return the chat model that should decide, or None where the small mind does.

        Raises:
            ModelError: if a language model is asked for and none is configured.
        """
        wanted = self.context.mind if choice == "auto" else choice
        if wanted == "small":
            return None
        found = chat(role)
        if found is None and wanted == "llm":
            raise ModelError(
                "this run asks for a language model, and none is configured",
                "set RAGWEAVE_CHAT (see docs/writer.md), or use mind=auto",
            )
        return found

    async def decide(
        self,
        model: Chat | None,
        llm: Callable[[Chat], Awaitable[T | None]],
        small: Callable[[], Awaitable[T]],
    ) -> T:
        """Let the language model decide, and the small mind where there is none or its reply is no use."""
        if model is not None and self._turn.down:
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
                if not self._turn.down:
                    self.note(f"{self.node}: {error}")
                self._turn.down |= isinstance(error, ModelTransient)
        return await small()

    def _spent(self) -> Spent:
        total = self.meter.spent
        tokens = total.input_tokens + total.output_tokens
        return {"calls": total.calls, "tokens": tokens, "seconds": round(self.meter.elapsed, 2)}

    def note(self, text: str) -> None:
        """Record something that could not be done, in words."""
        self._notes.append(text)

    def event(self, event: Any) -> None:
        """Send a typed event to the `custom` stream."""
        self._write(event)

    def done(self, summary: str, *, data: dict[str, Any] | None = None, **update: Any) -> Update:
        """Close the node: emit its step event, and add its usage and notes to the update."""
        seconds = time.perf_counter() - self._started
        step = {
            "type": "step",
            "node": self.node,
            "hop": self.hop,
            "by": self.by,
            "summary": summary,
            "seconds": round(seconds, 4),
            "data": data or {},
        }
        self.event(step | ({"spent": self._spent()} if self._in_turn else {}))
        usage = [NodeUsage(node=self.node, seconds=round(seconds, 4))]
        for s in self.meter.take(self.node):
            row = NodeUsage.model_validate(s, from_attributes=True)
            usage.append(row)
        return {**update, "usage": usage, **({"notes": self._notes} if self._notes else {})}
