"""Settings of the server."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from ragweave.models.settings import Settings, read_settings


class ServeSettings(Settings):
    """Address and limits of the server, read from `RAGWEAVE_SERVE_*` variables and `.env`."""

    model_config = SettingsConfigDict(env_prefix="RAGWEAVE_SERVE_")

    host: str = Field(
        "127.0.0.1", min_length=1, description="Address to listen on; any but loopback needs API keys."
    )
    port: int = Field(8765, ge=0, le=65_535, description="Port to listen on; 0 takes a free one.")
    names: str = Field(
        "",
        description=(
            "Further host names by which the server may be called, separated by commas; needs API keys."
        ),
    )
    url: str = Field(
        "", description="Address under which readers open links; default: the one that was asked."
    )
    proxies: str = Field(
        "",
        description=(
            "Addresses of proxies before the server, separated by commas; what they forward is believed."
        ),
    )
    body_mb: ClassVar[int] = 8
    """Largest request that is not an upload, in MiB."""
    upload_mb: int = Field(2048, ge=1, description="Largest upload, all its files together, in MiB.")
    per_minute: int = Field(
        600, ge=1, description="Requests with an effect that one caller may make in a minute."
    )
    running: ClassVar[int] = 64
    """Answers that may be in progress at once."""
    run_seconds: ClassVar[float] = 900.0
    """Longest time of one answer, without the time in which it waits for consent."""
    workers: int = Field(1, ge=1, le=64, description="Processes that answer on the port of one server.")
    shutdown_seconds: int = Field(
        8, ge=0, description="Seconds that answers have to end when the server stops."
    )


@lru_cache(maxsize=1)
def serve_settings() -> ServeSettings:
    """Return the settings of this process, read once."""
    return read_settings(ServeSettings)
