"""Load text encoders: one ships with the package, a setting names others."""

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
    """Return the text encoder of a name, loaded once per process.

    The name is `wordllama`, `fastembed:NAME[@COMMIT]`, `hf:FOLDER`, `hf:OWNER/NAME@COMMIT`, or an
    init_embeddings string; by default the one in the settings.

    Raises:
        MissingExtra: if the extra `fastembed` or `hf` is needed and not installed.
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

    return WordLlamaEncoder()  # No setting changes it, so one copy is enough.


@lru_cache(maxsize=4)
def _load(name: str, settings: ModelSettings) -> Encoder:
    kind, _, model = name.partition(":")
    maker = _MAKERS.get(kind)
    if maker:
        return PrefixedEncoder(name, model, *maker(model, settings))
    return PrefixedEncoder(name, model or name, _served(name, settings))


Made = tuple[Callable[[list[str]], Any], int]
"""A function that encodes texts, and its batch size."""


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
"""By the prefix of the name; any other name is a model of a server."""


def _served(name: str, settings: ModelSettings) -> Callable[[list[str]], Any]:
    """Return the embedding function of an init_embeddings string or an OpenAI-compatible server."""
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
        if isinstance(exc, ValueError) and not at.url:  # The name has no known provider.
            why = clip(str(exc).strip().partition("\n")[0], 200)
            raise ModelError(f"there is no encoder {name!r} ({why})", "check RAGWEAVE_EMBED") from exc
        raise explain(exc, name, host, "EMBED") from exc

    def embed(batch: list[str]) -> Any:
        try:
            return client.embed_documents(batch)
        except Exception as exc:
            raise explain(exc, name, host, "EMBED", waited=settings.chat_timeout) from exc

    return embed
