"""Saved runs: every step of a run with what it was given and what it returned, so that it can be done again.

A step is found again by what it reads: the searches by their task, `route` and `expand` by the query of their hop and
their own knobs, every other node by the whole state and all knobs. So a replay searches nothing twice; and leave a node
out, or change a knob, and exactly the steps that read something else are done anew.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from langgraph.types import Overwrite
from pydantic import BaseModel, ValidationError

from ragweave.graphs.base import Wrap
from ragweave.minds.context import Context
from ragweave.minds.evidence import Citation, Sentence
from ragweave.models.errors import InputError
from ragweave.nodes.answer import Answer, NodeUsage
from ragweave.nodes.state import Update

FORMAT = 1
LIVE = ("condense",)
"""Nodes that are always run: they make no decision that could be stored, and give the turn its identity."""
_OF_QUERY = ("question", "query", "hop")
_KNOBS: dict[str, tuple[str, ...]] = {
    "route": ("library", "mind", "route_by", "method", "corpora"),
    "expand": ("library", "mind", "phrasings", "method", "expand_when", "sources"),
    "search_web": ("mind", "web"),
}
"""Nodes that go by the query of their hop, and the knobs that they read."""

_IGNORED = frozenset({"messages", "turn", "usage", "notes"})
_MODELS: dict[str, type[BaseModel]] = {m.__name__: m for m in (Answer, Citation, NodeUsage, Sentence)}

Node = Callable[..., Awaitable[Update]]


class Step(BaseModel):
    """One step of a saved run."""

    node: str
    hop: int = 0
    key: str
    """Digest of what it was given."""
    update: dict[str, Any]
    events: list[dict[str, Any]] = []


class Saved(BaseModel):
    """A saved run."""

    format: int = FORMAT
    question: str
    graph: str
    context: dict[str, Any]
    steps: list[Step]
    answer: dict[str, Any]

    def write(self, path: Path) -> None:
        """Write it as JSON that only its owner can read: it holds text of the library."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(self.model_dump_json(indent=1), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Saved:
        """Read a saved run.

        Raises:
            InputError: it is not one, or of another version.
        """
        try:
            saved = cls.model_validate_json(path.read_text(encoding="utf-8"))
            Context.model_validate(saved.context)
        except (OSError, UnicodeDecodeError, ValidationError) as error:
            why = error.strerror if isinstance(error, OSError) else "it does not have the form of one"
            raise InputError(
                f"{path} is not a saved run ({why})", "give a file written by: ragweave ask --save"
            ) from error
        if saved.format != FORMAT:
            raise InputError(f"{path} was saved by another version of Ragweave", "save the run again")
        return saved


@dataclass
class Recorder:
    """Keeps every step of the graphs that are built through `wrap`."""

    steps: list[Step] = field(default_factory=list)

    def wrap(self, name: str, node: Node) -> Node:
        """Return the node, recording."""

        @functools.wraps(node)
        async def recorded(state: Any, runtime: Runtime[Context]) -> Update:
            events: list[dict[str, Any]] = []

            def write(event: Any) -> None:
                events.append(event)
                runtime.stream_writer(event)

            update = await node(state, runtime.override(stream_writer=write))
            if name not in LIVE:
                kept = encode({k: v for k, v in update.items() if k != "usage"})
                key = key_of(name, state, Context.of(runtime))
                step = Step(node=name, hop=_hop(state), key=key, update=kept, events=encode(events))
                self.steps.append(step)
            return update

        return recorded


@dataclass
class Player:
    """Gives back the steps of a saved run, and does anew what it has no step for.

    Attributes:
        saved: the run.
        stored: steps given back, by node.
        anew: steps done anew, by node.
    """

    saved: Saved
    stored: Counter[str] = field(default_factory=Counter)
    anew: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._steps = {(s.node, s.key): s for s in self.saved.steps}

    def wrap(self, name: str, node: Node) -> Node:
        """Return what plays the node back."""

        @functools.wraps(node)
        async def played(state: Any, runtime: Runtime[Context]) -> Update:
            key = "" if name in LIVE else key_of(name, state, Context.of(runtime))
            step = self._steps.get((name, key))
            if step is None:
                if name not in LIVE:
                    self.anew[name] += 1
                return await node(state, runtime)
            self.stored[name] += 1
            for event in step.events:
                runtime.stream_writer(event)
            found: Update = decode(step.update)
            return found

        return played

    def told(self) -> str:
        """Say which steps were given back and which were done anew."""
        parts = [
            f"{title}: " + (", ".join(f"{n} ×{c}" if c > 1 else n for n, c in counts.items()) or "nothing")
            for title, counts in (("from the saved run", self.stored), ("done anew", self.anew))
        ]
        return "; ".join(parts)


def both(outer: Wrap, inner: Wrap) -> Wrap:
    """Put a node through `inner`, then through `outer`."""
    return lambda name, node: outer(name, inner(name, node))


def key_of(name: str, state: Mapping[str, Any], context: Context) -> str:
    """Return the digest of what a step reads."""
    knobs = context.model_dump(mode="json")
    if name == "retrieve":
        # The task of a search holds all it needs.
        seen: Any = dict(state)
    elif name in _KNOBS:
        seen = {**{k: state.get(k) for k in _OF_QUERY}, **{k: knobs[k] for k in _KNOBS[name]}}
    else:
        seen = {"state": {k: v for k, v in state.items() if k not in _IGNORED}, "knobs": knobs}
    text = json.dumps(encode(seen), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(f"{name}\0{text}".encode()).hexdigest()[:32]


def _hop(state: Mapping[str, Any]) -> int:
    return int(state.get("hop", 0))


def encode(value: Any) -> Any:
    """Return a state value as plain JSON; what is no JSON carries its type's name."""
    if isinstance(value, Overwrite):
        return {"$": "Overwrite", "value": encode(value.value)}
    if isinstance(value, BaseModel) and type(value).__name__ in _MODELS:
        return {"$": type(value).__name__, "value": value.model_dump(mode="json")}
    if isinstance(value, AIMessage):
        return {"$": "AIMessage", "value": {"content": value.content, "id": value.id}}
    if isinstance(value, Mapping):
        return {str(k): encode(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [encode(v) for v in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"a state value of type {type(value).__name__} cannot be saved")


def decode(value: Any) -> Any:
    """Return what `encode` was given; only the types that a state may hold are ever made.

    Raises:
        InputError: the saved run names another type, or does not fit it.
    """
    if isinstance(value, list):
        return [decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("$")
    if kind is None:
        return {k: decode(v) for k, v in value.items()}
    try:
        if kind == "Overwrite":
            return Overwrite(decode(value["value"]))
        if kind == "AIMessage":
            return AIMessage(content=str(value["value"]["content"]), id=str(value["value"]["id"]))
        return _MODELS[kind].model_validate(value["value"])
    except (KeyError, TypeError, ValidationError) as error:
        raise InputError(f"the saved run holds a {kind!r} that cannot be read", "save the run again") from error
