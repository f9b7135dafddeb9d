"""Structured replies: the strictest method a server has, and the next one where it turns out not to have it."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ragweave.models.chat_errors import is_too_long
from ragweave.models.chat_json import fit, instruction, read_json
from ragweave.models.errors import ModelError
from ragweave.models.transient import status_of

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from pydantic import BaseModel

JsonMethod = Literal["auto", "json_schema", "function_calling", "prompt"]

logger = logging.getLogger(__name__)

M = TypeVar("M", bound="BaseModel")
Messages = Sequence[tuple[str, str]]
Ask = Callable[[Messages, Callable[["BaseChatModel"], Any]], Awaitable["AIMessage"]]

_failed: dict[tuple[str, str], set[str]] = {}
"""Methods that a server turned out not to have, by (host, model), for the life of the process."""


def forget() -> None:
    """Forget which methods failed; for tests."""
    _failed.clear()


class Structured:
    """Asks one model for structured replies.

    Args:
        host: where the model is served.
        name: the model's name.
        method: the configured method; `auto` tries them from the strictest on and remembers which ones failed.
    """

    def __init__(self, host: str, name: str, method: JsonMethod) -> None:
        self._server = (host, name)
        order = ["json_schema", "function_calling", "prompt"] if method == "auto" else [method, "prompt"]
        self._order = list(dict.fromkeys(order))

    @staticmethod
    def form(schema: type[BaseModel]) -> str:
        """Return a short name of a schema that changes with its content."""
        shape = json.dumps(schema.model_json_schema(), sort_keys=True)
        return f"json:{schema.__name__}:{hashlib.sha256(shape.encode()).hexdigest()[:16]}"

    async def ask(self, messages: Messages, schema: type[M], ask: Ask) -> M | None:
        """Return the reply as an instance of the schema, or None when it and one repair could not be read.

        Args:
            messages: the prompt.
            schema: what the reply shall fit.
            ask: makes one call with the model bound to a method.

        Raises:
            ModelError: if the server fails whatever the method.
        """
        failed = _failed.setdefault(self._server, set())
        refused: set[str] = set()
        for method in [m for m in self._order if m not in failed or m == "prompt"]:
            try:
                message = await ask(_prompt(messages, schema, method), _binder(schema, method))
            except _NoMethod:
                failed.add(method)
                continue
            except ModelError as exc:
                if method != "prompt" and _is_refusal(exc):
                    refused.add(method)
                    continue
                raise
            # What refused two methods and then answers a third lacks those methods; a prompt that every method
            # fails on is at fault itself and says nothing about them.
            failed |= refused
            found = _read(message, schema)
            if found is None and _ignored(message, method):
                logger.info("%s at %s does not do %s", self._server[1], self._server[0], method)
                failed.add(method)
                continue
            return found if found is not None else await self._repair(messages, schema, method, ask)
        return None

    async def enforced(self, messages: Messages, schema: type[BaseModel], ask: Ask) -> AIMessage:
        """Return one reply, made under the schema where the server takes one, and in free words elsewhere.

        Args:
            messages: the prompt; it says in words what the schema says.
            schema: what the reply shall fit.
            ask: makes one call with the model bound to a method.

        Raises:
            ModelError: if the server fails whatever the method.
        """
        if "json_schema" in self._order and "json_schema" not in _failed.get(self._server, ()):
            try:
                return await ask(messages, _binder(schema, "json_schema"))
            except _NoMethod:
                pass
            except ModelError as exc:
                if not _is_refusal(exc):
                    raise
        return await ask(messages, _binder(schema, "prompt"))

    async def _repair(self, messages: Messages, schema: type[M], method: str, ask: Ask) -> M | None:
        again = f"Your last reply could not be read. {instruction(schema)}"
        return _read(await ask(add_to_last(messages, again), _binder(schema, method)), schema)


class _NoMethod(Exception):
    """The client has no such method."""


def choice_of(labels: Sequence[str]) -> type[BaseModel]:
    """Return a schema whose only field is one of the labels."""
    from pydantic import create_model

    allowed: Any = Literal[tuple(labels)]
    return create_model("Choice", label=(allowed, ...))


def add_to_last(messages: Messages, text: str) -> list[tuple[str, str]]:
    """Add a paragraph to the last message; many chat templates refuse two user messages in a row."""
    *head, (role, last) = messages
    return [*head, (role, f"{last}\n\n{text}")]


def _prompt(messages: Messages, schema: type[BaseModel], method: str) -> Messages:
    return add_to_last(messages, instruction(schema)) if method in ("prompt", "json_mode") else messages


def _binder(schema: type[BaseModel], method: str) -> Callable[[BaseChatModel], Any]:
    def bind(model: BaseChatModel) -> Any:
        from langchain_core.runnables import RunnableSequence

        if method == "prompt":
            return model
        # The schema goes in as a dict: given the class, some clients raise on an unreadable reply and lose its text.
        shape = {"description": schema.__name__, **schema.model_json_schema()}
        try:
            bound = model.with_structured_output(shape, method=method)
        except (NotImplementedError, ValueError, TypeError, AttributeError) as exc:
            raise _NoMethod(method) from exc
        # Only the bound model is wanted, not the parser behind it, which takes seconds over 40 kB of brackets.
        if not isinstance(bound, RunnableSequence):
            raise _NoMethod(method)
        return bound.first

    return bind


def _is_refusal(exc: ModelError) -> bool:
    """Say whether a server refused the form of the request, rather than failing on its content."""
    cause = exc.__cause__
    if cause is None or is_too_long(cause):
        return False
    return isinstance(cause, NotImplementedError) or status_of(cause) in (400, 404, 405, 415, 422, 500, 501)


def _ignored(message: AIMessage, method: str) -> bool:
    """Say whether the server answered as if no method had been asked for."""
    if method == "function_calling":
        return not (message.tool_calls or message.invalid_tool_calls)
    return method != "prompt" and bool(str(message.text).strip()) and "{" not in str(message.text)


def _read(message: AIMessage, schema: type[M]) -> M | None:
    for call in message.tool_calls:
        if (found := fit(call["args"], schema)) is not None:
            return found
    for broken in message.invalid_tool_calls:
        if (found := read_json(broken.get("args") or "", schema)) is not None:
            return found
    return read_json(str(message.text), schema)
