"""Reading settings: a value that cannot be used is told by the name of its variable."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from ragweave.models.errors import InputError


class Settings(BaseSettings):
    """Base of the one settings class that each room has: `RAGWEAVE_...` variables, and a `.env` file below them."""

    model_config = SettingsConfigDict(
        env_prefix="RAGWEAVE_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )


S = TypeVar("S", bound=Settings)


def read_settings(kind: type[S]) -> S:
    """Read settings from the environment and `.env`.

    Raises:
        InputError: if a variable holds a value that cannot be used; names the variable.
    """
    try:
        return kind()
    except ValidationError as error:
        first = error.errors()[0]
        name = kind.model_config.get("env_prefix", "") + "_".join(str(part) for part in first["loc"]).upper()
        raise InputError(
            f"{name} cannot be used: {first['msg']}", "correct it in the environment or in .env"
        ) from error
