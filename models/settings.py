"""Settings of the models, read from the environment (`RAGWEAVE_...`), a `.env` file here, and the user's own."""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

import platformdirs
from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from ragweave.models.errors import InputError
from ragweave.models.refusals import why
from ragweave.models.secret_files import in_files

logger = logging.getLogger(__name__)

Role = Literal["writer", "reasoner", "judge", "check", "vision", "embed", "rerank", "asr"]

NO_KEY = SecretStr("")


class Settings(BaseSettings):
    """Base of the one settings class that each room has: `RAGWEAVE_...` variables, and a `.env` file below them."""

    model_config = SettingsConfigDict(
        env_prefix="RAGWEAVE_", env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )


S = TypeVar("S", bound=Settings)


def user_file() -> Path:
    """Return the file of the user's own settings, which `ragweave setup` writes."""
    return platformdirs.user_config_path("ragweave", appauthor=False) / "settings.env"


def read_settings(kind: type[S]) -> S:
    """Read settings from the environment, from `.env` in the working folder, and from the user's own file.

    The nearer place counts. One that names a model names its server and key as well: they are not taken from
    another place, so that no key reaches a server that it was not written beside. A variable with `_FILE`
    behind its name holds the path of a file with the value, as containers and systemd hand over secrets.

    Raises:
        InputError: if a variable holds a value that cannot be used; names the variable.
    """
    prefix, here = str(kind.model_config.get("env_prefix", "")), str(kind.model_config.get("env_file"))
    places: list[Mapping[str, str | None]] = [os.environ, dotenv_values(here), dotenv_values(user_file())]
    values = [
        {name.lower().removeprefix(prefix.lower()): v for name, v in place.items() if v} for place in places
    ]
    apart: dict[str, Any] = in_files(prefix, kind.model_fields)
    values[0].update(apart)
    for name in kind.model_fields:
        owner = name.removesuffix("_url").removesuffix("_key").removesuffix("_context")
        if owner != name and owner in kind.model_fields:
            naming = next((n for n, place in enumerate(values) if owner in place), len(values))
            if next((n for n, place in enumerate(values) if name in place), 0) > naming:
                apart[name] = kind.model_fields[name].get_default(call_default_factory=True)
    try:
        return kind(_env_file=(user_file(), here), **apart)
    except ValidationError as error:
        first = error.errors()[0]
        name = prefix + "_".join(str(part) for part in first["loc"]).upper()
        remedy = f"correct it in the environment, in .env or in {user_file()}"
        raise InputError(f"{name} cannot be used: it {why(first)}", remedy) from error


class Endpoint(NamedTuple):
    """Where the model of a role is: what it is called, the base URL of its server or "", its key or an empty one."""

    model: str
    url: str
    key: SecretStr


