"""Settings of the shell. Each room owns its own; these are what the commands fall back on."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from ragweave.models.read_settings import read_settings


class AppSettings(BaseSettings):
    """What the command line uses where an option is not given."""

    model_config = SettingsConfigDict(env_prefix="RAGWEAVE_", env_file=".env", extra="ignore")

    library: str = Field("default", min_length=1, max_length=200, description="Library that the commands use.")
    mind: Literal["auto", "small", "llm"] = Field(
        "auto", description="Mind that answers: the small models that ship, the chat model, or whichever there is."
    )
    web: Literal["off", "ask", "auto"] = Field("off", description="Web search: never, after consent, or when needed.")
    graph: str = Field("agent", description="Graph that answers: one of the names that `ragweave graph` lists.")


@lru_cache(maxsize=1)
def app_settings() -> AppSettings:
    """Return the settings of this process, read once.

    Raises:
        InputError: if a variable holds a value that cannot be used; names the variable.
    """
    return read_settings(AppSettings)
