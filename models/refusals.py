"""Explain in plain words why a validator refused a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORDS = {
    "int": "must be a whole number",
    "float": "must be a number",
    "bool": "must be true or false",
    "string": "must be text",
    "greater_than_equal": "must be {ge} or more",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be {le} or less",
    "less_than": "must be less than {lt}",
    "string_too_short": "must not be empty",
    "string_too_long": "must have {max_length} characters at most",
    "literal_error": "must be {expected}",
    "path_type": "must be a path",
}


def why(error: Mapping[str, Any]) -> str:
    """Return the reason of a refusal as the end of a sentence that begins with the name of the value.

    `error` is a row of `pydantic.ValidationError.errors()`.
    """
    kind, known = str(error["type"]), error.get("ctx") or {}
    if kind == "value_error":
        return str(error["msg"]).removeprefix("Value error, ")
    words = _WORDS.get(kind) or _WORDS.get(kind.partition("_")[0])
    return words.format(**known) if words else "cannot be read"
