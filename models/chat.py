"""One chat model per role: text, labels, structured replies and streams, metered, retried and cached."""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args

from pydantic import BaseModel, create_model

from ragweave.models.chat_cache import ReplyCache, reply_cache
from ragweave.models.chat_client import Connection, Served, connect, host_of, name_of, slot, stay_here
from ragweave.models.chat_json import Bind, Structured, form_of
from ragweave.models.chat_reply import (
    IMAGE_TOKENS,
    Call,
    Messages,
    ThoughtFilter,
    add_to_last,
    can_be_shown,
    digest_of,
    invoke,
    is_cut,
    read_label,
    text_of,
    tokens_of,
    with_images,
    without_thoughts,
)
from ragweave.models.errors import InputError, ModelError, ModelTransient, RagweaveError, ReplyCut
from ragweave.models.failures import Unfinished, explain, is_transient, pause_before
from ragweave.models.meter import Meter, Spend
from ragweave.models.settings import model_settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, AIMessageChunk

__all__ = ["Chat", "Messages", "Role", "chat", "is_transient", "override"]

logger = logging.getLogger(__name__)

Role = Literal["writer", "reasoner", "judge", "vision"]

_CHARS, _DRIPS = 10, 4
"""Characters per token, and times the timeout, after which a streamed reply is taken to be endless."""

_NOT_OURS = (RagweaveError, AssertionError)
"""Errors passed on as they are: those that are told already, and the message of a scripted model to its test."""

M = TypeVar("M", bound=BaseModel)


