"""Find and open checkpoints of transformers in a folder of this machine or a repository of the hub.

Weights have to be safetensors: the older formats are pickles, and a pickle can run code. Code in a repository
is never run either. A download names one commit of the hub, and large files must have the sha256 that the hub
states.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragweave.models.device import encoding_type, remedy, torch_device
from ragweave.models.errors import MissingExtra, WeightsError
from ragweave.models.failures import loading
from ragweave.models.hub import fetch, held
from ragweave.models.settings import model_settings
from ragweave.models.text import clip

SHEET = "ragweave.json"
"""File that Ragweave's training writes next to the weights: the `Sheet` of the model."""
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
LOCAL = {"local_files_only": True, "trust_remote_code": False}
"""Options for opening any file of a checkpoint."""
_VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
WANTED = ("*.json", "*.safetensors", "*.model", "*.txt")
"""Patterns of the files of a checkpoint that are downloaded."""
_HUB = re.compile(r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@(?P<revision>[\w./-]+))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


class Sheet(BaseModel):
    """The input format of a checkpoint; a checkpoint without a sheet gets the defaults."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    task: Literal["router", "evaluator", "reasoner"] | None = None
    """The task of its training; None if it is not known."""
    labels: tuple[str, ...] = ()
    """Label words of a router that generates them."""
    prompt: str = "{question}"
    """Prompt of a router that generates; it has one slot."""
    first_line: bool = True
    """Only the first line of a question is read, which leaves out answer options (UniversalRAG, appendix)."""
    temperature: float = Field(1.0, gt=0)
    """Divides the scores of a router before the softmax; fitted on the held-out rows."""
    max_length: int = Field(512, ge=8, le=8192)
    """Most tokens of the input."""


def torch_and_transformers(what: str) -> tuple[Any, Any]:
    """Import the two packages behind checkpoints.

    Raises:
        MissingExtra: if one of them is not installed; the message starts with `what`.
    """
    try:
        import torch
        import transformers
    except ImportError as exc:
        raise MissingExtra(what, "hf") from exc
    return torch, transformers


def find(path: str) -> Path:
    """Return the folder of a checkpoint; download it from the hub if necessary.

    The path is a folder; a name under HOME/models; or OWNER/NAME@COMMIT.

    Raises:
        WeightsError: if the folder does not exist, or the hub may not be used, cannot be reached or does not
            have the checkpoint.
    """
    wanted = path.strip()
    settings = model_settings()
    folder = Path(wanted).expanduser()
    if wanted and folder.is_dir():
        return folder.absolute()
    if _NAME.fullmatch(wanted) and (settings.weights / wanted).is_dir():
        return settings.weights / wanted
    named = _HUB.fullmatch(wanted)
    if not named:
        raise WeightsError(
            f"there is no checkpoint folder {wanted!r}", "give a folder, or OWNER/NAME@COMMIT of the hub"
        )
    if settings.offline:
        kept = held(named["repo"], named["revision"] or "", ("config.json",))
        if kept is not None and any(kept.glob("*.safetensors")):
            return kept
        raise WeightsError(
            f"there is no folder {wanted}, and RAGWEAVE_OFFLINE forbids fetching it from the hub",
            "give the folder of a copy on this machine, or unset RAGWEAVE_OFFLINE once",
        )
    if not _COMMIT.fullmatch(named["revision"] or ""):
        raise WeightsError(
            f"{named['repo']} is not pinned: its files could change under a branch",
            f"name the commit that its page on the hub shows, all 40 digits: {named['repo']}@COMMIT",
        )
    return fetch(named["repo"], named["revision"], WANTED)


def read_config(folder: Path) -> dict[str, Any]:
    """Return the configuration of a checkpoint folder after a check of its other files.

    Raises:
        WeightsError: if the folder is not a checkpoint, or holds its weights only as a pickle.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if not config["model_type"]:
            raise KeyError("model_type")
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise WeightsError(
            f"{folder.name} is not a checkpoint: it has no config.json that names a model type",
            "give a folder that save_pretrained or `ragweave train` has written",
        ) from exc
    if not any(folder.glob("*.safetensors")):
        if _has_any(folder, PICKLES):
            raise WeightsError(
                f"{folder.name} holds its weights as a pickle only, which can run code",
                "save it again as safetensors (save_pretrained does)",
            )
        raise WeightsError(f"{folder.name} has no weights", "it needs model.safetensors next to config.json")
    # Without a vocabulary, transformers silently makes an empty tokeniser.
    if not _has_any(folder, _VOCABULARIES):
        raise WeightsError(
            f"{folder.name} has no tokeniser", "save it into the same folder (save_pretrained does)"
        )
    return dict(config)


