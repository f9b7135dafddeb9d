"""What a node has at hand while it runs, and the typed events of the `custom` stream that tell what it does."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Literal, NotRequired

from langchain_core.messages import AIMessageChunk
from langgraph.config import get_config
from langgraph.graph.message import push_message
from langgraph.runtime import Runtime
from langgraph.types import RetryPolicy
from typing_extensions import TypedDict

from ragweave.minds.build import build
from ragweave.minds.context import Context
from ragweave.minds.contracts import Minds
from ragweave.minds.desk import Desk, Turn
from ragweave.minds.evidence import Citation, Sentence, Support
from ragweave.minds.mind import Made
from ragweave.models.chat import is_transient
from ragweave.models.meter import Limits, Meter, Spend
from ragweave.models.settings import model_settings
from ragweave.nodes.answer import NodeUsage
from ragweave.nodes.state import State, Update

RETRY = RetryPolicy(max_attempts=3, initial_interval=0.2, retry_on=is_transient)
"""The one retry policy of the graph. Chat calls retry inside the client wrapper and arrive here as final."""


ANSWERING = ("reason", "generate")
"""Nodes whose model can answer: one call is kept for them."""


class Spent(TypedDict):
    """What a turn has spent up to here."""

    calls: int
    """Calls of chat models."""
    tokens: int
    """Tokens that they read and wrote."""
    seconds: float
    """Since the turn began."""


class StepEvent(TypedDict):
    """A node has finished."""

    type: Literal["step"]
    node: str
    hop: int
    by: str
    """Maker that decided: `small`, `llm`, `llm failed, small`, or a rule."""
    summary: str
    """What was decided, in words."""
    seconds: float
    data: dict[str, Any]
    """The decision itself, JSON-serialisable."""
    fallback: NotRequired[dict[str, str]]
    """Why the mind of choice did not decide, and which one stood in."""
    spent: NotRequired[Spent]
    """Not told by tasks that run side by side."""


class SentenceEvent(TypedDict):
    """A sentence has passed its check; it will not be taken back."""

    type: Literal["sentence"]
    text: str
    support: Support
    citations: list[dict[str, Any]]
    """The citations it rests on, with their numbers."""
    sign: str
    """What makes it an item of a list, `-` or `2.`, or `|` for the row of a table."""


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
    limits = Limits(context.max_model_calls, context.max_tokens, context.max_seconds, context.max_cost, ANSWERING)
    turn = Turn(Meter(limits, model_settings().rate_table()))
    for row in usage:
        spent = NodeUsage.model_validate(row)
        turn.meter.record(Spend(**spent.model_dump()))
        turn.meter.take(spent.node)
    return turn


def sentence_event(sentence: Sentence, citations: list[Citation]) -> SentenceEvent:
    """Build the event of one checked sentence."""
    return {
        "type": "sentence",
        "text": sentence.text,
        "support": sentence.support,
        "citations": [c.model_dump() for c in citations],
        "sign": sentence.sign,
    }


def push_text(message_id: str, text: str) -> None:
    """Send checked text to the `messages` stream as one chunk of the answer's message."""
    if hasattr(get_config().get("callbacks"), "handlers"):
        push_message(AIMessageChunk(content=text, id=message_id), state_key=None)
