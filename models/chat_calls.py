"""Call a chat model and read its reply while it arrives, with a second try and a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial

from ragweave.models import failures
from ragweave.models.chat_client import Connection, Served, connect, host_of, name_of, slot, stay_here
from ragweave.models.chat_fit import PromptRoom
from ragweave.models.chat_injected import Role
from ragweave.models.chat_parts import broke_off, next_part, stopped
from ragweave.models.chat_reply import ChatReply, ModelRequest
from ragweave.models.chat_ways import NoStream
from ragweave.models.errors import PromptCut, RagweaveError
from ragweave.models.failures import Unfinished, endless, explain, is_transient
from ragweave.models.meter import Spend
from ragweave.models.settings import ModelSettings
from ragweave.models.text import clip

_CHARS = 10
"""Characters per token after which a reply is cut."""
_DRIPS = 4
"""Factor of the timeout: the time limit of a reply that is shown already."""


def _never(_: str) -> bool:
    """Show nothing of a reply before its end."""
    return False


class ChatCalls:
    """The calls of the chat model of one role."""

    def __init__(self, role: Role, at: Served | Connection, settings: ModelSettings, context: int) -> None:
        self.role, self._at, self._settings = role, at, settings
        served = at if isinstance(at, Served) else None
        if isinstance(at, Served):
            self.name, self.host = at.name, at.host
        else:
            self.name, self.host = name_of(at.model), host_of(at.model)
        most = settings.chat_tokens or (2_048 if role in ("judge", "vision") else 4_096)
        self._prompts = PromptRoom(self.name, self.host, served, most, context)

    async def _ask(self, asked: ModelRequest) -> ChatReply:
        """Return a whole reply."""
        asked = await self._prompts.fit(asked)
        while True:
            reply = ChatReply()
            try:
                async with aclosing(self._read(reply, asked, _never)) as parts:
                    async for _ in parts:
                        pass
                self._check_whole(reply)
                return reply
            except PromptCut as error:
                asked = await self._prompts.smaller(asked, error)

    async def _read_cut(
        self, reply: ChatReply, asked: ModelRequest, ready: Callable[[ModelRequest, str], bool]
    ) -> AsyncGenerator[str, None]:
        """Yield the text of a reply; send a shorter request if the server cuts the prompt."""
        sent = asked
        while True:
            try:
                async with aclosing(self._read(reply, sent, partial(ready, sent))) as parts:
                    async for part in parts:
                        yield part
                return
            except PromptCut as error:
                sent = await self._prompts.smaller(sent, error)

    def _check_whole(self, reply: ChatReply) -> None:
        """Raise ReplyCut if the server stopped the reply early."""
        if reply.stopped:
            raise stopped(self.name, self.host, reply.stopped)

    async def _read(
        self, reply: ChatReply, asked: ModelRequest, ready: Callable[[str], bool]
    ) -> AsyncGenerator[str, None]:
        """Yield the text of a reply once it is `ready`; call again if the reply breaks off before that."""
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
                rest = reply.take(ended=True)
                if rest:
                    yield rest
                return
            except (RagweaveError, AssertionError):
                raise  # It is explained already, or it is a message of a scripted model to its test.
            except Exception as exc:
                if reply.shown and is_transient(exc) and not failures.is_silence(exc):
                    raise broke_off(self.name, self.host) from exc
                second = "" if reply.shown else at.second_way(exc, self._prompts.reply_tokens, reply.begun)
                if second:
                    taken.append(second)
                    continue
                if reply.shown or again or not failures.broke_off(exc, reply.begun):
                    at.undo(taken)
                    raise self._explained(exc, reply, asked) from exc
                again = True
                await asyncio.sleep(failures.BACKOFF)

    def _explained(self, exc: Exception, reply: ChatReply, asked: ModelRequest) -> RagweaveError:
        """Return the typed error for a failed call."""
        if failures.is_too_long(exc) and not reply.shown:
            return self._prompts.too_long(exc, asked)
        waited = asyncio.get_running_loop().time() - reply.since
        return explain(exc, self.name, self.host, waited=waited)

    async def _call(
        self, reply: ChatReply, at: Connection, asked: ModelRequest
    ) -> AsyncGenerator[None, None]:
        """Make one call: fill `reply`, yield after each part, and record the spending even if it fails."""
        meter, clock = asked.meter, asyncio.get_running_loop().time
        async with slot(self.host, self._settings.chat_width, asked.node, meter):
            meter.reserve(asked.node, asked.tokens, self.name)
            began = clock()
            reply.begin(began)
            try:
                async with aclosing(self._parts(reply, at, asked, began)) as parts:
                    async for _ in parts:
                        yield
                if not reply.instead:
                    await at.learn(reply)
            finally:
                used = reply.usage(asked.tokens)
                meter.record(Spend(asked.node, self.role, self.name, 1, 0, *used, clock() - began, 0.0))
            if isinstance(self._at, Served) and self._at.provider == "openai" and reply.instead:
                raise Unfinished(reply.instead) if reply.begun else NoStream("no event of a stream")
            if reply.failed and not reply.shown:
                raise Unfinished(f"ended its reply early ({clip(reply.finish, 40)})")

    async def _parts(
        self, reply: ChatReply, at: Connection, asked: ModelRequest, began: float
    ) -> AsyncGenerator[None, None]:
        """Add each part of a stream to `reply`; end a reply that takes too long or is too long."""
        most_tokens, clock = self._prompts.reply_tokens, asyncio.get_running_loop().time
        settings, served = self._settings, isinstance(self._at, Served)
        silence = settings.chat_timeout if at.ways.streamed else settings.chat_patience
        model, sent = at.limited(asked.bound or at.model, most_tokens), at.ways.messages(asked.sent)
        async with aclosing(model.astream(sent, config={"tags": ["nostream"]})) as arriving:
            while True:
                chunk = await next_part(arriving, reply, asked, silence, served=served)
                if chunk is None:
                    return
                reply.since = clock()
                most = _DRIPS * settings.chat_timeout if reply.shown else settings.chat_patience
                if reply.since - began > most:
                    # The next step of the turn would be too slow as well.
                    raise endless(f"the reply of {self.name} at {self.host} did not end within {most:.0f} s")
                reply.add(chunk)
                yield
                # Parts that arrive together are read without a wait, so let other tasks run.
                await asyncio.sleep(0)
                if len(reply.text) > _CHARS * most_tokens:
                    reply.finish = "length"
                    return

    async def _connection(self) -> Connection:
        if isinstance(self._at, Connection):
            return self._at
        stay_here(f"{self.name} at {self.host}", self.host)
        try:
            return await connect(self._at)
        except Exception as exc:
            raise explain(exc, self.name, self.host) from exc