class Chat:
    """The chat model of one role.

    Every call is tagged `nostream`, so that its tokens stay out of LangGraph's `messages` streams; it reserves its
    budget on the meter, waits for a free slot of the server, and is tried up to three times when the failure may pass.
    """

    def __init__(self, role: Role, at: Served | Connection, *, cached: bool = False) -> None:
        self.role = role
        self._at = at
        self.name, self.host = (at.name, at.host) if isinstance(at, Served) else (name_of(at.model), host_of(at.model))
        self._settings = model_settings()
        self._most = self._settings.chat_tokens or (2_048 if role in ("judge", "vision") else 4_096)
        self._cached = cached

    async def text(self, messages: Messages, *, node: str, meter: Meter, images: Sequence[bytes] = ()) -> str:
        """Return the reply as text, without the thinking of reasoning models; empty when the model says nothing.

        With `images`, JPEG files, they go with the last user message. A reply that was cut off at a limit of tokens is
        returned as far as it goes, here and below, and never cached.

        Raises:
            ModelTransient: the server is down, slow or limiting, after retries.
            ModelError: the server refused, or sent no reply of a language model.
            BudgetSpent: a limit of the run would be passed.
        """
        form = f"text{digest_of(images)}"
        reply = await self._recall(messages, form, node, meter)
        if reply is None:
            said = await self._ask(messages, node, meter, images=images)
            reply = without_thoughts(text_of(said))
            if reply and not is_cut(said):
                await self._keep(messages, form, reply)
        return reply

    async def label(self, messages: Messages, labels: Sequence[str], *, node: str, meter: Meter) -> str | None:
        """Return the one of `labels` that the reply names, or None when two replies could not be read."""
        form = "label:" + "|".join(labels)
        kept = await self._recall(messages, form, node, meter)
        if kept in labels:
            return kept
        reply = await self._ask(messages, node, meter)
        found = read_label(text_of(reply), labels)
        if found is None:
            names = ", ".join(labels)
            asked = f"Your reply could not be read. Reply with exactly one of these, and nothing else: {names}"
            # A server that can enforce a schema cannot miss its labels; any other gets this one more try in words.
            again = add_to_last(messages, asked)
            schema = create_model("Choice", label=(cast("Any", Literal[tuple(labels)]), ...))
            structured = (await self._connection()).structured
            reply = await structured.reply(again, schema, lambda m, bind: self._ask(m, node, meter, bind), again)
            found = read_label(text_of(reply), labels)
        if found is not None and not is_cut(reply):
            await self._keep(messages, form, found)
        return found

    async def json(
        self, messages: Messages, schema: type[M], *, node: str, meter: Meter, images: Sequence[bytes] = ()
    ) -> M | None:
        """Return the reply as an instance of `schema`, or None when it could not be read.

        The server is asked to enforce the schema where it can; where it cannot, the schema goes into the prompt and
        the reply is read tolerantly. One more try repairs an unreadable reply.
        """
        form = form_of(schema) + digest_of(images)
        kept = await self._recall(messages, form, node, meter)
        if kept is not None:
            try:
                return schema.model_validate_json(kept)
            except ValueError:
                logger.debug("a cached reply does not fit its schema any more")

        last: AIMessage | None = None

        async def ask(asked: Messages, bind: Bind | None) -> AIMessage:
            nonlocal last
            last = await self._ask(asked, node, meter, bind, images)
            return last

        found = await (await self._connection()).structured.ask(messages, schema, ask)
        if found is not None and not is_cut(last):
            await self._keep(messages, form, found.model_dump_json())
        return found

    async def stream(
        self, messages: Messages, *, node: str, meter: Meter, images: Sequence[bytes] = (), whole: bool = False
    ) -> AsyncGenerator[str, None]:
        """Yield the reply in parts as they arrive. A reply from the cache comes in one part.

        Only a failure before the first part is retried: what was yielded is never taken back. A reply that has to be
        `whole` is for a reader of whole sentences: its first part is its first sentence.

        Raises as `text` does, ModelTransient also when the reply breaks off; and ReplyCut, after the last part, where
        the reply has to be `whole` and was cut off at a limit of tokens.
        """
        form = f"text{digest_of(images)}"
        kept = await self._recall(messages, form, node, meter)
        if kept is not None:
            yield kept
            return
        parts: list[str] = []
        for attempt in itertools.count(1):
            held = ""
            try:
                # Closed at once when the reader leaves early: its slot is wanted.
                async with aclosing(self._parts(messages, node, meter, images)) as arriving:
                    async for part in arriving:
                        held += part
                        if parts or not whole or can_be_shown(held):
                            parts.append(held)
                            held = ""
                            yield parts[-1]
                if held:
                    parts.append(held)
                    yield held
                break
            except ReplyCut:
                if held:
                    yield held
                if whole:
                    raise
                return
            except _NOT_OURS:
                raise
            except Exception as exc:
                if parts and is_transient(exc) and not isinstance(exc, TimeoutError):
                    raise ModelTransient(f"the reply of {self.name} at {self.host} broke off", "ask again") from exc
                refused = not parts and (await self._connection()).unlimited(exc)
                if parts or not (refused or await self._wait(exc, attempt, meter)):
                    raise self._explained(exc) from exc
        if parts:
            await self._keep(messages, form, "".join(parts).strip())

    async def _recall(self, messages: Messages, form: str, node: str, meter: Meter) -> str | None:
        if not self._cached:
            return None
        key = ReplyCache.key(self.name, self.host, messages, form)
        kept = await asyncio.to_thread(lambda: reply_cache(self._settings.home).get(key))
        if kept is not None:
            meter.record(Spend(node, self.role, self.name, 0, 1, 0, 0, 0.0, 0.0))
        return kept

    async def _keep(self, messages: Messages, form: str, reply: str) -> None:
        if self._cached:
            key = ReplyCache.key(self.name, self.host, messages, form)
            await asyncio.to_thread(lambda: reply_cache(self._settings.home).put(key, reply))

    async def _ask(
        self, messages: Messages, node: str, meter: Meter, bind: Bind | None = None, images: Sequence[bytes] = ()
    ) -> AIMessage:
        """Make one call, with retries, and return the whole message."""
        at = await self._connection()
        bound = bind(at.model) if bind else at.model
        for attempt in itertools.count(1):
            try:
                async with self._metered(messages, node, meter, len(images)) as call:
                    async with self._patience(meter):
                        call.reply = await invoke(at.limited(bound, self._most), with_images(messages, images))
                    call.text = text_of(call.reply)
                return cast("AIMessage", call.reply)
            except _NOT_OURS:
                raise
            except Exception as exc:
                if not (at.unlimited(exc) or await self._wait(exc, attempt, meter)):
                    raise self._explained(exc) from exc
        raise AssertionError("the last try returns or raises")

    async def _parts(
        self, messages: Messages, node: str, meter: Meter, images: Sequence[bytes]
    ) -> AsyncGenerator[str, None]:
        """Make one streamed call, without retries; ReplyCut at the end of one that was cut off."""
        shown = ThoughtFilter()
        at = await self._connection()
        async with self._metered(messages, node, meter, len(images)) as call:
            began = time.monotonic()
            model = at.limited(at.model, self._most)
            stream = model.astream(with_images(messages, images), config={"tags": ["nostream"]})
            async with aclosing(cast("AsyncGenerator[AIMessageChunk, None]", stream)) as arriving:
                while True:
                    async with self._patience(meter):
                        chunk = await anext(arriving, None)
                    if chunk is None:
                        break
                    told = f"the reply of {self.name} at {self.host} did not end"
                    advice = "use another model, or raise RAGWEAVE_CHAT_TOKENS or RAGWEAVE_CHAT_TIMEOUT"
                    if time.monotonic() - began > _DRIPS * self._settings.chat_timeout:
                        raise ModelTransient(told, advice)  # and too slow for the next step of the turn as well
                    if len(call.text) > _CHARS * self._most:
                        raise ModelError(told, advice)
                    if visible := shown.feed(call.add(chunk)):
                        yield visible
            if visible := shown.rest():
                yield visible
            if isinstance(self._at, Served) and self._at.provider == "openai" and (came := call.instead()):
                raise Unfinished(came)
            if is_cut(call.reply):
                cut = f"the reply of {self.name} at {self.host} was cut off after {call.usage(0)[1]:,} tokens"
                raise ReplyCut(cut, "raise RAGWEAVE_CHAT_TOKENS, or the server's own limit")

    async def _connection(self) -> Connection:
        if isinstance(self._at, Connection):
            return self._at
        stay_here(f"{self.name} at {self.host}", self.host)
        try:
            return await connect(self._at)
        except Exception as exc:
            raise self._explained(exc) from exc

    @asynccontextmanager
    async def _metered(self, messages: Messages, node: str, meter: Meter, images: int) -> AsyncIterator[Call]:
        """Wait for a slot, reserve the budget, and record what was spent, also for a call that fails."""
        prompt = tokens_of("".join(text for _, text in messages)) + images * IMAGE_TOKENS
        async with slot(self.host, self._settings.chat_width, node, meter):
            meter.reserve(node, prompt, self.name)
            call = Call()
            started = time.perf_counter()
            try:
                yield call
            except TimeoutError as exc:
                if meter.out_of_time():
                    raise meter.cut_off(node) from exc
                raise
            finally:
                took = time.perf_counter() - started
                used_in, used_out = call.usage(prompt)
                meter.record(Spend(node, self.role, self.name, 1, 0, used_in, used_out, took, 0.0))

    def _patience(self, meter: Meter) -> asyncio.Timeout:
        left, most = meter.seconds_left, self._settings.chat_timeout
        return asyncio.timeout(most if left is None else min(most, left))

    async def _wait(self, exc: Exception, tried: int, meter: Meter) -> bool:
        """Pause before another try; False where there shall be none, or the run's time would be over by then."""
        pause, left = pause_before(exc, tried), meter.seconds_left
        if pause is None or (left is not None and pause >= left):
            return False
        logger.info("%s at %s: %s; trying again in %.1f s", self.name, self.host, type(exc).__name__, pause)
        await asyncio.sleep(pause)
        return True

    def _explained(self, exc: Exception) -> Exception:
        return explain(exc, self.name, self.host, waited=self._settings.chat_timeout)


