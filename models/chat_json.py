"""Structured replies: the strictest method a server has, the next one where it turns out not to have it, and reading.

`with_structured_output` binds the method; what comes back is read here and mended by json-repair, because the parsers
behind it raise on prose and take seconds over garbage.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import json_repair
from pydantic import BaseModel, ValidationError, create_model

from ragweave.models.chat_reply import LONGEST, Messages, add_to_last, finish_of, without_thoughts
from ragweave.models.errors import ModelError
from ragweave.models.failures import is_too_long, status_of

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

logger = logging.getLogger(__name__)

M = TypeVar("M", bound=BaseModel)
Bind = Callable[["BaseChatModel"], Any]
Ask = Callable[[Messages, Bind], Awaitable["AIMessage"]]

_MENDED = 20_000
"""Characters of a reply that is mended: json-repair takes seconds over deeply nested garbage."""
METHODS = ("json_schema", "function_calling", "prompt")
"""From the strictest on; `prompt` puts the schema into the prompt, which every server takes."""


class Structured:
    """Asks one model for structured replies, and learns which methods its server has.

    Args:
        where: what to call the model in the log.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._lacks: set[str] = set()

    async def ask(self, messages: Messages, schema: type[M], ask: Ask) -> M | None:
        """Return the reply as an instance of the schema, or None when it and one repair could not be read.

        Args:
            messages: the prompt.
            schema: what the reply shall fit.
            ask: makes one call with the model bound to a method.

        Raises:
            ModelError: if the server fails whatever the method.
        """
        refused: set[str] = set()
        for method in [m for m in METHODS if m not in self._lacks]:
            try:
                message = await ask(_prompt(messages, schema, method), _binder(schema, method))
            except _NoMethod:
                self._lacks.add(method)
                continue
            except ModelError as exc:
                if method != "prompt" and _is_refusal(exc):
                    refused.add(method)
                    continue
                raise
            # What refused two methods and then answers a third lacks those methods; a prompt that every method
            # fails on is at fault itself and says nothing about them.
            self._lacks |= refused
            found = _read(message, schema)
            if found is None and _ignored(message, method):
                logger.info("%s does not do %s", self._where, method)
                self._lacks.add(method)
                continue
            if found is not None:
                return found
            again = add_to_last(messages, f"Your last reply could not be read. {instruction(schema)}")
            return _read(await ask(again, _binder(schema, method)), schema)
        return None

    async def choice(self, messages: Messages, labels: Sequence[str], ask: Ask) -> AIMessage:
        """Return one reply that names a label: under a schema where the server takes one, in free words elsewhere.

        Args:
            messages: the prompt; it says in words that one of the labels is asked for.
            labels: what may be chosen.
            ask: makes one call with the model bound to a method.

        Raises:
            ModelError: if the server fails whatever the method.
        """
        allowed: Any = Literal[tuple(labels)]
        schema = create_model("Choice", label=(allowed, ...))
        if "json_schema" not in self._lacks:
            try:
                return await ask(messages, _binder(schema, "json_schema"))
            except _NoMethod:
                pass
            except ModelError as exc:
                if not _is_refusal(exc):
                    raise
        return await ask(messages, _binder(schema, "prompt"))


class _NoMethod(Exception):
    """The client has no such method."""


def form_of(schema: type[BaseModel]) -> str:
    """Return a short name of a schema that changes with its content."""
    shape = json.dumps(schema.model_json_schema(), sort_keys=True)
    return f"json:{schema.__name__}:{hashlib.sha256(shape.encode()).hexdigest()[:16]}"


def instruction(schema: type[BaseModel]) -> str:
    """Return the request for JSON that is added to a prompt where the server cannot enforce a schema."""
    shape = json.dumps(schema.model_json_schema(), ensure_ascii=False, separators=(",", ":"))
    return f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{shape}"


def _prompt(messages: Messages, schema: type[BaseModel], method: str) -> Messages:
    return add_to_last(messages, instruction(schema)) if method == "prompt" else messages


def _binder(schema: type[BaseModel], method: str) -> Bind:
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
        if (found := _fit(call["args"], schema)) is not None:
            return found
    texts = [broken.get("args") or "" for broken in message.invalid_tool_calls] + [str(message.text)]
    whole = finish_of(message) != "length"
    return next((found for text in texts if (found := read_json(text, schema, mend=whole)) is not None), None)


def read_json(text: str, schema: type[M], *, mend: bool = True) -> M | None:
    """Find the first JSON value in a reply that fits the schema: bare, fenced, or with prose around it.

    Args:
        text: the reply.
        schema: what the value shall fit; with a single field, a bare value stands for that field.
        mend: let json-repair forgive commas, quotes and the like. A reply that was cut off is never completed.
    """
    text = without_thoughts(text)[:LONGEST]
    opening = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    if opening < 0 or max(text.rfind("{"), text.rfind("[")) > max(text.rfind("}"), text.rfind("]")):
        return None
    try:
        values = [json.JSONDecoder(strict=False).raw_decode(text, opening)[0]]
    except (ValueError, RecursionError):
        values = []
    found = _first(values, schema)
    if found is not None or not mend or len(text) > _MENDED:
        return found
    try:
        return _first([json_repair.loads(text, skip_json_loads=True)], schema)
    except (ValueError, RecursionError):
        return None


def _first(values: list[Any], schema: type[M]) -> M | None:
    """Return the first value that fits, or the first object inside one: some models wrap what was asked for."""
    for value in values:
        inner = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
        for candidate in [value, *(v for v in inner if isinstance(v, dict))]:
            if (found := _fit(candidate, schema)) is not None:
                return found
    return None


def _fit(value: Any, schema: type[M]) -> M | None:
    """Validate a decoded value, lone surrogates replaced, which nothing can store or print; or return None."""
    if not isinstance(value, dict) and len(schema.model_fields) == 1:
        value = {next(iter(schema.model_fields)): value}
    try:
        found = schema.model_validate_json(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        json.dumps(found.model_dump(), allow_nan=False, default=str)  # NaN is no JSON, however it was written
    except (ValidationError, ValueError, TypeError, RecursionError):
        return None
    return found
