"""Weights of the model hub: a table of pinned files, and whether they are here. huggingface_hub fetches them.

The table is the file `weights.toml` in the home folder. Ragweave ships none of its entries: each pins a revision and
the sha256 of every file, and `add` writes one from what the hub states about a file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ragweave.models.errors import InputError, WeightsError
from ragweave.models.failures import causes, status_of
from ragweave.models.settings import model_settings

SAFE_ENDINGS = tuple(
    ".safetensors .onnx .onnx_data .gguf .json .txt .model /model.bin /vocabulary.txt".split()
)  # fmt: skip
"""Endings of files that hold numbers or text and cannot run code; `model.bin` is CTranslate2's."""
_PICKLES = (b"PK", b"\x80")


class WeightFile(BaseModel):
    """One file of an entry: its path inside the repository and its size in bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(min_length=1, max_length=300)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=1)

    @field_validator("path")
    @classmethod
    def _inside_and_safe(cls, path: str) -> str:
        parts = path.split("/")
        if any(part in ("", ".", "..") for part in parts) or "\\" in path or ":" in path:
            raise ValueError("must be a relative path inside the repository")
        if not f"/{path}".endswith(SAFE_ENDINGS):
            raise ValueError("must be safetensors, ONNX, GGUF, CTranslate2 or text; pickles are never loaded")
        return path


class Weights(BaseModel):
    """One entry of the table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    revision: str = Field(min_length=1, max_length=100)
    """Commit; a branch name would let the files change."""
    licence: str = ""
    files: tuple[WeightFile, ...] = Field(min_length=1)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(f.size for f in self.files)

    @property
    def folder(self) -> Path:
        """Where its files belong."""
        return model_settings().weights / self.name


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    weights: tuple[Weights, ...] = ()


class Status(NamedTuple):
    """Whether an entry is here, and what is wrong in words."""

    state: Literal["ready", "missing", "partial", "damaged"]
    note: str = ""


def table_path() -> Path:
    """Return the file that holds the table."""
    return model_settings().home / "weights.toml"


def table() -> tuple[Weights, ...]:
    """Return all entries.

    Raises:
        WeightsError: if the file cannot be read; names the entry and the field.
    """
    path = table_path()
    try:
        return _Table.model_validate(tomllib.loads(path.read_text("utf-8"))).weights
    except FileNotFoundError:
        return ()
    except ValidationError as exc:
        raise WeightsError(f"{path.name} has a mistake at {_mistake(exc)}", f"correct {path}") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as exc:
        raise WeightsError(f"{path.name} cannot be read: {exc}", f"correct {path}") from exc


def find(name: str) -> Weights:
    """Return the entry of that name.

    Raises:
        InputError: if there is none.
    """
    entries = {entry.name: entry for entry in table()}
    if name in entries:
        return entries[name]
    known = ", ".join(entries) or "none yet"
    raise InputError(f"there are no weights named {name!r}", f"known are: {known}; add an entry to {table_path()}")


def status(entry: Weights, *, full: bool = False) -> Status:
    """Say whether an entry is here: by size, or with `full` by sha256, which reads all bytes."""
    missing = [f.path for f in entry.files if not (entry.folder / f.path).is_file()]
    wrong = [f.path for f in entry.files if f.path not in missing and not _matches(entry, f, full)]
    if wrong:
        return Status("damaged", f"not as its entry says: {', '.join(wrong)}")
    if len(missing) == len(entry.files):
        return Status("missing")
    return Status("partial", f"missing: {', '.join(missing)}") if missing else Status("ready")