class ModelSettings(Settings):
    """Which models think and perceive, where they are, and how they are called.

    A role has a model, a URL and a key; the URL and the key that it lacks are the writer's (`endpoint`).
    """

    home: Path = Field(
        default_factory=lambda: platformdirs.user_data_path("ragweave", appauthor=False),
        description="Folder that holds libraries, threads, caches and weights.",
    )
    offline: bool = Field(
        False,
        description=(
            "Never leave this machine: no downloads, no remote models, of the web the saved pages only."
        ),
    )
    chat: str = Field(
        "",
        description=(
            "Writer: `openai:gpt-4o-mini` or any init_chat_model string; with the URL of an OpenAI-compatible"
            " server, usually ending in /v1, the name the server knows; `gguf:FILE` or"
            " `gguf:OWNER/NAME@COMMIT/FILE` in this process (extra `local`). Empty: no language model. Without"
            " a key a provider's own variable counts."
        ),
    )
    chat_url: str = ""
    chat_key: SecretStr = NO_KEY
    chat_context: int = Field(
        0,
        ge=0,
        description=(
            "Tokens of prompt and reply that the writer reads at once; longer prompts lose their least"
            " relevant passages. `ragweave setup` asks the server. 0: not known, and asked for when a prompt"
            " is long."
        ),
    )
    chats: str = Field(
        "",
        description=(
            "Further writers that a question may choose (`model`), separated by commas: at the same server, "
            "or of providers with their own variables for keys."
        ),
    )
    fallback: str = Field(
        "",
        description=(
            "Chat model that takes the rest of a question where another one is down or silent; empty, and "
            "without a URL: passages are quoted."
        ),
    )
    fallback_url: str = ""
    fallback_key: SecretStr = NO_KEY
    reasoner: str = Field("", description="Chat model that decides what to look for next; empty: the writer.")
    reasoner_url: str = ""
    reasoner_key: SecretStr = NO_KEY
    judge: str = Field("", description="Chat model that grades; empty: the writer.")
    judge_url: str = ""
    judge_key: SecretStr = NO_KEY
    check: str = Field(
        "",
        description=(
            "Chat model that marks the sentences of answers; it has to pass an exam. Empty: the judge."
        ),
    )
    check_url: str = ""
    check_key: SecretStr = NO_KEY
    vision: str = Field(
        "",
        description=(
            "Chat model that looks at pictures; set by name, it also describes them at indexing; empty: the "
            "writer looks."
        ),
    )
    vision_url: str = ""
    vision_key: SecretStr = NO_KEY
    embed: str = Field(
        "wordllama",
        description=(
            "Text encoder: `wordllama` (ships), `fastembed:NAME[@COMMIT]`, `hf:` and a hub name or a folder, "
            "or any init_embeddings string; with a URL the name the server knows."
        ),
    )
    embed_url: str = ""
    embed_key: SecretStr = NO_KEY
    rerank: str = Field(
        "relevance",
        description=(
            "What orders the pool: `relevance` (ships), `fastembed:NAME[@COMMIT]`, `hf:NAME`, or `api:MODEL` "
            "at a rerank endpoint as Cohere's and Jina's."
        ),
    )
    rerank_url: str = ""
    rerank_key: SecretStr = NO_KEY
    asr: str = Field(
        "auto",
        description=(
            "What writes down speech: `auto` (the Whisper that `ragweave setup speech` has fetched, extra"
            " `video`), `off`, `whisper:NAME`, `whisper:ENGLISH+OTHERS`, or `api:MODEL` at an OpenAI-style"
            " server."
        ),
    )
    asr_url: str = ""
    asr_key: SecretStr = NO_KEY
    ocr: Literal["rapidocr", "off"] = Field(
        "rapidocr", description="What reads the words in pictures, or off."
    )
    image_text: str = Field(
        "",
        description=(
            "Image-text or video-text encoder: `fastembed:NAME[@COMMIT+COMMIT]`, or `hf:` and a hub name or a"
            " folder; empty: none."
        ),
    )
    router: str = Field(
        "", description="Router for route_by=checkpoint: a folder, or OWNER/NAME@COMMIT of the hub."
    )
    evaluator: str = Field(
        "", description="Evaluator for grade_by=checkpoint: a folder, or OWNER/NAME@COMMIT of the hub."
    )
    device: str = Field(
        "auto",
        description=(
            "Where encoders, checkpoints and whisper compute: `cpu`, `cuda`, `cuda:1`, or `auto`, the first "
            "GPU there is. On a GPU encoders take bfloat16 where it can, whisper what it was saved in."
        ),
    )
    chat_timeout: float = Field(
        30.0, gt=0, description="Seconds to wait for the first word of a reply, and for each part after it."
    )
    chat_width: int = Field(32, ge=1, le=1000, description="Chat calls in flight at the same time.")
    chat_tokens: int = Field(
        0,
        ge=0,
        description=(
            "Most tokens of one reply, thinking included; 0: 4,096, or 2,048 where it judges or looks."
        ),
    )
    chat_temperature: float | None = Field(
        None, ge=0, le=2, description="Sampling temperature; empty: the server's own."
    )
    prompts: Path | None = Field(
        None, description="Folder of prompts of your own, laid over those that ship."
    )
    chat_cache: bool = Field(True, description="Keep replies on disk and reuse them for the same messages.")
    rates: str = Field("", description='Prices per million tokens as JSON: {"gpt-4o-mini": [0.15, 0.60]}.')

    @field_validator("*", mode="after")
    @classmethod
    def _trim(cls, value: object) -> object:
        return value.strip() if isinstance(value, str) else value

    @field_validator(
        *("chat_url", "fallback_url", "reasoner_url", "judge_url", "check_url", "vision_url", "embed_url"),
        *("rerank_url", "asr_url"),
        mode="after",
    )
    @classmethod
    def _url(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        return value.rstrip("/")

    @field_validator("device", mode="after")
    @classmethod
    def _device(cls, value: str) -> str:
        if not re.fullmatch(r"auto|cpu|cuda(:\d{1,3})?", value):
            raise ValueError("must be auto, cpu, cuda or cuda:N, such as cuda:1")
        return value

    @field_validator("home", mode="after")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @property
    def weights(self) -> Path:
        """Folder of the models that were put or downloaded there."""
        return self.home / "models"

    @field_validator("rates", mode="after")
    @classmethod
    def _prices(cls, value: str) -> str:
        _table(value)
        return value

    def rate_table(self) -> dict[str, tuple[float, float]]:
        """Return price per million input and output tokens, by model name."""
        return _table(self.rates)

    @property
    def chat_patience(self) -> float:
        """Seconds that a reply may take of which nothing can be shown."""
        return 1.5 * self.chat_timeout

    @property
    def writers(self) -> tuple[str, ...]:
        """Names of the chat models that a run may choose, the usual one first; none without RAGWEAVE_CHAT."""
        named = (self.chat, *(name.strip() for name in self.chats.split(",")))
        return tuple(dict.fromkeys(filter(None, named))) if self.chat else ()

    def endpoint(self, role: Role | Literal["fallback"], chat: str = "") -> Endpoint:
        """Return where the model of a role is; what the role does not set is the writer's, or that of `chat`.

        A check that names neither a model nor a URL is the judge's.
        The writer's key goes to the writer's server alone: a model at another URL, or of another provider,
        gets only a key of its own.
        """
        model, url, key = "", "", NO_KEY
        if role == "check" and not (self.check or self.check_url):
            role = "judge"
        if role != "writer":
            model, url, key = (getattr(self, f"{role}{part}") for part in ("", "_url", "_key"))
        model, url = model or (not url and chat) or self.chat, url or self.chat_url
        provider = [name.partition(":")[0] for name in (model, self.chat)]
        shared = urlsplit(url).netloc == urlsplit(self.chat_url).netloc if url else provider[0] == provider[1]
        return Endpoint(model, url, key if key.get_secret_value() or not shared else self.chat_key)

    def context_of(self, at: Endpoint) -> int:
        """Return how many tokens a model reads at once; 0 where that is not set, as for any but the usual writer."""
        return self.chat_context if (at.model, at.url) == (self.chat, self.chat_url) else 0


def _table(rates: str) -> dict[str, tuple[float, float]]:
    try:
        table = {str(name): (float(a), float(b)) for name, (a, b) in json.loads(rates or "{}").items()}
    except (ValueError, TypeError, AttributeError) as exc:
        raise ValueError('must be JSON such as {"gpt-4o-mini": [0.15, 0.60]}') from exc
    if any(price < 0 for pair in table.values() for price in pair):
        raise ValueError("prices must not be negative")
    return table


class _Current:
    """The settings of this process, read again once the user's own file has changed: nobody has to start it again."""

    def __init__(self) -> None:
        self._held: ModelSettings | None = None
        self._stamp: tuple[int, int] | None = None
        self._due = 0.0

    def __call__(self) -> ModelSettings:
        """Return the settings.

        Raises:
            InputError: if a variable holds a value that cannot be used, and none was read before; names the
                variable.
        """
        if (tried := _tried.get()) is not None:
            return tried
        if self._held is not None and time.monotonic() < self._due:
            return self._held
        stamp = _stamp()
        if self._held is None or stamp != self._stamp:
            try:
                self._held = read_settings(ModelSettings)
            except InputError as error:
                if self._held is None:
                    raise
                logger.warning("the settings stay as they were: %s", error)
        self._stamp, self._due = stamp, time.monotonic() + _LOOK
        return self._held

    def cache_clear(self) -> None:
        """Read them at the next use."""
        self._held = None


_LOOK = 1.0
"""Seconds between two looks whether the user's own file has changed."""
_tried: ContextVar[ModelSettings | None] = ContextVar("tried_settings", default=None)

model_settings = _Current()


def _stamp() -> tuple[int, int] | None:
    try:
        found = user_file().stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def settings_with(values: Mapping[str, str]) -> ModelSettings:
    """Return the settings as they would be with other variables of models, servers and keys; "" unsets one."""
    changed: dict[str, Any] = {}
    for name, value in values.items():
        known = ModelSettings.model_fields.get(field := name.removeprefix("RAGWEAVE_").lower())
        default: Any = known.get_default(call_default_factory=True) if known is not None else None
        if isinstance(default, str | SecretStr):
            changed[field] = type(default)(value) if value else default
    return model_settings().model_copy(update=changed)


@contextmanager
def using(settings: ModelSettings) -> Iterator[None]:
    """Have the code inside work with other settings, for a trial."""
    token = _tried.set(settings)
    try:
        yield
    finally:
        _tried.reset(token)
