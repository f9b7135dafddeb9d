"""Call the chat model of a role for text, labels, structured replies and streams.

Calls are metered, limited in time and cached.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TypeVar

from pydantic import BaseModel

from ragweave.models.chat_cache import KeptReplies
from ragweave.models.chat_calls import ChatCalls
from ragweave.models.chat_client import Connection, Served
from ragweave.models.chat_injected import Role, injected, override
from ragweave.models.chat_json import gave_something, instruction, is_refusal, read_reply, shape_of, under
from ragweave.models.chat_parts import cut_off
from ragweave.models.chat_reply import (
    ChatReply,
    Messages,
    ModelRequest,
    can_be_shown,
    read_label,
    without_thoughts,
)
from ragweave.models.errors import InputError, ModelError
from ragweave.models.failures import is_transient
from ragweave.models.meter import Meter
from ragweave.models.settings import Endpoint, ModelSettings, model_settings

__all__ = ["Chat", "Messages", "Role", "chat", "is_transient", "override"]

M = TypeVar("M", bound=BaseModel)


class Chat(ChatCalls):
    """The chat model of one role.

    Every call is tagged `nostream`, so that its tokens stay out of LangGraph's `messages` streams. A call
    waits for a free slot of the server and reserves its budget on the meter. Every reply is streamed. It ends
    after a silence of RAGWEAVE_CHAT_TIMEOUT seconds, or if it is too long. The client retries failures before
    a reply begins. A reply that breaks off before a part was shown is requested once more. A silence is
    final. A prompt that is longer than the context of the model (`context` tokens, if known) loses its least
    relevant passages.

    All methods raise:
        ModelTransient: if the server is down, silent, too slow or limiting requests, or the reply broke off.
        ModelError: if the server refused the request or did not send a reply of a language model.
        BudgetSpent: if the call would pass a limit of the run.
    """

    def __init__(
        self,
        role: Role,
        at: Served | Connection,
        *,
        cached: bool = False,
        settings: ModelSettings | None = None,
        context: int = 0,
    ) -> None:
        super().__init__(role, at, settings or model_settings(), context)
        self._cache = KeptReplies(role, self.name, self.host, self._settings.home if cached else None)

    async def text(
        self,
        messages: Messages,
        *,
        node: str,
        meter: Meter,
        images: Sequence[bytes] = (),
        good: Callable[[str], bool] = bool,
    ) -> str:
        """Return the reply as text without thoughts; it may be empty.

        The `images`, JPEG files, go with the last user message. A reply that was cut off at a limit of tokens
        is returned but never cached; the other methods do the same. A reply that is not `good` is not cached
        either.
        """
        asked = await self._prompts.fit(ModelRequest(messages, node, meter, images))
        kept = await self._cache.get(asked, "text")
        if kept is not None and good(kept):
            return self._cache.used(asked, kept)
        reply = await self._ask(asked)
        read = without_thoughts(reply.text)
        return await self._cache.put(asked, "text", reply, read, good(read))

    async def label(
        self, messages: Messages, labels: Sequence[str], *, node: str, meter: Meter
    ) -> str | None:
        """Return the label that the reply names, or None if two replies name no label."""
        asked = await self._prompts.fit(ModelRequest(messages, node, meter))
        form, names = "label:" + "|".join(labels), ", ".join(labels)
        kept = await self._cache.get(asked, form)
        if kept in labels:
            return self._cache.used(asked, kept or "")
        repair = f"Your reply could not be read. Reply with exactly one of these, and nothing else: {names}"
        for request in (asked, asked.repaired(repair)):
            reply = await self._ask(request)
            label = read_label(reply.text, labels)
            if label is not None:
                return await self._cache.put(asked, form, reply, label)
        return None

    async def json(
        self,
        messages: Messages,
        schema: type[M],
        *,
        node: str,
        meter: Meter,
        images: Sequence[bytes] = (),
        good: Callable[[M], bool] = gave_something,
    ) -> M | None:
        """Return the reply as an instance of `schema`, or None if two replies could not be read.

        By default a reply that holds only empty texts and lists is not `good`. The server enforces the
        schema. If it refuses or ignores the schema, the prompt describes the schema from then on and parsing
        is tolerant.
        """
        asked = await self._prompts.fit(ModelRequest(messages, node, meter, images))
        form = f"json:{shape_of(schema)}"
        kept = await self._cached(asked, form, schema, good)
        if kept is not None:
            return kept
        at = await self._connection()
        for repair in ("", "Your last reply could not be read. "):
            reply = await self._ask_json(at, asked, schema, repair)
            read = await asyncio.to_thread(read_reply, reply, schema)
            if read is not None:
                await self._cache.put(asked, form, reply, read.model_dump_json(), good(read))
                return read
            if reply.text.strip() and "{" not in reply.text:
                at.enforces = False  # The server seems to ignore the schema.
        return None

    async def _cached(
        self, asked: ModelRequest, form: str, schema: type[M], good: Callable[[M], bool]
    ) -> M | None:
        """Return a good structured reply from the cache, or None."""
        kept = await self._cache.get(asked, form)
        if kept is None:
            return None
        try:
            found = schema.model_validate_json(kept)
        except ValueError:
            return None
        if not good(found):
            return None
        self._cache.used(asked, kept)
        return found

    async def _ask_json(
        self, at: Connection, asked: ModelRequest, schema: type[BaseModel], repair: str
    ) -> ChatReply:
        """Return a reply under a schema, which the server enforces or the prompt describes."""
        in_words = asked.repaired(repair + instruction(schema))
        bound = under(schema, at.model) if at.enforces else None
        if bound is not None:
            try:
                return await self._ask(replace(in_words if repair else asked, bound=bound))
            except ModelError as exc:
                if not is_refusal(exc):
                    raise
        reply = await self._ask(in_words)
        # A server that refuses a schema and then answers cannot enforce schemas. If both ways fail, the
        # prompt is at fault.
        at.enforces = False
        return reply

    async def stream(
        self,
        messages: Messages,
        *,
        node: str,
        meter: Meter,
        images: Sequence[bytes] = (),
        good: Callable[[str], bool] = bool,
        begins: Callable[[str], bool] | None = None,
    ) -> AsyncGenerator[str, None]:
        """Yield the reply in parts as they arrive; the first part holds a whole sentence.

        A reply from the cache is one part. A part is never taken back. A reply that is not `good` is not
        cached. Some servers send thoughts without an opening tag before the answer. Until a server is known
        not to, a reply is held unless `begins` accepts its beginning. Without `begins` none is held.

        Raises:
            ReplyCut: after the last part of a reply that was cut off at a limit.
        """
        asked = await self._prompts.fit(ModelRequest(messages, node, meter, images))
        kept = await self._cache.get(asked, "text")
        if kept is not None and good(kept):
            yield self._cache.used(asked, kept)
            return
        reply = ChatReply()
        at, began = await self._connection(), time.monotonic()

        def ready(sent: ModelRequest, waiting: str) -> bool:
            answers = at.ways.thinks is False or begins is None or begins(waiting)
            return can_be_shown(waiting) and answers and self._prompts.trusted(sent, since=began)

        # `aclosing` frees the slot if the caller stops reading.
        async with aclosing(self._read_cut(reply, asked, ready)) as parts:
            async for part in parts:
                yield part
        self._check_whole(reply)
        if reply.cut:
            raise cut_off(self.name, self.host, reply.usage(0)[1])
        text = without_thoughts(reply.text)
        await self._cache.put(asked, "text", reply, text, good(text))

    def call_always(self) -> None:
        """Ignore the cache from now on."""
        self._cache.fresh = True

    async def room(self, tokens: int) -> int:
        """Return the most tokens of a prompt of an estimated `tokens`; 0 if it is not known."""
        return await self._prompts.tokens(tokens)


def chat(role: Role = "writer", name: str = "") -> Chat | None:
    """Return the chat model of a role, or None if none is configured.

    `name` replaces the writer by another configured model. No other model replaces a missing `fallback`.

    Only RAGWEAVE_CHAT or an injected model configures a model, and RAGWEAVE_VISION for pictures. A key in the
    environment does not.

    Raises:
        InputError: if a setting cannot be used, or no configured model has the name.
    """
    models, cached = injected.get() or ({}, False)
    connection = models.get(role)
    if connection is None and role == "check":
        connection = models.get("judge")
    if connection is None and role != "fallback":
        connection = models.get("writer")
    if connection is not None:
        return Chat(role, connection, cached=cached)
    settings = model_settings()
    if not (settings.chat or (settings.vision and role == "vision")):
        return None
    if role == "fallback":
        if models or not (settings.fallback or settings.fallback_url):
            return None
        return _served(role, settings.endpoint(role), settings)
    if name and name not in settings.writers:
        raise InputError(
            f"there is no chat model {name!r} here", f"choose one of {', '.join(settings.writers)}"
        ).named("unknown_chat_model", name=name, join=", ".join(settings.writers))
    return _served(role, settings.endpoint(role, name), settings)


def _served(role: Role, at: Endpoint, settings: ModelSettings) -> Chat:
    return Chat(role, Served.of(at, settings), cached=settings.chat_cache, context=settings.context_of(at))