def fetch(name: str) -> Path:
    """Return the folder of an entry's files, each with the right sha256; downloads what is not here. Blocking.

    An interrupted download goes on where it ended; a file that is not what its entry says is thrown away.

    Raises:
        InputError: if there is no such entry.
        WeightsError: if the files cannot be had, or are not what the entry says.
    """
    entry = find(name)
    lacking = [f for f in entry.files if not ((entry.folder / f.path).is_file() and _matches(entry, f, full=True))]
    if lacking and model_settings().offline:
        raise WeightsError(
            f"{name} is not on this machine and RAGWEAVE_OFFLINE forbids to download it",
            f"put its files into {entry.folder}, or unset RAGWEAVE_OFFLINE",
        )
    for file in lacking:
        path = entry.folder / file.path
        path.unlink(missing_ok=True)
        with hub(f"{file.path} of {entry.repo}") as options:
            from huggingface_hub import hf_hub_download

            hf_hub_download(entry.repo, file.path, revision=entry.revision, local_dir=entry.folder, **options)
        with path.open("rb") as opened:
            pickled = path.suffix == ".bin" and opened.read(2).startswith(_PICKLES)
        if not pickled and _matches(entry, file, full=True):
            continue
        path.unlink()
        if pickled:
            told = f"{path.name} is a pickle, which can run code, and was thrown away"
            raise WeightsError(told, "use safetensors or ONNX")
        raise WeightsError(
            f"{file.path} of {entry.repo} does not have the expected sha256 and was thrown away",
            "try again; if it stays so, the file on the hub or its entry is wrong: do not use it",
        )
    return entry.folder


def add(name: str, repo: str, path: str, revision: str = "main", licence: str = "") -> Weights:
    """Pin a file of the hub as a new entry: its commit, size and sha256 as the hub states them.

    From then on nothing but exactly that file is accepted. The hub states a sha256 for large files only.

    Raises:
        InputError: if the name is taken or a value cannot be used.
        WeightsError: if the hub cannot be asked or states no sha256.
    """
    if model_settings().offline:
        raise WeightsError("RAGWEAVE_OFFLINE forbids to ask the hub", "write the entry by hand, or unset it")
    if any(e.name == name for e in table()):
        raise InputError(f"weights named {name!r} exist", "choose another name")
    with hub(f"{path} of {repo}") as options:
        from huggingface_hub import get_hf_file_metadata, hf_hub_url

        told = get_hf_file_metadata(hf_hub_url(repo, path, revision=revision, **options), **options)
    if not re.fullmatch(r"[0-9a-f]{64}", told.etag or "") or not told.size:
        raise WeightsError(f"the hub states no sha256 for {path} of {repo}", f"write the entry into {table_path()}")
    try:
        file = WeightFile(path=path, sha256=told.etag or "", size=told.size)
        entry = Weights(name=name, repo=repo, revision=told.commit_hash or revision, licence=licence, files=(file,))
    except ValidationError as exc:
        where, _, why = _mistake(exc).partition(": ")
        raise InputError(f"{where} cannot be used: {why}", "correct it") from exc
    _append(entry)
    return entry


@contextmanager
def hub(what: str) -> Iterator[dict[str, Any]]:
    """Give the options that every call of huggingface_hub takes, and tell its failures in a sentence.

    Raises:
        WeightsError: if the hub cannot be reached, does not have it or does not give it.
    """
    endpoint = os.environ.get("HF_ENDPOINT") or None
    try:
        yield {"endpoint": endpoint}
    except WeightsError:
        raise
    except Exception as exc:
        status = next((found for cause in causes(exc) if (found := status_of(cause))), None)
        if status == 404:
            raise WeightsError(f"the hub has no {what}", "check repository, path and revision") from exc
        if status in (401, 403):
            raise WeightsError(
                f"the hub does not give {what} to everybody ({status})", "accept its terms there and set HF_TOKEN"
            ) from exc
        told = f"the hub answered {status}" if status else f"the hub cannot be reached ({type(exc).__name__})"
        raise WeightsError(
            f"{what} cannot be fetched: {told}",
            "try again: a download goes on where it stopped; or set HF_ENDPOINT to a mirror",
        ) from exc


def _mistake(exc: ValidationError) -> str:
    first = exc.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _matches(entry: Weights, file: WeightFile, full: bool) -> bool:
    path = entry.folder / file.path
    if not full or path.stat().st_size != file.size:
        return path.stat().st_size == file.size
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest() == file.sha256


def _append(entry: Weights) -> None:
    def row(key: str, value: str | int) -> str:
        return f"{key} = {json.dumps(value, ensure_ascii=False)}"  # TOML's basic strings take the escapes of JSON

    lines = ["", "[[weights]]", *(row(k, getattr(entry, k)) for k in ("name", "repo", "revision", "licence"))]
    for file in entry.files:
        lines += ["[[weights.files]]", *(row(k, v) for k, v in file.model_dump().items())]
    path = table_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(path.name + ".lock")), path.open("a", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
