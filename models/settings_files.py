"""Read a settings class from the environment (`RAGWEAVE_...`), a `.env` file and the user's own file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import platformdirs
from dotenv import dotenv_values
from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from ragweave.models.errors import InputError
from ragweave.models.refusals import why
from ragweave.models.secret_files import in_files


class Settings(BaseSettings):
    """Base of the settings classes: `RAGWEAVE_...` variables, then a `.env` file."""

    model_config = SettingsConfigDict(
        env_prefix="RAGWEAVE_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )


S = TypeVar("S", bound=Settings)


def user_file() -> Path:
    """Return the file of the user's own settings, which `ragweave setup` writes."""
    return platformdirs.user_config_path("ragweave", appauthor=False) / "settings.env"


def read_settings(kind: type[S]) -> S:
    """Read settings from the environment, from `.env` in the working folder, and from the user's own file.

    The environment comes first, the user's file last. The place that names a model also names its server and
    key. They are not taken from another place, so that no key is sent to a server that it was not written
    for. A variable with the suffix `_FILE` holds the path of a file with the value, as containers and systemd
    pass secrets.

    Raises:
        InputError: if a variable holds a value that cannot be used; names the variable.
    """
    prefix, here = str(kind.model_config.get("env_prefix", "")), str(kind.model_config.get("env_file"))
    places: list[Mapping[str, str | None]] = [os.environ, dotenv_values(here), dotenv_values(user_file())]
    set_in = [_names_set(place, prefix) for place in places]
    overrides: dict[str, Any] = in_files(prefix, kind.model_fields)
    set_in[0].update(overrides)
    for name, field in kind.model_fields.items():
        owner = name.removesuffix("_url").removesuffix("_key").removesuffix("_context")
        if owner == name or owner not in kind.model_fields:
            continue
        if _first_with(owner, set_in) < _first_with(name, set_in) < len(set_in):
            overrides[name] = field.get_default(call_default_factory=True)
    try:
        return kind(_env_file=(user_file(), here), **overrides)
    except ValidationError as error:
        first = error.errors()[0]
        name = prefix + "_".join(str(part) for part in first["loc"]).upper()
        remedy = f"correct it in the environment, in .env or in {user_file()}"
        raise InputError(f"{name} cannot be used: it {why(first)}", remedy) from error


def _names_set(place: Mapping[str, str | None], prefix: str) -> set[str]:
    """Return the names of the fields that a place sets."""
    names: set[str] = set()
    for variable, value in place.items():
        if value:
            names.add(variable.lower().removeprefix(prefix.lower()))
    return names


def _first_with(name: str, set_in: list[set[str]]) -> int:
    """Return the index of the first place that sets a field; the number of places if none does."""
    for index, names in enumerate(set_in):
        if name in names:
            return index
    return len(set_in)


def user_file_stamp() -> tuple[int, int] | None:
    """Return time and size of the user's own file, or None if it does not exist."""
    try:
        found = user_file().stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
