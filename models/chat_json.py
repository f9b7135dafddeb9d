"""Structured replies: under a schema where the server enforces one, with the schema in the prompt elsewhere.

`with_structured_output` binds the schema; what comes back is read here and mended by json-repair, because the parsers
behind it raise on prose and take seconds over garbage.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import json_repair
from pydantic import BaseModel, ValidationError

from ragweave.models.chat_reply import LONGEST, Messages, add_to_last, is_cut, without_thoughts
from ragweave.models.errors import ModelError
from ragweave.models.failures import is_too_long, status_of

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

logger = logging.getLogger(__name__)

M = TypeVar("M", bound=BaseModel)
Bind = Callable[["BaseChatModel"], Any]
Ask = Callable[[Messages, Bind | None], Awaitable["AIMessage"]]
"""Makes one call with the model, bound where a binding is given."""

_MENDED = 20_000
"""Characters of a reply that is mended: json-repair takes seconds over deeply nested garbage."""


class Structured:
    """Asks one model for structured replies, and learns whether its server enforces a schema."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._enforces = True

    async def ask(self, messages: Messages, schema: type[M], ask: Ask) -> M | None:
        """Return the reply as an instance of the schema, or None when it and one repair could not be read.

        Raises:
            ModelError: if the server fails, with the schema and without.
        """
        asked = instruction(schema)
        reply = await self.reply(messages, schema, ask, add_to_last(messages, asked))
        if (found := _read(reply, schema)) is not None:
            return found
        if self._enforces and reply.text.strip() and "{" not in reply.text:
            logger.info("%s answers as if it had been given no schema", self._where)
            self._enforces = False
        again = add_to_last(messages, f"Your last reply could not be read. {asked}")
        return _read(await self.reply(again, schema, ask, again), schema)

    async def reply(self, messages: Messages, schema: type[BaseModel], ask: Ask, otherwise: Messages) -> AIMessage:
        """Return one reply under the schema; where the server does not take one, the reply to `otherwise`.

        Raises:
            ModelError: if the server fails, with the schema and without.
        """
        if self._enforces:
            try:
                return await ask(messages, _binder(schema))
            except _NoMethod:
                pass
            except ModelError as exc:
                if not _is_refusal(exc):
                    raise
        reply = await ask(otherwise, None)
        # What refused a schema and then answers lacks the method; a prompt that fails both ways is at fault itself.
        self._enforces = False
        return reply


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


def _binder(schema: type[BaseModel]) -> Bind:
    def bind(model: BaseChatModel) -> Any:
        from langchain_core.runnables import RunnableSequence

        # The schema goes in as a dict: given the class, some clients raise on an unreadable reply and lose its text.
        shape = {"description": schema.__name__, **schema.model_json_schema()}
        try:
            bound = model.with_structured_output(shape, method="json_schema")
        except (NotImplementedError, ValueError, TypeError, AttributeError) as exc:
            raise _NoMethod from exc
        if not isinstance(bound, RunnableSequence):
            raise _NoMethod
        return bound.first

    return bind


def _is_refusal(exc: ModelError) -> bool:
    """Say whether a server refused the form of the request, rather than failing on its content."""
    cause = exc.__cause__
    if cause is None or is_too_long(cause):
        return False
    return isinstance(cause, NotImplementedError) or status_of(cause) in (400, 404, 405, 415, 422, 500, 501)


def _read(message: AIMessage, schema: type[M]) -> M | None:
    text = str(message.text)
    found = read_json(text, schema, mend=not is_cut(message))
    # A schema may know another form in which models write what it asks for.
    plain: Callable[[str], M | None] | None = getattr(schema, "read_plain", None)
    return plain(text) if found is None and plain is not None else found


def read_json(text: str, schema: type[M], *, mend: bool = True) -> M | None:
    """Find the first JSON value in a reply that fits the schema: bare, fenced, or with prose around it.

    Of a schema with a single field a bare value stands for that field. json-repair forgives commas, quotes and the
    like, but a reply that was cut off is never completed (`mend`).
    """
    text = without_thoughts(text)[:LONGEST]
    opening = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    if opening < 0 or max(text.rfind("{"), text.rfind("[")) > max(text.rfind("}"), text.rfind("]")):
        return None
    with suppress(ValueError, RecursionError):
        found = _first(json.JSONDecoder(strict=False).raw_decode(text, opening)[0], schema)
        if found is not None:
            return found
    if not mend or len(text) > _MENDED:
        return None
    with suppress(ValueError, RecursionError):
        return _first(json_repair.loads(text, skip_json_loads=True), schema)
    return None


def _first(value: Any, schema: type[M]) -> M | None:
    """Return the value where it fits, or the first object inside that does: some models wrap what was asked for."""
    inner = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
    candidates = [value, *(v for v in inner if isinstance(v, dict))]
    return next((found for c in candidates if (found := _fit(c, schema)) is not None), None)


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
