"""Open models of fastembed (ONNX) by name, or at one commit of the hub as NAME@COMMIT."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragweave.models.errors import ModelError
from ragweave.models.hub import fetch, held, newest
from ragweave.models.settings import ModelSettings

_OTHER_FILES = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "preprocessor_config.json",
)
"""Files that may belong to the weights."""


def opened(maker: Any, model: str, settings: ModelSettings) -> Any:
    """Open a model; `maker` is the class of fastembed, and `@COMMIT` pins the files.

    Raises:
        ModelError: if fastembed has no model of that name.
        WeightsError: if the files of the commit cannot be downloaded.
    """
    name, _, commit = model.partition("@")
    options: dict[str, Any] = {"model_name": name, "cache_dir": str(settings.weights / "fastembed")}
    options["local_files_only"] = settings.offline
    if commit:
        options["specific_model_path"] = str(_folder(maker, name, commit))
    return maker(**options)


def pinned(maker: Any, name: str) -> str:
    """Return NAME@COMMIT with the newest commit of the hub.

    Raises:
        ModelError, WeightsError: if the model does not exist, or the hub does not answer.
    """
    return f"{name}@{newest(_files(maker, name)[0])}"


def _folder(maker: Any, name: str, commit: str) -> Path:
    repo, needed = _files(maker, name)
    wanted = (*needed, *_OTHER_FILES)
    return held(repo, commit, needed) or fetch(repo, commit, wanted, needed=needed)


def _files(maker: Any, name: str) -> tuple[str, tuple[str, ...]]:
    """Return the repository of a model and the names of its weights."""
    for row in maker.list_supported_models():
        if row["model"] == name and row["sources"].get("hf"):
            return row["sources"]["hf"], (row["model_file"], *row.get("additional_files", ()))
    raise ModelError(f"fastembed has no model {name} on the hub", "choose one that it lists")
