"""A chat model with scripted replies; a call without a reply fails the test."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import Field, PrivateAttr

from ragweave.tests.support.reading import honest, is_check
from ragweave.tests.support.replies import as_parts, as_text, count_tokens

Reply = str | AIMessage | dict[str, Any] | list[str] | BaseException
Reaction = Callable[[list[BaseMessage]], Reply]


@dataclass(frozen=True)
class Call:
    """One call that a scripted model received."""

    messages: tuple[BaseMessage, ...]
    method: str
    """`text`, `stream` or `json_schema`."""

    @property
    def prompt(self) -> str:
        """All messages as one text."""
        return "\n\n".join([str(message.text) for message in self.messages])


class ScriptedChat(BaseChatModel):
    """A chat model with queued replies, or with a function that makes them.

    A reply is a string, an AIMessage, a dict (a structured reply), a list of strings (the parts of a stream),
    or an exception to be raised. A call without a reply raises an AssertionError.
    """

    replies: Sequence[Any] = ()
    """Replies in the order of the calls."""
    react: Reaction | None = Field(default=None, exclude=True)
    """Returns the reply when the queue is empty, for runs in which the order of calls varies."""
    delay: float = 0.0
    """Seconds before each reply."""
    model_name: str = "scripted"
    checker: Reaction | None = Field(default=honest, exclude=True)
    """Answers calls of the check, which then take no reply from the queue; None: they take a reply."""

    _checks: list[Call] = PrivateAttr(default_factory=list)
    _queue: deque[Any] = PrivateAttr(default_factory=deque)
    _calls: list[Call] = PrivateAttr(default_factory=list)
    _unexpected: list[Call] = PrivateAttr(default_factory=list)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    def model_post_init(self, context: Any, /) -> None:
        """Fill the queue."""
        super().model_post_init(context)
        self._queue.extend(self.replies)

    @property
    def calls(self) -> list[Call]:
        """Calls received so far."""
        return list(self._calls)

    @property
    def checks(self) -> list[Call]:
        """Calls of the check that `checker` answered."""
        return list(self._checks)

    def queue(self, *replies: Any) -> None:
        """Add replies at the end of the queue."""
        self._queue.extend(replies)

    def assert_consumed(self) -> None:
        """Check that every reply was used, and that no call lacked one.

        Raises:
            AssertionError: replies are left, or a call had none, even if the program caught that error.
        """
        assert not self._unexpected, _complaint(self._unexpected[0])
        assert not self._queue, (
            f"{len(self._queue)} scripted replies were never asked for, first: {self._queue[0]!r}"
        )

    def with_structured_output(self, *schema: Any, **kwargs: Any) -> Runnable[Any, Any]:
        """Return a runnable that asks for a structured reply; the caller parses it."""
        return self.bind(scripted_method="json_schema") | RunnableLambda(lambda message: message)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _next(self, messages: list[BaseMessage], method: str) -> Any:
        call = Call(tuple(messages), method)
        if self.checker is not None and is_check(messages):
            self._checks.append(call)
            return self.checker(messages)
        with self._lock:
            self._calls.append(call)
            queued = bool(self._queue)
            reply = self._queue.popleft() if queued else None
            if not queued and self.react is None:
                self._unexpected.append(call)
                raise AssertionError(_complaint(call))
        if not queued and self.react is not None:
            reply = self.react(messages)
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def _generate(
        self, messages: list[BaseMessage], *given: Any, scripted_method: str = "text", **options: Any
    ) -> ChatResult:
        time.sleep(self.delay)
        return _result(self._next(messages, scripted_method), messages)

    async def _agenerate(
        self, messages: list[BaseMessage], *given: Any, scripted_method: str = "text", **options: Any
    ) -> ChatResult:
        await asyncio.sleep(self.delay)
        return _result(self._next(messages, scripted_method), messages)

    async def _astream(
        self, messages: list[BaseMessage], *given: Any, scripted_method: str = "stream", **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        await asyncio.sleep(self.delay)
        for chunk in _chunks(self._next(messages, scripted_method), messages):
            yield chunk


def _complaint(call: Call) -> str:
    return f"no scripted reply is left for this {call.method} call:\n{call.prompt[-2000:]}"


def _usage(messages: Sequence[BaseMessage], text: str) -> UsageMetadata:
    prompt = 0
    for message in messages:
        prompt += count_tokens(str(message.text))
    reply = count_tokens(text)
    return UsageMetadata(input_tokens=prompt, output_tokens=reply, total_tokens=prompt + reply)


def _result(reply: Any, messages: Sequence[BaseMessage]) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=_message(reply, messages))])


def _message(reply: Any, messages: Sequence[BaseMessage]) -> AIMessage:
    if isinstance(reply, AIMessage):
        return reply
    text = as_text(reply)
    ended = {"finish_reason": "stop"}
    return AIMessage(text, usage_metadata=_usage(messages, text), response_metadata=ended)


def _chunks(reply: Any, messages: Sequence[BaseMessage]) -> Iterator[ChatGenerationChunk]:
    message = _message(reply, messages)
    parts = as_parts(reply if isinstance(reply, list) else str(message.text))
    for part in parts:
        yield ChatGenerationChunk(message=AIMessageChunk(content=part))
    last = AIMessageChunk(
        content="",
        tool_calls=message.tool_calls,
        usage_metadata=message.usage_metadata,
        response_metadata=message.response_metadata,
        chunk_position="last",
    )
    yield ChatGenerationChunk(message=last)
