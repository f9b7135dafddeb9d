"""Finding and opening checkpoints of transformers: a folder of this machine, or a repository of the hub.

Weights are taken as safetensors only: the older formats are pickles, and a pickle can run code. Code that a
repository brings along is never run either. The hub is asked for one commit, and its large files must have
the sha256 it states.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragweave.models.device import encoding_type, torch_device
from ragweave.models.errors import MissingExtra, WeightsError
from ragweave.models.failures import loading
from ragweave.models.hub import fetch, held
from ragweave.models.settings import model_settings
from ragweave.models.text import clip

SHEET = "ragweave.json"
"""What Ragweave's own training writes beside the weights: how the model is to be asked."""
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
LOCAL = {"local_files_only": True, "trust_remote_code": False}
"""How whatever belongs to a checkpoint is opened."""
_VOCABULARIES = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
WANTED = ("*.json", "*.safetensors", "*.model", "*.txt")
"""Files of a checkpoint that are fetched."""
_HUB = re.compile(r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@(?P<revision>[\w./-]+))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


class Sheet(BaseModel):
    """How a checkpoint is asked; a foreign checkpoint has none and gets the defaults."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    task: Literal["router", "evaluator", "reasoner"] | None = None
    """What it was trained for; None where nobody said."""
    labels: tuple[str, ...] = ()
    """Label words of a router that generates them."""
    prompt: str = "{question}"
    """Input of a router that generates, with one slot."""
    first_line: bool = True
    """Only the first line of a question is read, which leaves out answer options (UniversalRAG, appendix)."""
    temperature: float = Field(1.0, gt=0)
    """Divides the scores of a router before the softmax; fitted on the held-out rows."""
    max_length: int = Field(512, ge=8, le=8192)
    """Tokens read."""


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
    """Return the folder of a checkpoint, downloading it from the hub where it has to be.

    The path is a folder; a name under HOME/models; or OWNER/NAME@COMMIT.

    Raises:
        WeightsError: if there is no such folder, or the hub may not be used, cannot be reached or has no such
            thing.
    """
    wanted = path.strip()
    settings = model_settings()
    if wanted and (folder := Path(wanted).expanduser()).is_dir():
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
    """Return the configuration of a checkpoint folder after a look at what lies beside it.

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
        if any(p for pattern in PICKLES for p in folder.glob(pattern)):
            raise WeightsError(
                f"{folder.name} holds its weights as a pickle only, which can run code",
                "save it again as safetensors (save_pretrained does)",
            )
        raise WeightsError(f"{folder.name} has no weights", "it needs model.safetensors beside config.json")
    # Where there is none, transformers makes an empty tokeniser without a word.
    if not any(p for pattern in _VOCABULARIES for p in folder.glob(pattern)):
        raise WeightsError(
            f"{folder.name} has no tokeniser", "save it into the same folder (save_pretrained does)"
        )
    return dict(config)


def read_sheet(folder: Path) -> Sheet:
    """Return how a checkpoint is asked; WeightsError if the file is there and cannot be used."""
    try:
        return Sheet.model_validate_json((folder / SHEET).read_bytes())
    except FileNotFoundError:
        return Sheet()
    except (OSError, ValidationError) as exc:
        raise WeightsError(f"{SHEET} of {folder.name} cannot be read", "train the checkpoint again") from exc


def load_model(folder: Path, head: str, *, fresh_head: bool = False, **options: Any) -> tuple[Any, Any]:
    """Load model, in evaluation mode, and tokeniser of a folder onto the device of RAGWEAVE_DEVICE.

    `head` names the class of transformers; with `fresh_head` one that the folder lacks is drawn at random, to
    be trained, else it is an error; the options are for the configuration.

    Raises:
        MissingExtra: if transformers is not installed.
        ModelError: if the device is not there.
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
    except Exception as exc:
        raise WeightsError(
            f"the checkpoint {folder.name} cannot be loaded: {type(exc).__name__}: {clip(str(exc), 200)}",
            "give a folder that save_pretrained or `ragweave train` has written",
        ) from exc
    body = f"{model.base_model_prefix}."
    missing = [
        key for key in sorted(info["missing_keys"])
        if not fresh_head or (key.startswith(body) and ".pooler." not in key)
    ]  # fmt: skip
    if missing:
        raise WeightsError(
            f"the checkpoint {folder.name} lacks trained weights ({clip(', '.join(missing), 120)})",
            "it is a base model: train it first with `ragweave train`",
        )
    return model.eval().to(device), tokenizer


def load_encoder(what: str, model: str, hint: str) -> tuple[Any, Any, Path]:
    """Load an encoder without a head, in evaluation mode on its device; return it, its tokeniser and its folder.

    `model` is what `find` takes; messages name the encoder by `what`, and tell the `hint` where it cannot be
    opened.

    Raises:
        MissingExtra: if transformers is not installed.
        ModelError, WeightsError: if the encoder cannot be had or opened.
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
    """Keep transformers (its `utils.logging`) from writing bars and remarks; what matters is raised as an error."""
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
    """Return a router's labels in Ragweave's words; WeightsError if a label is unknown or given twice."""
    # The authors of UniversalRAG call it "no".
    said = tuple({"no": "none"}.get(word, word) for word in (label.strip().lower() for label in labels))
    strange = [label for label in said if label not in known] if known else []
    if strange or len(set(said)) != len(said) or len(said) < 2:
        raise WeightsError(
            f"the labels of {name} are {clip(', '.join(labels), 200) or 'missing'}, and a router decides"
            " between " + (", ".join(known) or "two or more different words"),
            "train it with `ragweave train router`, or name the labels in its config.json (id2label)",
        )
    return said
