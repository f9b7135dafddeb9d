"""Give components the knobs of the run, its budget, its library and its chat models."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import BaseModel

from ragweave.components.context import Context
from ragweave.components.scope import Scope, scope_of
from ragweave.corpora.store.beside import beside
from ragweave.corpora.store.library import Library, open_library
from ragweave.models.chat import Chat, Messages, Role, chat
from ragweave.models.chat_json import gave_something
from ragweave.models.errors import ModelError, ModelTransient, RagweaveError
from ragweave.models.meter import Meter
from ragweave.models.text import content_terms

M = TypeVar("M", bound=BaseModel)

FALLBACK = "fallback"
"""Marks the fallback as down among the servers: another model may use the same server."""


@dataclass
class TurnState:
    """State that all nodes of one turn share.

    Attributes:
        meter: budget of the turn.
        library: its library, once opened.
        down: servers of models that were unreachable after all tries, `FALLBACK` for the fallback, and web
            searches that do not respond; the rest of the turn calls none of them.
        blind: (host, model) of the models that refused pictures; the rest of the turn sends them none.
        scopes: scope and notes by (sources, collection), read from the library once.
        scoping: lock for `scopes`.
    """

    meter: Meter
    library: Library | None = None
    down: set[str] = field(default_factory=set)
    blind: set[tuple[str, str]] = field(default_factory=set)
    scopes: dict[tuple[Any, ...], tuple[Scope | None, list[str]]] = field(default_factory=dict)
    scoping: asyncio.Lock = field(default_factory=asyncio.Lock)


class RunContext:
    """Access of a node's components to the run.

    Attributes:
        node: name of the node, under which calls are metered.
        context: knobs of the run.
        hop: number of the current hop.
        turn: state shared with the other nodes.
        notes: limitations to report, in words.
        event: sends an event to the reader of the stream; does nothing outside a graph.
    """

    def __init__(self, node: str, context: Context, turn: TurnState, hop: int = 0) -> None:
        self.node = node
        self.context = context
        self.hop = hop
        self.turn = turn
        self.notes: list[str] = []
        self.event: Callable[[dict[str, Any]], None] = lambda _: None

    @property
    def meter(self) -> Meter:
        """The budget of the turn."""
        return self.turn.meter

    def note(self, text: str) -> None:
        """Record a limitation to report, in words."""
        self.notes.append(text)

    def cut_short(self, error: RagweaveError, role: Role, shown: bool = True) -> None:
        """Note that an answer ends early; if it is shown already, call an unreachable server no more.

        An answer that is not shown yet must still reach the writer, which only carries it out.
        """
        self.note(f"The answer was cut short: {error}")
        if shown and isinstance(error, ModelTransient):
            self.lose(self._named(role).host)

    def lose(self, host: str) -> None:
        """Call a server no more in this turn; if it is down already, the fallback that replaced it."""
        self.turn.down.add(FALLBACK if host in self.turn.down else host)

    def lost(self, host: str) -> bool:
        """Return whether a server is down in this turn and no fallback replaces it."""
        return host in self.turn.down and self._fallback() is None

    def asked(self, role: Role) -> Chat:
        """Return the chat model of a role, or the fallback if its server is down in this turn.

        Raises:
            ModelError: no chat model is configured.
        """
        return self._model(role)

    async def library(self) -> Library:
        """Open the library of the context, its recordings cut to the time range of the run."""
        if self.turn.library is None:
            start, end = self.context.from_time, self.context.to_time
            library = await open_library(self.context.library)
            if start is not None or end is not None:
                library = replace(library, start=start, end=end)
            self.turn.library = beside(library, self.context.files)
        return self.turn.library

    async def held(self) -> set[str]:
        """Return the corpora with items in the library."""
        library = await self.library()
        counts = await library.counts()
        return {corpus for corpus, n in counts.items() if n}

    async def text(
        self,
        messages: Messages,
        role: Role = "judge",
        images: Sequence[bytes] = (),
        good: Callable[[str], bool] = bool,
    ) -> str:
        """Return the model's reply as stripped text; raises as `Chat.text` does."""
        model = self._model(role)
        reply = await model.text(messages, node=self.node, meter=self.meter, images=images, good=good)
        return reply.strip()

    async def room(self, role: Role, tokens: int) -> int:
        """Return how many estimated tokens a prompt of `tokens` for a role may have; 0 if unknown."""
        return await self._model(role).room(tokens)

    async def label(self, messages: Messages, labels: Sequence[str], role: Role = "judge") -> str | None:
        """Return the one of `labels` that the reply names, or None if it is unreadable."""
        return await self._model(role).label(messages, labels, node=self.node, meter=self.meter)

    async def json(
        self,
        messages: Messages,
        schema: type[M],
        role: Role = "judge",
        good: Callable[[M], bool] = gave_something,
    ) -> M | None:
        """Return the reply as an instance of `schema`, or None if it is unreadable."""
        return await self._model(role).json(messages, schema, node=self.node, meter=self.meter, good=good)

    async def stream(
        self,
        messages: Messages,
        images: Sequence[bytes] = (),
        role: Role = "writer",
        good: Callable[[str], bool] = bool,
        begins: Callable[[str], bool] | None = None,
    ) -> AsyncGenerator[str, None]:
        """Yield a reply in parts as they arrive; raises as `Chat.stream` does, also in mid-reply.

        `begins` returns whether a reply begins as an answer, and not with thoughts.
        """
        model = self._model(role)
        parts = model.stream(
            messages, node=self.node, meter=self.meter, images=images, good=good, begins=begins
        )
        async with aclosing(parts):
            async for part in parts:
                yield part

    def _model(self, role: Role) -> Chat:
        model = self._named(role)
        if model.host not in self.turn.down:
            return model
        return self._fallback() or model

    def _named(self, role: Role) -> Chat:
        model = chosen(role, self.context, "llm")
        assert model is not None
        return model

    def _fallback(self) -> Chat | None:
        if FALLBACK in self.turn.down:
            return None
        return called(chat("fallback"), self.context)


