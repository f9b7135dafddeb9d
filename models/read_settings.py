"""Reading settings: a value that cannot be used is told by the name of its variable."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings

from ragweave.models.errors import InputError

S = TypeVar("S", bound=BaseSettings)


def read_settings(kind: type[S]) -> S:
    """Read settings from the environment and `.env`.

    Raises:
        InputError: if a variable holds a value that cannot be used; names the variable.
    """
    try:
        return kind()
    except ValidationError as error:
        first = error.errors()[0]
        prefix = kind.model_config.get("env_prefix", "")
        name = "_".join(str(part) for part in first["loc"]).upper()
        name = name if name.startswith("RAGWEAVE_") or name == "TAVILY_API_KEY" else f"{prefix}{name}"
        raise InputError(
            f"{name} cannot be used: {first['msg']}", "correct it in the environment or in .env"
        ) from error
