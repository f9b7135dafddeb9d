"""The context of a running node, and the step event that it emits."""

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
"""The second argument of a node, from LangGraph."""

ANSWERING = ("reason", "generate")
"""Nodes whose model can answer: one call is reserved for them."""


class NodeRun(RunContext):
    """One execution of one node: the run context of its components, and its step.

    The node that opens a turn passes the id of the `turn`. A node without a component passes its strategy
    as `by`.

    Attributes:
        fallback: the fallback of a component that does not decide.
        event: sends a typed event to the `custom` stream.
    """

    def __init__(
        self, node: str, state: Mapping[str, Any], runtime: NodeRuntime, turn: str = "", by: str = "local"
    ) -> None:
        # The node that opens a turn depends only on its run: the turn before must not affect it.
        begun = {} if turn else state.get("turn", {})
        context = Context.of(runtime, begun.get("knobs"))
        named = turn or begun.get("id", "")
        opened = partial(_opened, context, () if turn else state.get("usage", ()))
        # A node that is called alone has no turn, and shares nothing with other turns.
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
        """Close the node: emit its step event, and return the update with its usage and notes.

        The summary is the decision in words, `data` the same as data, and `made` the outcome of the component
        that decided, if any. `usage` in the update is usage that the meter has already handed out.
        """
        seconds = round(time.perf_counter() - self._started, 4)
        step: Update = {
            "type": "step",
            "node": self.node,
            "hop": self.hop,
            "by": made.by if made else self.by,
            "summary": summary,
            "seconds": seconds,
            "data": data or {},
        }
        fallback = (made and made.fallback) or self.fallback
        if fallback:
            step["fallback"] = asdict(fallback)
        if self._in_turn:
            step["spent"] = self._spent()
        self.event(step)
        usage = [*update.get("usage", ()), NodeUsage(node=self.node, seconds=seconds)]
        for spend in self.meter.take(self.node):
            usage.append(NodeUsage.model_validate(spend, from_attributes=True))
        self.notes += self.meter.notes()
        update["usage"] = usage
        if self.notes:
            update["notes"] = list(dict.fromkeys(self.notes))
        return update

    def _spent(self) -> Update:
        """Return the model calls, tokens and seconds of the turn so far."""
        total = self.meter.spent
        tokens = total.input_tokens + total.output_tokens
        return {"calls": total.calls, "tokens": tokens, "seconds": round(self.meter.elapsed, 2)}


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