def _has_any(folder: Path, patterns: Iterable[str]) -> bool:
    """Return whether a file of the folder matches one of the patterns."""
    for pattern in patterns:
        if any(folder.glob(pattern)):
            return True
    return False


def read_sheet(folder: Path) -> Sheet:
    """Return the sheet of a checkpoint.

    Raises:
        WeightsError: if the file exists and cannot be used.
    """
    try:
        return Sheet.model_validate_json((folder / SHEET).read_bytes())
    except FileNotFoundError:
        return Sheet()
    except (OSError, ValidationError) as exc:
        raise WeightsError(f"{SHEET} of {folder.name} cannot be read", "train the checkpoint again") from exc


def load_model(folder: Path, head: str, *, fresh_head: bool = False, **options: Any) -> tuple[Any, Any]:
    """Load model, in evaluation mode, and tokeniser of a folder onto the device of RAGWEAVE_DEVICE.

    `head` names the class of transformers. If the folder lacks a head, `fresh_head` initialises it at random
    for training; otherwise a missing head is an error. The options go to the configuration.

    Raises:
        MissingExtra: if transformers is not installed.
        ModelError: if the device does not exist.
        WeightsError: if the folder cannot be loaded.
    """
    torch, transformers = torch_and_transformers(f"the checkpoint {folder.name}")
    device = torch_device(torch)
    read_config(folder)
    try:
        with quiet(transformers.utils.logging):
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **LOCAL)
            model, info = getattr(transformers, head).from_pretrained(
                folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True,
                ignore_mismatched_sizes=fresh_head, **LOCAL, **options,
            )  # fmt: skip
            model = model.eval().to(device)
    except Exception as exc:
        raise WeightsError(
            f"the checkpoint {folder.name} cannot be loaded: {type(exc).__name__}: {clip(str(exc), 200)}",
            remedy(exc, "give a folder that save_pretrained or `ragweave train` has written"),
        ) from exc
    body = f"{model.base_model_prefix}."
    missing: list[str] = []
    for key in sorted(info["missing_keys"]):
        in_body = key.startswith(body) and ".pooler." not in key
        if in_body or not fresh_head:
            missing.append(key)
    if missing:
        raise WeightsError(
            f"the checkpoint {folder.name} lacks trained weights ({clip(', '.join(missing), 120)})",
            "it is a base model: train it first with `ragweave train`",
        )
    return model, tokenizer


def load_encoder(what: str, model: str, hint: str) -> tuple[Any, Any, Path]:
    """Load an encoder without a head in evaluation mode; return it, its tokeniser and its folder.

    `model` is an argument of `find`. Messages name the encoder by `what` and give the `hint` as a remedy.

    Raises:
        MissingExtra: if transformers is not installed.
        ModelError, WeightsError: if the encoder cannot be found or opened.
    """
    torch, transformers = torch_and_transformers(what)
    device = torch_device(torch)
    folder = find(model)
    read_config(folder)
    with loading(what, "hf", hint), quiet(transformers.utils.logging):
        kind = encoding_type(torch, device)
        net = transformers.AutoModel.from_pretrained(folder, use_safetensors=True, dtype=kind, **LOCAL)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **LOCAL)
        return net.eval().to(device), tokenizer, folder


@contextmanager
def quiet(log: Any) -> Iterator[None]:
    """Silence the progress bars and warnings of transformers; `log` is its `utils.logging`."""
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()


def usable_labels(labels: tuple[str, ...], known: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return a router's labels in Ragweave's words.

    Raises:
        WeightsError: if a label is unknown or occurs twice.
    """
    own: list[str] = []
    for label in labels:
        word = label.strip().lower()
        # The authors of UniversalRAG write "no" for "none".
        own.append("none" if word == "no" else word)
    unknown = bool(known) and not set(own) <= set(known)
    if unknown or len(set(own)) != len(own) or len(own) < 2:
        raise WeightsError(
            f"the labels of {name} are {clip(', '.join(labels), 200) or 'missing'}, and a router decides"
            " between " + (", ".join(known) or "two or more different words"),
            "train it with `ragweave train router`, or name the labels in its config.json (id2label)",
        )
    return tuple(own)
