"""A chat model that says what a test told it to, and complains about everything else."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel, Field, PrivateAttr

from ragweave.tests.support.replies import (
    UnconsumedReplies,
    UnexpectedModelCall,
    as_parts,
    as_text,
    as_value,
    count_tokens,
    is_structured,
)

Reply = str | AIMessage | BaseModel | dict[str, Any] | list[str] | BaseException
Reaction = Callable[[list[BaseMessage]], Reply]


@dataclass(frozen=True)
class Call:
    """One call that a scripted model received."""

    messages: tuple[BaseMessage, ...]
    method: str
    """`text`, `stream`, `json_schema`, `function_calling` or `json_mode`."""

    @property
    def prompt(self) -> str:
        """All messages as one text."""
        return "\n\n".join(str(m.text) for m in self.messages)


class ScriptedChat(BaseChatModel):
    """A chat model with queued replies, or with a function that makes them.

    A reply is a string, an AIMessage, a dict or Pydantic model (a structured reply), a list of strings (the parts of a
    stream), or an exception to be raised. A call for which no reply is left raises `UnexpectedModelCall`.

    >>> model = ScriptedChat(replies=["Paris.", {"verdict": "correct"}])
    >>> model.invoke("What is the capital of France?").content
    'Paris.'
    """

    replies: Sequence[Any] = ()
    """Replies in the order of the calls."""
    react: Reaction | None = Field(default=None, exclude=True)
    """Makes the reply from the messages when the queue is empty; for longer runs, where the order of calls varies."""
    delay: float = 0.0
    """Seconds before each reply."""
    model_name: str = "scripted"

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
    def pending(self) -> int:
        """Replies not asked for yet."""
        return len(self._queue)

    def queue(self, *replies: Any) -> None:
        """Add replies at the end of the queue."""
        self._queue.extend(replies)

    def assert_consumed(self) -> None:
        """Check that every reply was asked for and nothing else was.

        Raises:
            UnconsumedReplies: if replies are left.
            UnexpectedModelCall: if a call found no reply, even where the program caught that error.
        """
        if self._unexpected:
            raise UnexpectedModelCall(_complaint(self._unexpected[0]))
        if self._queue:
            raise UnconsumedReplies(
                f"{len(self._queue)} scripted replies were never asked for, first: {self._queue[0]!r}"
            )

    def with_structured_output(
        self,
        schema: dict[str, Any] | type | None = None,
        *,
        method: str = "json_schema",
        include_raw: bool = False,
        **kwargs: Any,
    ) -> Runnable[Any, Any]:
        """Return a runnable that asks for a structured reply and reads it as provider clients do."""

        def read(message: BaseMessage) -> Any:
            value, error = None, None
            try:
                value = _structured(message, schema, method)
            except Exception as exc:
                error = exc
            if include_raw:
                return {"raw": message, "parsed": value, "parsing_error": error}
            if error:
                raise error
            return value

        return self.bind(scripted_method=method) | RunnableLambda(read)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _next(self, messages: list[BaseMessage], method: str) -> Any:
        call = Call(tuple(messages), method)
        with self._lock:
            self._calls.append(call)
            queued = bool(self._queue)
            reply = self._queue.popleft() if queued else None
            if not queued and self.react is None:
                self._unexpected.append(call)
                raise UnexpectedModelCall(_complaint(call))
        if not queued and self.react is not None:
            reply = self.react(messages)
        if isinstance(reply, BaseException):
            raise reply
        return reply

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        scripted_method: str = "text",
        **kwargs: Any,
    ) -> ChatResult:
        time.sleep(self.delay)
        reply = self._next(messages, scripted_method)
        return ChatResult(generations=[ChatGeneration(message=_message(reply, messages, scripted_method))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        scripted_method: str = "text",
        **kwargs: Any,
    ) -> ChatResult:
        await asyncio.sleep(self.delay)
        reply = self._next(messages, scripted_method)
        return ChatResult(generations=[ChatGeneration(message=_message(reply, messages, scripted_method))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        scripted_method: str = "stream",
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        time.sleep(self.delay)
        reply = self._next(messages, scripted_method)
        yield from _chunks(reply, messages, scripted_method)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        scripted_method: str = "stream",
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        await asyncio.sleep(self.delay)
        reply = self._next(messages, scripted_method)
        for chunk in _chunks(reply, messages, scripted_method):
            if run_manager:
                await run_manager.on_llm_new_token(str(chunk.message.text), chunk=chunk)
            yield chunk


def _complaint(call: Call) -> str:
    return f"no scripted reply is left for this {call.method} call:\n{call.prompt[-2000:]}"


def _usage(messages: Sequence[BaseMessage], text: str) -> UsageMetadata:
    asked, said = sum(count_tokens(str(m.text)) for m in messages), count_tokens(text)
    return UsageMetadata(input_tokens=asked, output_tokens=said, total_tokens=asked + said)


def _message(reply: Any, messages: Sequence[BaseMessage], method: str) -> AIMessage:
    if isinstance(reply, AIMessage):
        return reply
    text = as_text(reply)
    told = {"usage_metadata": _usage(messages, text), "response_metadata": {"finish_reason": "stop"}}
    if method == "function_calling" and is_structured(reply):
        return AIMessage("", tool_calls=[{"name": "reply", "args": as_value(reply), "id": "call-1"}], **told)
    return AIMessage(text, **told)


def _chunks(reply: Any, messages: Sequence[BaseMessage], method: str) -> Iterator[ChatGenerationChunk]:
    message = _message(reply, messages, method)
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


def _structured(message: BaseMessage, schema: dict[str, Any] | type | None, method: str) -> Any:
    if method == "function_calling":
        calls = message.tool_calls if isinstance(message, AIMessage) else []
        value = calls[0]["args"] if calls else None
    else:
        value = json.loads(str(message.text))
    if value is not None and isinstance(schema, type) and issubclass(schema, BaseModel):
        return schema.model_validate(value)
    return value
