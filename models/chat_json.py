"""Structured replies: under a schema where the server enforces one, with the schema in the prompt elsewhere.

`with_structured_output` binds the schema. What comes back is read here and mended by json-repair, because the
parser behind it raises on prose and takes a minute over 40,000 brackets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
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
"""Characters of a reply that is mended: json-repair takes seconds over more of deeply nested garbage."""
_MENDINGS = 3
"""Places of a reply from which it is mended."""
_PLACES = 100
"""Brackets of a reply from which it is read: prose before a value may hold some."""
_LIKE_JSON = re.compile(r"\{\s*[\"'“\w]|\[\s*[\"'“{\[]")


@cache
def shape_of(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a reply, made once: pydantic takes a millisecond for it."""
    return schema.model_json_schema()


def instruction(schema: type[BaseModel]) -> str:
    """Return the request for JSON that is added to a prompt where the server cannot enforce a schema."""
    shape = json.dumps(shape_of(schema), ensure_ascii=False, separators=(",", ":"))
    return f"Reply with one JSON object and nothing else. It must fit this JSON schema:\n{shape}"


def under(schema: type[BaseModel], model: BaseChatModel) -> Any:
    """Return the model bound to a schema, or None where its client has no method for that."""
    # The schema goes in as a dict: given the class, some clients raise on an unreadable reply and lose its
    # text.
    shape = {"description": schema.__name__, **shape_of(schema)}
    with suppress(NotImplementedError, ValueError, TypeError, AttributeError):
        bound: Any = model.with_structured_output(shape, method="json_schema").first  # type: ignore[attr-defined]
        kwargs = dict(bound.kwargs)
        if "root_async_client" in type(model).model_fields and (form := kwargs.pop("response_format", None)):
            # OpenAI's client reads a stream under a schema that it knows of only where each reply names its
            # role.
            return model.bind(**kwargs, extra_body={"response_format": form})
        return bound
    return None


def is_refusal(exc: ModelError) -> bool:
    """Say whether a server refused the form of the request, rather than failing on its content."""
    cause = exc.__cause__
    if cause is None or is_too_long(cause):
        return False
    return isinstance(cause, NotImplementedError) or status_of(cause) in (400, 404, 405, 415, 422, 500, 501)


def gave_something(read: BaseModel) -> bool:
    """Say whether a reply that was read holds more than empty texts, lists and objects."""
    return not _empty(read.model_dump())


def _empty(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_empty, value.values()))
    if isinstance(value, list | tuple | set):
        return all(map(_empty, value))
    return value is None or (isinstance(value, str) and not value.strip())


def read_reply(reply: ChatReply, schema: type[M]) -> M | None:
    """Read a whole reply; a schema may know another form in which models write what it asks for (`read_plain`)."""
    read = read_json(reply.text, schema, mend=not reply.cut)
    plain: Callable[[str], M | None] | None = getattr(schema, "read_plain", None)
    return plain(reply.text) if read is None and plain is not None else read


def read_json(text: str, schema: type[M], *, mend: bool = True) -> M | None:
    """Find the first JSON value in a reply that fits the schema: bare, fenced, or with prose around it.

    The prose may hold brackets of its own. Of a schema with a single field a bare value stands for that
    field. json-repair forgives commas, quotes and the like, but a reply that was cut off is never completed
    (`mend`).
    """
    text = without_thoughts(text)
    if max(text.rfind("{"), text.rfind("[")) > max(text.rfind("}"), text.rfind("]")):
        return None
    at = -1
    mends = _MENDINGS if mend and len(text) <= _MENDED else 0
    for _ in range(_PLACES):
        if (at := _opening(text, at + 1)) < 0:
            break
        with suppress(ValueError, RecursionError):
            value, end = json.JSONDecoder(strict=False).raw_decode(text, at)
            if (read := _first(value, schema)) is not None:
                return read
            at = end - 1
            continue
        if mends and _LIKE_JSON.match(text, at):
            mends -= 1
            if (read := _mended(text[at:], schema)) is not None:
                return read
    return _mended(text, schema) if mends and _opening(text, 0) >= 0 else None


def _mended(text: str, schema: type[M]) -> M | None:
    with suppress(ValueError, RecursionError):
        return _first(json_repair.loads(text, skip_json_loads=True), schema)
    return None


def _opening(text: str, start: int) -> int:
    """Return where the next value of JSON may begin, or -1."""
    return min((at for at in (text.find("{", start), text.find("[", start)) if at >= 0), default=-1)


def _first(value: Any, schema: type[M]) -> M | None:
    """Return the value where it fits, or the first object inside that does: some models wrap what was asked for."""
    inner = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
    candidates = [value, *(v for v in inner if isinstance(v, dict))]
    return next((fit for c in candidates if (fit := _fit(c, schema)) is not None), None)


def _fit(value: Any, schema: type[M]) -> M | None:
    """Validate a decoded value, lone surrogates replaced, which nothing can store or print; or return None."""
    if not isinstance(value, dict) and len(schema.model_fields) == 1:
        value = {next(iter(schema.model_fields)): value}
    try:
        fit = schema.model_validate_json(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        json.dumps(fit.model_dump(), allow_nan=False, default=str)  # NaN is no JSON, however it was written
    except (ValidationError, ValueError, TypeError, RecursionError):
        return None
    return fit
