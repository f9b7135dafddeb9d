"""Text encoders: one embedded, others by a setting."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pydantic import SecretStr

from ragweave.models.chat_client import address, stay_here
from ragweave.models.encoders import SMALL, Encoder, PrefixedEncoder, Remembering
from ragweave.models.errors import ModelError
from ragweave.models.failures import explain, loading
from ragweave.models.fastembed_files import opened
from ragweave.models.settings import ModelSettings, model_settings
from ragweave.models.text import clip

__all__ = ["Encoder", "Remembering", "encoder"]


def encoder(name: str | None = None) -> Encoder:
    """Return the text encoder of that name, loaded once per process.

    The name is `wordllama`, `fastembed:NAME[@COMMIT]`, `hf:FOLDER`, `hf:OWNER/NAME@COMMIT`, or an
    init_embeddings string; the setting's when not given.

    Raises:
        MissingExtra: if `fastembed` or `hf` is asked for and not installed.
        ModelError: if the encoder cannot be loaded or reached.
    """
    settings = model_settings()
    chosen = name or settings.embed
    with _loading:
        return _built_in() if chosen == "wordllama" else _load(chosen, settings)


_loading = threading.Lock()


@lru_cache(maxsize=1)
def _built_in() -> Encoder:
    from ragweave.models.static_embed import WordLlamaEncoder

    return WordLlamaEncoder()  # no setting changes it, and a process needs no second copy


@lru_cache(maxsize=4)
def _load(name: str, settings: ModelSettings) -> Encoder:
    kind, _, model = name.partition(":")
    if maker := _MAKERS.get(kind):
        return PrefixedEncoder(name, model, *maker(model, settings))
    return PrefixedEncoder(name, model or name, _served(name, settings))


Made = tuple[Callable[[list[str]], Any], int]
"""What makes vectors of texts, and how many it takes at a time."""


def _fastembed(model: str, settings: ModelSettings) -> Made:
    with loading(f"the encoder fastembed:{model}", "fastembed"):
        from fastembed import TextEmbedding

        made = opened(TextEmbedding, model, settings)
    return lambda batch: list(made.embed(batch, batch_size=SMALL)), SMALL


def _transformers(model: str, settings: ModelSettings) -> Made:
    from ragweave.models import embed_transformers

    return embed_transformers.opened(model)


_MAKERS: dict[str, Callable[[str, ModelSettings], Made]]
_MAKERS = {"fastembed": _fastembed, "hf": _transformers}
"""By what stands before the colon; any other name is that of a model of a server."""


def _served(name: str, settings: ModelSettings) -> Callable[[list[str]], Any]:
    """Return the embedding of a server: an init_embeddings string, or a model of an OpenAI-compatible server."""
    at = settings.endpoint("embed")
    host = address(at.url) if at.url else name.partition(":")[0]
    stay_here(f"the encoder {name}", host)
    key = at.key.get_secret_value()
    try:
        if at.url:
            from langchain_openai import OpenAIEmbeddings

            # Plain strings instead of token numbers, which only OpenAI itself understands.
            options: dict[str, Any] = {"check_embedding_ctx_length": False, "timeout": settings.chat_timeout}
            options |= {"base_url": at.url, "api_key": SecretStr(key or "none")}
            client: Any = OpenAIEmbeddings(model=name.removeprefix("openai:"), **options)
        else:
            from langchain.embeddings import init_embeddings

            client = init_embeddings(name, **({"api_key": key} if key else {}))
    except Exception as exc:
        if isinstance(exc, ValueError) and not at.url:  # nothing was asked yet: the name is of no provider
            why = clip(str(exc).strip().partition("\n")[0], 200)
            raise ModelError(f"there is no encoder {name!r} ({why})", "check RAGWEAVE_EMBED") from exc
        raise explain(exc, name, host, "EMBED") from exc

    def embed(batch: list[str]) -> Any:
        try:
            return client.embed_documents(batch)
        except Exception as exc:
            raise explain(exc, name, host, "EMBED", waited=settings.chat_timeout) from exc

    return embed
