"""Read structured replies, either enforced by the server or with the schema in the prompt.

`with_structured_output` binds the schema. The reply is parsed here and repaired by json-repair, because
LangChain's own parser raises on prose and takes a minute for 40,000 brackets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from html import unescape
from typing import TYPE_CHECKING, Any, TypeVar

import json_repair
from pydantic import BaseModel, ValidationError

from ragweave.models.chat_reply import ChatReply, without_thoughts
from ragweave.models.errors import ModelError
from ragweave.models.failures import is_too_long, status_of

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

M = TypeVar("M", bound=BaseModel)

_MENDED = 8_000
"""Most characters of a repaired reply, because json-repair takes seconds for long, deeply nested garbage."""
_MENDINGS = 3
"""Most positions in a reply from which a repair is tried."""
_PLACES = 100
"""Most brackets in a reply from which parsing is tried, because prose may hold brackets."""
_DEEPEST = 3
"""Objects around the value that are opened."""
_LIKE_JSON = re.compile(r"\{\s*[\"'“\w]|\[\s*[\"'“{\[]")


@cache
def shape_of(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a reply; cached, because pydantic takes a millisecond."""
    return schema.model_json_schema()


def instruction(schema: type[BaseModel]) -> str:
    """Return the request for JSON that is added to a prompt if the server cannot enforce a schema."""
    shape = json.dumps(shape_of(schema), ensure_ascii=False, separators=(",", ":"))
    return f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{shape}"


def under(schema: type[BaseModel], model: BaseChatModel) -> Any:
    """Return the model bound to a schema, or None if its client has no method for that."""
    # Pass the schema as a dict: with a class, some clients raise on an unreadable reply and lose its text.
    shape = {"description": schema.__name__, **shape_of(schema)}
    with suppress(NotImplementedError, ValueError, TypeError, AttributeError):
        runnable: Any = model.with_structured_output(shape, method="json_schema")
        bound = runnable.first
        kwargs = dict(bound.kwargs)
        if "root_async_client" in type(model).model_fields and kwargs.get("response_format"):
            # OpenAI's client reads a stream under a known schema only if each reply names its role.
            form = kwargs.pop("response_format")
            return model.bind(**kwargs, extra_body={"response_format": form})
        return bound
    return None


def is_refusal(exc: ModelError) -> bool:
    """Return whether a server refused the form of a request instead of failing on its content."""
    cause = exc.__cause__
    if cause is None or is_too_long(cause):
        return False
    return isinstance(cause, NotImplementedError) or status_of(cause) in (400, 404, 405, 415, 422, 500, 501)


def gave_something(read: BaseModel) -> bool:
    """Return whether a parsed reply holds more than empty texts, lists and objects."""
    return not _empty(read.model_dump())


def _empty(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_empty, value.values()))
    if isinstance(value, list | tuple | set):
        return all(map(_empty, value))
    return value is None or (isinstance(value, str) and not value.strip())


def read_reply(reply: ChatReply, schema: type[M]) -> M | None:
    """Parse a whole reply; `read_plain` of a schema parses another form that models write."""
    read = read_json(reply.text, schema, mend=not reply.cut)
    plain: Callable[[str], M | None] | None = getattr(schema, "read_plain", None)
    return plain(reply.text) if read is None and plain is not None else read


def read_json(text: str, schema: type[M], *, mend: bool = True) -> M | None:
    """Find the first JSON value in a reply that fits the schema: bare, fenced, or with prose around it.

    The prose may hold brackets. If a schema has a single field, a bare value is the value of that field.
    json-repair corrects commas, quotes and the like if `mend`; a reply that was cut off is never completed.
    """
    text = without_thoughts(text)
    if "&quot;" in text:
        text = unescape(text)
    if max(text.rfind("{"), text.rfind("[")) > max(text.rfind("}"), text.rfind("]")):
        return None
    at = -1
    mends = _MENDINGS if mend and len(text) <= _MENDED else 0
    for _ in range(_PLACES):
        at = _opening(text, at + 1)
        if at < 0:
            break
        with suppress(ValueError, RecursionError):
            value, end = json.JSONDecoder(strict=False).raw_decode(text, at)
            read = _first(value, schema)
            if read is not None:
                return read
            at = end - 1
            continue
        if mends and _LIKE_JSON.match(text, at):
            mends -= 1
            read = _mended(text[at:], schema)
            if read is not None:
                return read
    return _mended(text, schema) if mends and _opening(text, 0) >= 0 else None


def _mended(text: str, schema: type[M]) -> M | None:
    with suppress(ValueError, RecursionError):
        return _first(json_repair.loads(text, skip_json_loads=True), schema)
    return None


def _opening(text: str, start: int) -> int:
    """Return where the next JSON value may begin, or -1."""
    brace, bracket = text.find("{", start), text.find("[", start)
    if brace < 0 or bracket < 0:
        return max(brace, bracket)
    return min(brace, bracket)


def _first(value: Any, schema: type[M], depth: int = _DEEPEST) -> M | None:
    """Return the value if it fits, or the first inner object that does: some models wrap the value."""
    fit = _fit(value, schema)
    if fit is not None or not depth:
        return fit
    inner: Iterable[Any] = ()
    if isinstance(value, list):
        inner = value
    elif isinstance(value, dict):
        inner = value.values()
    for candidate in inner:
        fit = _first(candidate, schema, depth - 1) if isinstance(candidate, dict) else None
        if fit is not None:
            return fit
    return None


def _fit(value: Any, schema: type[M]) -> M | None:
    """Validate a decoded value with lone surrogates replaced; None if it does not fit."""
    if not isinstance(value, dict) and len(schema.model_fields) == 1:
        value = {next(iter(schema.model_fields)): value}
    if isinstance(value, dict):
        value = _with_names(value, schema)
    try:
        fit = schema.model_validate_json(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        json.dumps(fit.model_dump(), allow_nan=False, default=str)  # NaN is no JSON.
    except (ValidationError, ValueError, TypeError, RecursionError):
        return None
    return fit


def _with_names(value: dict[str, Any], schema: type[BaseModel]) -> dict[str, Any]:
    """Return an object with the names of the schema for names in another case."""
    named: dict[str, Any] = {}
    for key, inner in value.items():
        lower = key.strip().lower().replace(" ", "_")
        other_case = key not in schema.model_fields and lower in schema.model_fields and lower not in value
        named[lower if other_case else key] = inner
    return named
