"""Settings of the models, read from the environment (`RAGWEAVE_...`) and from a `.env` file."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from ragweave.models.read_settings import read_settings

JsonMethod = Literal["auto", "json_schema", "function_calling", "json_mode", "prompt"]


class ModelSettings(BaseSettings):
    """Which models think and perceive, where they are, and how they are called."""

    model_config = SettingsConfigDict(
        env_prefix="RAGWEAVE_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    home: Path = Field(
        default_factory=lambda: platformdirs.user_data_path("ragweave", appauthor=False),
        description="Folder that holds libraries, threads, caches and weights.",
    )
    chat: str = Field(
        "",
        description="Chat model: `openai:gpt-4o-mini` or any init_chat_model string; with CHAT_URL the name the server "
        "knows. Empty: no language model, whatever keys lie in the environment.",
    )
    chat_url: str = Field("", description="Base URL of an OpenAI-compatible server, usually ending in /v1.")
    chat_key: SecretStr = Field(SecretStr(""), description="Key for CHAT; empty uses the provider's own variable.")
    judge: str = Field("", description="Chat model that grades and checks; empty: the same as CHAT.")
    vision: str = Field(
        "",
        description="Chat model that looks at pictures, and describes them at indexing; empty: "
        "the same as CHAT, and nothing is described.",
    )
    chat_timeout: float = Field(
        60.0, gt=0, description="Seconds to wait for a reply, or for the next part of a stream."
    )
    chat_width: int = Field(8, ge=1, le=1000, description="Chat calls in flight at the same time.")
    chat_temperature: float | None = Field(
        None, ge=0, le=2, description="Sampling temperature; empty: the server's own."
    )
    chat_json: JsonMethod = Field("auto", description="How structured replies are asked for; auto finds out.")
    chat_cache: bool = Field(True, description="Keep replies on disk and reuse them for the same messages.")
    rates: str = Field("", description='Prices per million tokens as JSON: {"gpt-4o-mini": [0.15, 0.60]}.')
    embed: str = Field(
        "wordllama", description="Text encoder: `wordllama`, `fastembed:NAME`, or any init_embeddings string."
    )
    embed_url: str = Field("", description="Base URL of an OpenAI-compatible embeddings server.")
    embed_key: SecretStr = Field(SecretStr(""), description="Key for EMBED; empty uses the provider's own variable.")
    rerank: str = Field(
        "relevance",
        description="What orders the pool: `relevance` (ships), `fastembed:NAME`, `hf:NAME`, or `api:MODEL`.",
    )
    rerank_url: str = Field("", description="Address of a rerank endpoint of the Cohere and Jina kind.")
    rerank_key: SecretStr = Field(SecretStr(""), description="Key for RERANK.")
    see: str = Field(
        "",
        description="Image-text encoder: `fastembed:NAME`, or `hf:` and a name of the hub or a folder; empty: none.",
    )
    ocr: Literal["rapidocr", "off"] = Field("rapidocr", description="What reads the words in pictures, or off.")
    hear: str = Field(
        "auto",
        description="What writes down speech: `auto` (pocketsphinx of the extra `video`), `off`, `pocketsphinx`, "
        "`whisper:NAME`, `moonshine:NAME` or `api:MODEL`.",
    )
    hear_url: str = Field("", description="Base URL of an OpenAI-style transcription server, usually ending in /v1.")
    hear_key: SecretStr = Field(SecretStr(""), description="Key for HEAR.")
    hear_language: str = Field("", description="Language that is spoken, ISO 639-1; empty: told from the sound.")
    router: str = Field(
        "", description="Trained router for route_by=checkpoint: a folder, or OWNER/NAME[@REVISION] of the hub."
    )
    evaluator: str = Field(
        "", description="Trained evaluator for grade_by=checkpoint: a folder, or OWNER/NAME[@REVISION] of the hub."
    )
    models_dir: Path | None = Field(
        None, description="Folder with weights, NAME/files, looked into before HOME/models."
    )
    offline: bool = Field(False, description="Never leave this machine: no downloads, no remote models.")

    @field_validator(
        "chat", "chat_url", "judge", "vision", "embed", "embed_url", "rerank", "rerank_url", "see", "hear",
        "hear_url", "hear_language", "router",
        "evaluator",
        mode="after",
    )  # fmt: skip
    @classmethod
    def _trim(cls, value: str) -> str:
        return value.strip()

    @field_validator("chat_url", "embed_url", "rerank_url", "hear_url", mode="after")
    @classmethod
    def _url(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        return value.rstrip("/")

    @field_validator("home", "models_dir", mode="after")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return value and value.expanduser().absolute()

    @field_validator("rates", mode="after")
    @classmethod
    def _readable_rates(cls, value: str) -> str:
        _parse_rates(value)
        return value

    def rate_table(self) -> dict[str, tuple[float, float]]:
        """Return price per million input and output tokens, by model name."""
        return _parse_rates(self.rates)


def _parse_rates(text: str) -> dict[str, tuple[float, float]]:
    if not text.strip():
        return {}
    try:
        table = {str(model): (float(pair[0]), float(pair[1])) for model, pair in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError, IndexError, KeyError) as exc:
        raise ValueError('must be JSON such as {"gpt-4o-mini": [0.15, 0.60]}') from exc
    if any(price < 0 for pair in table.values() for price in pair):
        raise ValueError("prices must not be negative")
    return table


@lru_cache(maxsize=1)
def model_settings() -> ModelSettings:
    """Return the settings of this process.

    Raises:
        InputError: if a variable holds a value that cannot be used; names the variable.
    """
    return read_settings(ModelSettings)
