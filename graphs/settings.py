"""What a run falls back on where nobody says: the library, the mind, the web, the graph."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from pydantic import Field

from ragweave.models.settings import Settings, read_settings


class RunSettings(Settings):
    """What the commands and the server use where a request does not say."""

    library: str = Field("default", min_length=1, max_length=200, description="Library that is asked.")
    mind: Literal["auto", "small", "llm"] = Field(
        "auto", description="Mind that answers: the small models that ship, the chat model, or whichever there is."
    )
    web: Literal["off", "ask", "auto"] = Field("off", description="Web search: never, after consent, or when needed.")
    graph: str = Field("agent", description="Graph that answers: one of the names that `ragweave graph` lists.")


@lru_cache(maxsize=1)
def run_settings() -> RunSettings:
    """Return the settings of this process, read once; an InputError names a variable that cannot be used."""
    return read_settings(RunSettings)