_injected: ContextVar[tuple[dict[str, Connection], bool] | None] = ContextVar("injected_models", default=None)


@contextmanager
def override(*, cached: bool = False, **models: BaseChatModel) -> Iterator[None]:
    """Inject models by role for the code inside; `writer` also stands in for the other roles.

    `cached` keeps and reuses their replies on disk.

    Raises:
        InputError: for a role that does not exist.
    """
    unknown = set(models) - set(get_args(Role))
    if unknown:
        raise InputError(f"there is no role {sorted(unknown)[0]!r}", f"use one of {', '.join(get_args(Role))}")
    outer = _injected.get()
    made = {role: Connection(model, Structured(name_of(model))) for role, model in models.items()}
    token = _injected.set(({**(outer[0] if outer else {}), **made}, cached))
    try:
        yield
    finally:
        _injected.reset(token)


def chat(role: Role = "writer", name: str = "") -> Chat | None:
    """Return the chat model of a role, or None where none is configured.

    `name` puts another of the configured models in the writer's place.

    Only RAGWEAVE_CHAT (or an injected model) counts, and RAGWEAVE_VISION for pictures: a key that lies in the
    environment never does.

    Raises:
        InputError: if a setting cannot be used, or no configured model has the name.
    """
    injected = _injected.get()
    if injected:
        models, cached = injected
        connection = models.get(role) or models.get("writer")
        if connection is not None:
            return Chat(role, connection, cached=cached)
    settings = model_settings()
    if not (settings.chat or (settings.vision and role == "vision")):
        return None
    if name and name not in settings.writers:
        raise InputError(f"there is no chat model {name!r} here", f"choose one of {', '.join(settings.writers)}")
    return Chat(role, Served.of(settings.endpoint(role, name), settings), cached=settings.chat_cache)