def has_writer_model(context: Context) -> bool:
    """Return whether a chat model writes the answer; then it reads documents whole."""
    return chosen("writer", context) is not None


def rewrites(context: Context) -> bool:
    """Return whether a chat model may rewrite queries."""
    return has_writer_model(context) and context.effort != "low"


async def within(run: RunContext) -> Scope:
    """Return the scope of the run; one that matches nothing if the library holds nothing of it."""
    scope, _ = await _scope(run)
    return scope or Scope(("",), start=run.context.from_time, end=run.context.to_time)


async def searched_within(run: RunContext) -> Scope | None:
    """Return the scope of the run, None if the library holds nothing of it; note unknown names."""
    scope, notes = await _scope(run)
    run.notes += notes
    return scope


async def _scope(run: RunContext) -> tuple[Scope | None, list[str]]:
    """Return the scope of the run with its time range, None if it is empty, and notes about unknown names."""
    context = run.context
    turn = run.turn
    library = await run.library()
    key = (context.sources, context.collection)
    async with turn.scoping:  # corpora are searched concurrently
        if key not in turn.scopes:
            turn.scopes[key] = await scope_of(library, context.sources, context.collection)
    scope, notes = turn.scopes[key]
    if scope is not None:
        scope = replace(scope, start=context.from_time, end=context.to_time)
    return scope, notes


async def idf_of(run: RunContext, text: str) -> Callable[[str], float]:
    """Return a function that gives the rarity of the terms of a text in the library; 1 for other terms."""
    table = await (await run.library()).idf(content_terms(text))
    return lambda term: table.get(term, 1.0)


def called(model: Chat | None, context: Context) -> Chat | None:
    """Return a model that ignores cached replies if the run is to be fresh."""
    if model is not None and context.fresh:
        model.call_always()
    return model


def chosen(role: Role, context: Context, choice: str = "auto") -> Chat | None:
    """Return the chat model of a role if `choice`, or with `auto` the mode of the run, wants one, else None.

    Raises:
        ModelError: the run requires a language model, and none is configured.
        InputError: the run names a model that is not configured.
    """
    if choice == "auto":
        choice = context.mode
    if choice in ("local", "extractive"):
        return None
    found = called(chat(role, context.model), context)
    if found is None and choice == "llm":
        raise ModelError(
            "this run asks for a language model, and none is configured",
            "run `ragweave setup chat`, set RAGWEAVE_CHAT, or use mode=auto",
        )
    return found
