"""One chat model per role: text, labels, structured replies and streams, metered, bounded in time and cached."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from ragweave.models import failures
from ragweave.models.chat_cache import KeptReplies
from ragweave.models.chat_client import Connection, Served, connect, host_of, name_of, slot, stay_here
from ragweave.models.chat_fit import PromptRoom
from ragweave.models.chat_injected import Role, injected, override
from ragweave.models.chat_json import gave_something, instruction, is_refusal, read_reply, shape_of, under
from ragweave.models.chat_reply import (
    ChatReply,
    Messages,
    ModelRequest,
    can_be_shown,
    read_label,
    without_thoughts,
)
from ragweave.models.chat_ways import NoStream
from ragweave.models.errors import InputError, ModelError, ModelTransient, PromptCut, RagweaveError, ReplyCut
from ragweave.models.failures import Unfinished, endless, explain, is_transient
from ragweave.models.meter import Meter, Spend
from ragweave.models.settings import Endpoint, ModelSettings, model_settings
from ragweave.models.text import clip

if TYPE_CHECKING:
    pass

__all__ = ["Chat", "Messages", "Role", "chat", "is_transient", "override"]

_CHARS = 10
"""Characters per token after which a reply is cut."""
_DRIPS = 4
"""Times the timeout that a reply may take of which something is shown."""

M = TypeVar("M", bound=BaseModel)


class Chat:
    """The chat model of one role.

    Every call is tagged `nostream`, so that its tokens stay out of LangGraph's `messages` streams. It waits
    for a free slot of the server and reserves its budget on the meter. Every reply is streamed: a silence of
    RAGWEAVE_CHAT_TIMEOUT seconds ends it, and so do more characters than it may have. The client tries again
    what fails before a reply begins; a reply that breaks off before anything of it was shown is asked for
    once more. A silence is final. A prompt longer than the model reads (`context` tokens, if known) loses its
    least relevant passages.

    All methods raise:
        ModelTransient: the server is down, silent, dripping or limiting, or broke off.
        ModelError: the server refused, or sent no reply of a language model.
        BudgetSpent: a limit of the run would be passed.
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
        self.role, self._at = role, at
        self.name, self.host = (
            (at.name, at.host) if isinstance(at, Served) else (name_of(at.model), host_of(at.model))
        )
        self._settings = settings or model_settings()
        self._most = self._settings.chat_tokens or (2_048 if role in ("judge", "vision") else 4_096)
        self._cache = KeptReplies(role, self.name, self.host, self._settings.home if cached else None)
        self._prompts = PromptRoom(
            self.name, self.host, at if isinstance(at, Served) else None, self._most, context
        )

    async def text(
        self,
        messages: Messages,
        *,
        node: str,
        meter: Meter,
        images: Sequence[bytes] = (),
        good: Callable[[str], bool] = bool,
    ) -> str:
        """Return the reply as text, without the thinking of reasoning models; empty when the model says nothing.

        With `images`, JPEG files, they go with the last user message. A reply that was cut off at a limit of
        tokens is returned as far as it goes, here and below, and never cached; nor is one that gave nothing
        (is not `good`).
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
        """Return the one of `labels` that the reply names, or None when two replies could not be read."""
        asked = await self._prompts.fit(ModelRequest(messages, node, meter))
        form, names = "label:" + "|".join(labels), ", ".join(labels)
        kept = await self._cache.get(asked, form)
        if kept in labels:
            return self._cache.used(asked, kept or "")
        repair = f"Your reply could not be read. Reply with exactly one of these, and nothing else: {names}"
        for request in (asked, asked.repaired(repair)):
            reply = await self._ask(request)
            if (label := read_label(reply.text, labels)) is not None:
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
        """Return the reply as an instance of `schema`, or None when it and one repair could not be read.

        Without `good` one of empty texts and lists gave nothing. The server is asked to enforce the schema.
        If it refuses or ignores that, which is remembered, the schema goes into the prompt, and reading is
        tolerant.
        """
        asked, form = (
            await self._prompts.fit(ModelRequest(messages, node, meter, images)),
            f"json:{shape_of(schema)}",
        )
        kept = await self._cache.get(asked, form)
        if kept is not None:
            with suppress(ValueError):
                found = schema.model_validate_json(kept)
                if good(found):
                    self._cache.used(asked, kept)
                    return found
        at = await self._connection()
        for repair in ("", "Your last reply could not be read. "):
            in_words, reply = asked.repaired(repair + instruction(schema)), None
            if at.enforces and (bound := under(schema, at.model)) is not None:
                try:
                    reply = await self._ask(replace(in_words if repair else asked, bound=bound))
                except ModelError as exc:
                    if not is_refusal(exc):
                        raise
            if reply is None:
                reply = await self._ask(in_words)
                # What refused a schema and then answers lacks the method; a prompt that fails both ways is at
                # fault.
                at.enforces = False
            read = await asyncio.to_thread(read_reply, reply, schema)
            if read is not None:
                await self._cache.put(asked, form, reply, read.model_dump_json(), good(read))
                return read
            at.enforces &= (
                not reply.text.strip() or "{" in reply.text
            )  # else as if it had been given no schema
        return None

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
        """Yield the reply in parts as they arrive, the first with a whole sentence; one from the cache in one part.

        What was yielded is never taken back. A reply that is not `good` is not cached. Some servers send the
        thoughts of a model before its answer, without a tag that opens them. Until a server is known not to,
        a reply is held unless `begins` says that it begins as an answer does; without `begins` none is held.

        Raises:
            ReplyCut: after the last part of a reply that was cut off at a limit.
        """
        asked, reply = await self._prompts.fit(ModelRequest(messages, node, meter, images)), ChatReply()
        kept = await self._cache.get(asked, "text")
        if kept is not None and good(kept):
            yield self._cache.used(asked, kept)
            return
        at, began, smaller = await self._connection(), time.monotonic(), asked

        def ready(waiting: str) -> bool:
            answers = at.ways.thinks is False or begins is None or begins(waiting)
            return can_be_shown(waiting) and answers and self._prompts.trusted(smaller, since=began)

        while True:
            try:
                async with aclosing(
                    self._read(reply, smaller, ready)
                ) as parts:  # left early, it frees its slot
                    async for part in parts:
                        yield part
                break
            except PromptCut as error:
                smaller = await self._prompts.smaller(smaller, error)
        self._whole(reply)
        if reply.cut:
            cut = f"the reply of {self.name} at {self.host} was cut off after {reply.usage(0)[1]:,} tokens"
            raise ReplyCut(cut, "raise RAGWEAVE_CHAT_TOKENS, or the server's own limit").named(
                "reply_at_cut_off", name=self.name, host=self.host, usage=f"{reply.usage(0)[1]:,}"
            )
        read = without_thoughts(reply.text)
        await self._cache.put(asked, "text", reply, read, good(read))

    def call_always(self) -> None:
        """Call the model from now on, whatever is kept."""
        self._cache.fresh = True

    async def room(self, tokens: int) -> int:
        """Return how many tokens a prompt of an estimated `tokens` may have; 0 where nobody says."""
        return await self._prompts.tokens(tokens)

    async def _ask(self, asked: ModelRequest) -> ChatReply:
        """Return a whole reply."""
        asked = await self._prompts.fit(asked)
        while True:
            reply = ChatReply()
            try:
                async with aclosing(self._read(reply, asked, lambda _: False)) as parts:
                    [_ async for _ in parts]
                self._whole(reply)
                return reply
            except PromptCut as error:
                asked = await self._prompts.smaller(asked, error)

    def _whole(self, reply: ChatReply) -> None:
        """Raise ReplyCut of a reply that its server stopped within."""
        if why := reply.stopped:
            stopped = f"{self.name} at {self.host} was stopped within its reply ({clip(why, 40)})"
            raise ReplyCut(stopped, "ask in other words, or use another model").named(
                "at_stopped_within_reply", name=self.name, host=self.host, clip=clip(why, 40)
            )

    async def _read(
        self, reply: ChatReply, asked: ModelRequest, ready: Callable[[str], bool]
    ) -> AsyncGenerator[str, None]:
        """Yield what may be shown of a reply, once it is `ready`; another call where it breaks off before."""
        at, taken = await self._connection(), list[str]()
        reply.shown = again = False
        while True:
            try:
                async with aclosing(self._call(reply, at, asked)) as parts:
                    async for _ in parts:
                        if reply.waiting and (reply.shown or ready(reply.waiting)):
                            reply.shown = True
                            yield reply.take()
                self._prompts.check(reply, asked)
                if rest := reply.take(ended=True):
                    yield rest
                return
            except (
                RagweaveError,
                AssertionError,
            ):  # told already, and the message of a scripted model to its test
                raise
            except Exception as exc:
                if reply.shown and is_transient(exc) and not failures.is_silence(exc):
                    raise ModelTransient(
                        f"the reply of {self.name} at {self.host} broke off", "ask again"
                    ).named("reply_at_broke_off", name=self.name, host=self.host) from exc
                most = self._prompts.reply_tokens
                if not reply.shown and (second := at.second_way(exc, most, reply.begun)):
                    taken.append(second)
                    continue
                if reply.shown or again or not failures.broke_off(exc, reply.begun):
                    at.undo(taken)
                    if failures.is_too_long(exc) and not reply.shown:
                        raise self._prompts.too_long(exc, asked) from exc
                    waited = asyncio.get_running_loop().time() - reply.since
                    raise explain(exc, self.name, self.host, waited=waited) from exc
                again = True
                await asyncio.sleep(failures.BACKOFF)

    async def _call(
        self, reply: ChatReply, at: Connection, asked: ModelRequest
    ) -> AsyncGenerator[None, None]:
        """Make one call: fill `reply`, and yield after each part; record what it cost, also where it fails."""
        meter, clock, most_tokens = asked.meter, asyncio.get_running_loop().time, self._prompts.reply_tokens
        async with slot(self.host, self._settings.chat_width, asked.node, meter):
            meter.reserve(asked.node, asked.tokens, self.name)
            reply.begin(began := clock())
            try:
                model, sent = at.limited(asked.bound or at.model, most_tokens), at.ways.messages(asked.sent)
                async with aclosing(model.astream(sent, config={"tags": ["nostream"]})) as arriving:
                    while (chunk := await self._next(arriving, reply, asked, at.ways.streamed)) is not None:
                        reply.since = clock()
                        settings = self._settings
                        most = _DRIPS * settings.chat_timeout if reply.shown else settings.chat_patience
                        if reply.since - began > most:  # too slow for the next step of the turn as well
                            raise endless(
                                f"the reply of {self.name} at {self.host} did not end within {most:.0f} s"
                            )
                        reply.add(chunk)
                        yield
                        await asyncio.sleep(
                            0
                        )  # parts that have come together are read without a wait: others go on
                        if len(reply.text) > _CHARS * most_tokens:
                            reply.finish = "length"
                            break
                if not reply.instead:
                    await at.learn(reply)
            finally:
                used = reply.usage(asked.tokens)
                meter.record(Spend(asked.node, self.role, self.name, 1, 0, *used, clock() - began, 0.0))
            if isinstance(self._at, Served) and self._at.provider == "openai" and reply.instead:
                raise Unfinished(reply.instead) if reply.begun else NoStream("no event of a stream")
            if reply.failed and not reply.shown:
                raise Unfinished(f"ended its reply early ({clip(reply.finish, 40)})")

    async def _next(
        self, arriving: AsyncGenerator[Any, None], reply: ChatReply, asked: ModelRequest, streamed: bool
    ) -> Any:
        """Wait for the next part as long as patience and the time of the run last; None at the end."""
        silence, left = self._settings.chat_timeout, asked.meter.seconds_left
        silence = silence if streamed else self._settings.chat_patience
        try:
            async with asyncio.timeout(silence if left is None else min(silence, left)):
                return await anext(arriving, None)
        except TimeoutError as exc:
            if asked.meter.out_of_time():
                raise asked.meter.cut_off(asked.node) from exc
            raise
        except Exception as exc:
            # OpenAI's client refuses a reply under a schema once all of it has come: one that was cut off, or
            # none.
            if reply.cut or (isinstance(exc, AssertionError) and isinstance(self._at, Served)):
                return None
            raise

    async def _connection(self) -> Connection:
        if isinstance(self._at, Connection):
            return self._at
        stay_here(f"{self.name} at {self.host}", self.host)
        try:
            return await connect(self._at)
        except Exception as exc:
            raise explain(exc, self.name, self.host) from exc


def chat(role: Role = "writer", name: str = "") -> Chat | None:
    """Return the chat model of a role, or None where none is configured.

    `name` puts another of the configured models in the writer's place; none stands in for a `fallback`.

    Only RAGWEAVE_CHAT (or an injected model) counts, and RAGWEAVE_VISION for pictures: a key that lies in the
    environment never does.

    Raises:
        InputError: if a setting cannot be used, or no configured model has the name.
    """
    models, cached = injected.get() or ({}, False)
    stand_in = models.get("judge") if role == "check" else None
    connection = models.get(role) or stand_in or (models.get("writer") if role != "fallback" else None)
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
        ).named("no_chat_model_here", name=name, join=", ".join(settings.writers))
    return _served(role, settings.endpoint(role, name), settings)


def _served(role: Role, at: Endpoint, settings: ModelSettings) -> Chat:
    return Chat(role, Served.of(at, settings), cached=settings.chat_cache, context=settings.context_of(at))
