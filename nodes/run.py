"""What a node has at hand while it runs, and the event of the `custom` stream that tells what it did."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import RetryPolicy

from ragweave.components.answer import NodeUsage
from ragweave.components.ask import Fallback, Outcome
from ragweave.components.context import Context
from ragweave.components.run_context import RunContext, TurnState
from ragweave.models.chat import is_transient
from ragweave.models.meter import Limits, Meter, Spend
from ragweave.models.settings import model_settings
from ragweave.nodes.state import Update

RETRY = RetryPolicy(max_attempts=3, initial_interval=0.2, retry_on=is_transient)
"""The one retry policy of the graph. Chat calls retry inside the client wrapper and arrive here as final."""

NodeRuntime = Runtime[Context]
"""What LangGraph gives a node beside its state."""

ANSWERING = ("reason", "generate")
"""Nodes whose model can answer: one call is kept for them."""


class NodeRun(RunContext):
    """One execution of one node: the run context that it lends to components, and its step.

    `turn` is the id of the turn, from the node that opens it; `by` the strategy where no component is asked.

    Attributes:
        fallback: of a component that was asked beside the one that decides.
        event: sends a typed event to the `custom` stream.
    """

    def __init__(
        self, node: str, state: Mapping[str, Any], runtime: NodeRuntime, turn: str = "", by: str = "local"
    ) -> None:
        # The node that opens a turn is set by its run alone: nothing of the turn before may reach into it.
        begun = {} if turn else state.get("turn", {})
        context = Context.of(runtime, begun.get("knobs"))
        named = turn or begun.get("id", "")
        opened = partial(_opened, context, () if turn else state.get("usage", ()))
        # A node that is called alone knows no turn; it shares nothing with other turns.
        shared = context.turn(named, opened) if named else opened()
        super().__init__(node, context, shared, 0 if turn else state.get("hop", 0))
        self.by, self.event = by, runtime.stream_writer
        self.fallback: Fallback | None = None
        self._in_turn, self._started = bool(named), time.perf_counter()

    def done(
        self,
        summary: str,
        made: Outcome[Any] | None = None,
        /,
        *,
        data: dict[str, Any] | None = None,
        **update: Any,
    ) -> Update:
        """Close the node: emit its step event, and add its usage and notes to the update.

        The summary says in words what was decided, `data` as data; `made` is the decision, where a component
        made it; `usage` in the update is what the meter no longer holds.
        """
        seconds = time.perf_counter() - self._started
        step: Update = {
            "type": "step",
            "node": self.node,
            "hop": self.hop,
            "by": made.by if made else self.by,
        }
        step |= {"summary": summary, "seconds": round(seconds, 4), "data": data or {}}
        if fallback := (made and made.fallback) or self.fallback:
            step["fallback"] = asdict(fallback)
        if self._in_turn:
            total = self.meter.spent
            tokens = total.input_tokens + total.output_tokens
            step["spent"] = {"calls": total.calls, "tokens": tokens, "seconds": round(self.meter.elapsed, 2)}
        self.event(step)
        usage = [*update.get("usage", ()), NodeUsage(node=self.node, seconds=round(seconds, 4))]
        usage += [NodeUsage.model_validate(s, from_attributes=True) for s in self.meter.take(self.node)]
        self.notes += self.meter.notes()
        return {**update, "usage": usage, **({"notes": [*dict.fromkeys(self.notes)]} if self.notes else {})}


def _opened(context: Context, usage: Sequence[NodeUsage]) -> TurnState:
    """Open a turn; after a restart its meter is rebuilt from what the state recorded."""
    limits = Limits(
        context.max_model_calls, context.max_tokens, context.max_seconds, context.max_cost, ANSWERING
    )
    turn = TurnState(Meter(limits, model_settings().rate_table()))
    for row in usage:
        spent = NodeUsage.model_validate(row)
        turn.meter.record(Spend(**spent.model_dump()))
        turn.meter.take(spent.node)
    return turn
