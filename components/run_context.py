"""What a component has at hand: the knobs of the run, its budget, its library and its language model."""

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
"""Stands for the server of the fallback among those that are down: it may be one that another model is asked at."""


@dataclass
class TurnState:
    """What all nodes of one turn share.

    Attributes:
        meter: its budget.
        library: what is asked in it, once it was opened.
        down: servers of models that could not be reached, all tries spent, `FALLBACK` where that is one of
            them, and web searches that do not answer; the rest of the turn asks none again.
        blind: (host, model) of the models that refused pictures in it; the rest of the turn shows them none.
        scopes: what may be searched, and what cannot be found, by what was named; read from the library once.
    """

    meter: Meter
    library: Library | None = None
    down: set[str] = field(default_factory=set)
    blind: set[tuple[str, str]] = field(default_factory=set)
    scopes: dict[tuple[Any, ...], tuple[Scope | None, list[str]]] = field(default_factory=dict)
    scoping: asyncio.Lock = field(default_factory=asyncio.Lock)


class RunContext:
    """What a node lends to the components that it asks.

    Attributes:
        node: name of the node, under which calls are metered.
        context: the run's knobs.
        hop: hop it works in.
        turn: what it shares with the other nodes.
        notes: what could not be done, in words.
        event: tells the reader something while the run goes on; nobody outside a graph.
    """

    def __init__(self, node: str, context: Context, turn: TurnState, hop: int = 0) -> None:
        self.node, self.context, self.hop, self.turn = node, context, hop, turn
        self.notes: list[str] = []
        self.event: Callable[[dict[str, Any]], None] = lambda _: None

    @property
    def meter(self) -> Meter:
        """The budget of the turn."""
        return self.turn.meter

    def note(self, text: str) -> None:
        """Record something that could not be done, in words."""
        self.notes.append(text)

    def cut_short(self, error: RagweaveError, role: Role, shown: bool = True) -> None:
        """Note that an answer ends early; where it is shown already, a server that was lost over it is asked no more.

        Of an answer that is not shown yet the writer is still to be asked, who only carries it out.
        """
        self.note(f"The answer was cut short: {error}")
        if shown and isinstance(error, ModelTransient):
            self.lose(self._named(role).host)

    def lose(self, host: str) -> None:
        """Ask a server no more in this turn: the fallback, where the server of the role was lost before."""
        self.turn.down.add(FALLBACK if host in self.turn.down else host)

    def lost(self, host: str) -> bool:
        """Tell whether a server was lost in this turn, and no fallback is left to ask in its place."""
        return host in self.turn.down and self._fallback() is None

    def asked(self, role: Role) -> Chat:
        """Return the chat model that a role is asked at now: the fallback if its own server was lost in this turn.

        Raises:
            ModelError: no chat model is configured.
        """
        return self._model(role)

    async def library(self) -> Library:
        """Open the library that the context names; of its recordings all read what lies in the run's time range."""
        if self.turn.library is None:
            start, end = self.context.from_time, self.context.to_time
            opened = await open_library(self.context.library)
            narrow = start is not None or end is not None
            narrowed = replace(opened, start=start, end=end) if narrow else opened
            self.turn.library = beside(narrowed, self.context.files)
        return self.turn.library

    async def held(self) -> set[str]:
        """Return the corpora in which the library holds something."""
        return {corpus for corpus, n in (await (await self.library()).counts()).items() if n}

    async def text(
        self,
        messages: Messages,
        role: Role = "judge",
        images: Sequence[bytes] = (),
        good: Callable[[str], bool] = bool,
    ) -> str:
        """Return the language model's reply as text, without outer blanks; raises as `Chat.text` does."""
        model = self._model(role)
        return (
            await model.text(messages, node=self.node, meter=self.meter, images=images, good=good)
        ).strip()

    async def room(self, role: Role, tokens: int) -> int:
        """Return how many estimated tokens a prompt of `tokens` for a role may have; 0 where nobody says."""
        return await self._model(role).room(tokens)

    async def label(self, messages: Messages, labels: Sequence[str], role: Role = "judge") -> str | None:
        """Return the one of `labels` that the reply names, or None where it cannot be read."""
        return await self._model(role).label(messages, labels, node=self.node, meter=self.meter)

    async def json(
        self,
        messages: Messages,
        schema: type[M],
        role: Role = "judge",
        good: Callable[[M], bool] = gave_something,
    ) -> M | None:
        """Return the reply as an instance of `schema`, or None where it cannot be read."""
        return await self._model(role).json(messages, schema, node=self.node, meter=self.meter, good=good)

    async def stream(
        self,
        messages: Messages,
        images: Sequence[bytes] = (),
        role: Role = "writer",
        good: Callable[[str], bool] = bool,
        begins: Callable[[str], bool] | None = None,
    ) -> AsyncGenerator[str, None]:
        """Yield a reply in parts as they arrive; raises as `Chat.stream` does, also after a reply that was cut off.

        `begins` tells whether a reply begins as an answer does, and not with thoughts.
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
        return (self._fallback() if model.host in self.turn.down else None) or model

    def _named(self, role: Role) -> Chat:
        model = chosen(role, self.context, "llm")
        assert model is not None
        return model

    def _fallback(self) -> Chat | None:
        return None if FALLBACK in self.turn.down else called(chat("fallback"), self.context)


def has_writer_model(context: Context) -> bool:
    """Tell whether a chat model reads what was found, and so is shown it whole."""
    return chosen("writer", context) is not None


def rewrites(context: Context) -> bool:
    """Tell whether a chat model may write other words for a query."""
    return has_writer_model(context) and context.effort != "low"


async def within(run: RunContext) -> Scope:
    """Return what the run may search; a scope that holds nothing if nothing of that is in the library."""
    scope, _ = await _scope(run)
    return scope or Scope(("",), start=run.context.from_time, end=run.context.to_time)


async def searched_within(run: RunContext) -> Scope | None:
    """Return what the run may search, None if nothing of that is in the library; what cannot be found is noted."""
    scope, notes = await _scope(run)
    run.notes += notes
    return scope


async def _scope(run: RunContext) -> tuple[Scope | None, list[str]]:
    """Return what the run may search with its seconds, None if there is nothing, and what cannot be found."""
    context = run.context
    named = (context.sources, context.collection)
    turn, library = run.turn, await run.library()
    async with turn.scoping:  # the corpora are searched side by side
        if named not in turn.scopes:
            turn.scopes[named] = await scope_of(library, *named)
    scope, notes = turn.scopes[named]
    return scope and replace(scope, start=context.from_time, end=context.to_time), notes


async def idf_of(run: RunContext, text: str) -> Callable[[str], float]:
    """Return how rare the terms of a text are in the library; any other term counts 1."""
    table = await (await run.library()).idf(content_terms(text))
    return lambda term: table.get(term, 1.0)


def called(model: Chat | None, context: Context) -> Chat | None:
    """Return a model that is called at each request where the run is to be fresh."""
    if model is not None and context.fresh:
        model.call_always()
    return model


def chosen(role: Role, context: Context, choice: str = "auto") -> Chat | None:
    """Return the chat model of a role where `choice`, or under `auto` the run, wants one, else None.

    Raises:
        ModelError: if a language model is asked for and none is configured.
        InputError: if the run names a model that is none of the configured ones.
    """
    choice = context.mode if choice == "auto" else choice
    if choice in ("local", "extractive"):
        return None
    found = called(chat(role, context.model), context)
    if found is None and choice == "llm":
        raise ModelError(
            "this run asks for a language model, and none is configured",
            "run `ragweave setup chat`, set RAGWEAVE_CHAT, or use mode=auto",
        )
    return found
