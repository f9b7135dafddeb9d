"""Read the settings of the models from the environment (`RAGWEAVE_...`), `.env` and the user's own file."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import platformdirs
from pydantic import Field, SecretStr, field_validator

from ragweave.models.errors import InputError
from ragweave.models.rates import read_rates
from ragweave.models.settings_files import Settings, read_settings, user_file, user_file_stamp

__all__ = [
    "NO_KEY",
    "Endpoint",
    "ModelSettings",
    "Role",
    "Settings",
    "model_settings",
    "read_settings",
    "settings_with",
    "user_file",
    "using",
]

logger = logging.getLogger(__name__)

Role = Literal["writer", "reasoner", "judge", "check", "vision", "embed", "rerank", "asr"]

NO_KEY = SecretStr("")


class Endpoint(NamedTuple):
    """The model of a role: its name, the base URL of its server or "", and its key or an empty one."""

    model: str
    url: str
    key: SecretStr


class ModelSettings(Settings):
    """The models of all roles, their servers, and the limits of calls.

    A role has a model, a URL and a key. A role without a URL or a key uses the writer's (`endpoint`).
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
            " `gguf:OWNER/NAME@COMMIT/FILE` in this process (extra `local`). Empty: no language model."
            " Without a key a provider's own variable counts."
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
            "GPU there is. On a GPU encoders take bfloat16 where it can, whisper what it was saved in. By "
            "`auto` whisper takes the CPU if CTranslate2 finds no cuBLAS for the GPU."
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
        """Folder of downloaded models and of models that the user put there."""
        return self.home / "models"

    @field_validator("rates", mode="after")
    @classmethod
    def _prices(cls, value: str) -> str:
        read_rates(value)
        return value

    def rate_table(self) -> dict[str, tuple[float, float]]:
        """Return price per million input and output tokens, by model name."""
        return read_rates(self.rates)

    @property
    def chat_patience(self) -> float:
        """Seconds that a reply may take while nothing of it can be shown."""
        return 1.5 * self.chat_timeout

    @property
    def writers(self) -> tuple[str, ...]:
        """Names of the chat models that a run may choose, the usual one first; none without RAGWEAVE_CHAT."""
        if not self.chat:
            return ()
        names = [self.chat, *map(str.strip, self.chats.split(","))]
        return tuple(dict.fromkeys(filter(None, names)))

    def endpoint(self, role: Role | Literal["fallback"], chat: str = "") -> Endpoint:
        """Return the endpoint of a role; the writer, or the writer `chat`, fills in what it does not set.

        The check role uses the judge if it sets neither a model nor a URL. The writer's key is only sent to
        the writer's server: a model at another URL, or of another provider, needs its own key.
        """
        model, url, key = "", "", NO_KEY
        if role == "check" and not (self.check or self.check_url):
            role = "judge"
        if role != "writer":
            model = getattr(self, role)
            url = getattr(self, f"{role}_url")
            key = getattr(self, f"{role}_key")
        if not model and not url:
            model = chat
        model, url = model or self.chat, url or self.chat_url
        if not key.get_secret_value() and self._is_writers_server(model, url):
            key = self.chat_key
        return Endpoint(model, url, key)

    def _is_writers_server(self, model: str, url: str) -> bool:
        """Return whether a model is at the writer's server or of the writer's provider."""
        if url:
            return urlsplit(url).netloc == urlsplit(self.chat_url).netloc
        return model.partition(":")[0] == self.chat.partition(":")[0]

    def context_of(self, at: Endpoint) -> int:
        """Return the context size in the settings, which is that of the usual writer; 0 for other models."""
        return self.chat_context if (at.model, at.url) == (self.chat, self.chat_url) else 0


class _Current:
    """The settings of this process; a change of the user's own file takes effect without a restart."""

    def __init__(self) -> None:
        self._held: ModelSettings | None = None
        self._stamp: tuple[int, int] | None = None
        self._due = 0.0

    def __call__(self) -> ModelSettings:
        """Return the settings.

        Raises:
            InputError: if a variable holds a value that cannot be used and no earlier settings are known;
                names the variable.
        """
        tried = _tried.get()
        if tried is not None:
            return tried
        if self._held is not None and time.monotonic() < self._due:
            return self._held
        stamp = user_file_stamp()
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
        """Read the settings again at the next use."""
        self._held = None


_LOOK = 1.0
"""Seconds between two checks of the user's own file for changes."""
_tried: ContextVar[ModelSettings | None] = ContextVar("tried_settings", default=None)

model_settings = _Current()


def settings_with(values: Mapping[str, str]) -> ModelSettings:
    """Return the settings with other values for variables of models, servers and keys; "" unsets one."""
    changed: dict[str, Any] = {}
    for variable, value in values.items():
        name = variable.removeprefix("RAGWEAVE_").lower()
        field = ModelSettings.model_fields.get(name)
        if field is None:
            continue
        default: Any = field.get_default(call_default_factory=True)
        if isinstance(default, str | SecretStr):
            changed[name] = type(default)(value) if value else default
    return model_settings().model_copy(update=changed)


@contextmanager
def using(settings: ModelSettings) -> Iterator[None]:
    """Run the code inside with other settings, for a trial."""
    token = _tried.set(settings)
    try:
        yield
    finally:
        _tried.reset(token)
