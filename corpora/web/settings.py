"""Settings of web search: which provider, and how long and how much may be read."""

from __future__ import annotations

from pathlib import Path

import platformdirs
from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import SettingsConfigDict

from ragweave.models.read_settings import Settings, read_settings


class WebSettings(Settings):
    """Read from `RAGWEAVE_WEB_*` in the environment or `.env`. No setting opens private addresses to the fetcher."""

    model_config = SettingsConfigDict(
        env_prefix="RAGWEAVE_WEB_",
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        populate_by_name=True,
        frozen=True,
    )

    provider: str = ""
    """folder, searx, tavily, duckduckgo or wikipedia; "" takes the first that Ragweave's own settings configure;
    "auto" also lets a `TAVILY_API_KEY` count that lies in the environment."""
    folder: Path | None = None
    """Folder of .html, .md and .txt files that stands in for the web."""
    searx_url: str = ""
    """Base address of a SearxNG server; may be on this machine."""
    tavily_key: SecretStr = Field(
        SecretStr(""), validation_alias=AliasChoices("RAGWEAVE_TAVILY_KEY", "RAGWEAVE_WEB_TAVILY_KEY")
    )
    """Key of Tavily, given to Ragweave on purpose."""
    found_tavily_key: SecretStr = Field(SecretStr(""), validation_alias="TAVILY_API_KEY")
    """Key that lies in the environment; counts only with provider "tavily" or "auto"."""
    tavily_url: str = ""
    """Base address of a Tavily-compatible server; "" is Tavily's own."""
    search_timeout: float = Field(15.0, gt=0, le=120)
    """Seconds for one answer of the provider."""
    page_timeout: float = Field(15.0, gt=0, le=120)
    """Seconds for one page, from the name look-up to the last byte and the cleaning, redirects included."""
    page_bytes: int = Field(5_000_000, ge=1_000, le=50_000_000)
    """Largest page, counted after decompression."""
    page_chars: int = Field(20_000, ge=200, le=200_000)
    """Longest text kept of a page."""
    width: int = Field(5, ge=1, le=20)
    """Pages fetched at the same time."""
    cache_hours: float = Field(72.0, ge=0)
    """Hours that searches and pages are kept; 0 keeps nothing."""
    cache_bytes: int = Field(100_000_000, ge=0)
    """Largest cache, counted over its entries; the oldest go first."""
    offline: bool = Field(False, validation_alias="RAGWEAVE_OFFLINE")
    """Reach for nothing outside this machine: only the folder provider is left."""
    home: Path = Field(
        default_factory=lambda: platformdirs.user_data_path("ragweave", appauthor=False),
        validation_alias="RAGWEAVE_HOME",
    )
    """Ragweave's home; the cache lies in its `cache` folder."""


def web_settings() -> WebSettings:
    """Read the settings afresh, so that a changed environment counts at the next search.

    Raises:
        InputError: a variable holds a value that cannot be used; names the variable.
    """
    return read_settings(WebSettings)
