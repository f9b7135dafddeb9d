"""Serve a chat model from a GGUF file in this process (extra `local`) by llama.cpp on a local port."""

from __future__ import annotations

import re
import secrets
import threading
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragweave.models.errors import ModelError
from ragweave.models.failures import loading
from ragweave.models.hub import fetch, held

CONTEXT = 16_384
"""Tokens of a prompt together with its reply."""
_HUB = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{40})/(?P<file>[\w.-]+\.gguf)")
_loading = threading.Lock()


def served(model: str) -> tuple[str, str]:
    """Return the base URL and the key of a model; it is loaded once and stays until the process ends.

    `model` is a file, or OWNER/NAME@COMMIT/FILE.gguf of the hub.

    Raises:
        MissingExtra: if xllamacpp is not installed.
        ModelError, WeightsError: if the file does not exist or cannot be loaded.
    """
    with _loading:
        server, key = _load(model)
    return f"{server.listening_address}/v1", key


@lru_cache(maxsize=2)
def _load(model: str) -> tuple[Any, str]:
    key = secrets.token_urlsafe(16)
    with loading(f"the model gguf:{model}", "local", "give a GGUF file of a chat model"):
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(file_of(model))
        params.model_alias = {"local"}
        params.n_ctx, params.n_parallel = CONTEXT, 1
        # Small models that think first take minutes for an answer on a CPU.
        params.enable_reasoning = 0
        params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [key]
        params.offline, params.ui, params.verbosity = True, False, -1
        return xllamacpp.Server(params), key


def file_of(model: str) -> Path:
    """Return the file of a model; download it if necessary."""
    named = _HUB.fullmatch(model)
    if named:
        repo, commit, file = named["repo"], named["commit"], named["file"]
        return (held(repo, commit, [file]) or fetch(repo, commit, [file], needed=[file])) / file
    path = Path(model).expanduser()
    if not path.is_file():
        raise ModelError(
            f"there is no GGUF file {model}", "give a file, or OWNER/NAME@COMMIT/FILE.gguf of the hub"
        )
    return path
