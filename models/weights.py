"""The table of downloadable weights: what they are, where they come from, and whether they are here.

The table is the file `weights.toml` in the home folder. Ragweave ships none of its entries: each pins a revision and
the sha256 of every file, and `add` writes one from what the hub states about a file.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx
from filelock import FileLock
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ragweave.models.errors import InputError, WeightsError
from ragweave.models.hub import TIMEOUT, Progress, Remote, download, file_url, sha256_of
from ragweave.models.settings import model_settings

SAFE_ENDINGS = (
    ".safetensors",
    ".onnx",
    ".onnx_data",
    ".gguf",
    ".json",
    ".txt",
    ".model",
    "/model.bin",
    "/vocabulary.txt",
)
"""Endings of files that hold numbers or text and cannot run code; `model.bin` is CTranslate2's."""
_PICKLES = (b"PK", b"\x80")

State = Literal["ready", "missing", "partial", "damaged"]


class WeightFile(BaseModel):
    """One file of an entry."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(min_length=1, max_length=300)
    """Path inside the repository."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=1)
    """Bytes."""

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
    """Hub repository, `owner/name`."""
    revision: str = Field(min_length=1, max_length=100)
    """Commit; a branch name would let the files change."""
    licence: str = ""
    files: tuple[WeightFile, ...] = Field(min_length=1)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(f.size for f in self.files)


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid")

    weights: tuple[Weights, ...] = ()


@dataclass(frozen=True)
class Status:
    """Whether an entry is here."""

    state: State
    folder: Path | None
    """Where its files are, or None where none is."""
    note: str = ""
    """What is wrong, in words."""


def table_path() -> Path:
    """Return the file that holds the table."""
    return model_settings().home / "weights.toml"


def table() -> tuple[Weights, ...]:
    """Return all entries.

    Raises:
        WeightsError: if the file cannot be read; names the entry and the field.
    """
    path = table_path()
    if not path.exists():
        return ()
    try:
        return _Table.model_validate(tomllib.loads(path.read_text("utf-8"))).weights
    except ValidationError as exc:
        first = exc.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise WeightsError(f"{path.name} has a mistake at {where}: {first['msg']}", f"correct {path}") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as exc:
        raise WeightsError(f"{path.name} cannot be read: {exc}", f"correct {path}") from exc


def find(name: str) -> Weights:
    """Return the entry of that name.

    Raises:
        InputError: if there is none.
    """
    entries = table()
    for entry in entries:
        if entry.name == name:
            return entry
    known = ", ".join(e.name for e in entries) or "none yet"
    raise InputError(f"there are no weights named {name!r}", f"known are: {known}; add an entry to {table_path()}")


def status(entry: Weights, *, full: bool = False) -> Status:
    """Say whether an entry is here: by size, or with `full` by sha256."""
    for folder in _folders(entry):
        if not folder.is_dir():
            continue
        missing, wrong = [], []
        for file in entry.files:
            path = folder / file.path
            if not path.is_file():
                missing.append(file.path)
            elif path.stat().st_size != file.size or (full and sha256_of(path) != file.sha256):
                wrong.append(file.path)
        if wrong:
            return Status("damaged", folder, f"not as its entry says: {', '.join(wrong)}")
        if not missing:
            return Status("ready", folder)
        begun = len(missing) < len(entry.files) or any((folder / f"{m}.part").exists() for m in missing)
        if begun:
            return Status("partial", folder, f"missing: {', '.join(missing)}")
    return Status("missing", None)


def fetch(name: str, progress: Progress | None = None) -> Path:
    """Return the folder of an entry's files, each with the right sha256; downloads what is not here.

    What lies in HOME/models/NAME is used as it is; downloads go there. Blocking.

    Raises:
        InputError: if there is no such entry.
        WeightsError: if the files cannot be had, or are not what the entry says.
    """
    entry = find(name)
    found = status(entry, full=True)
    if found.state == "ready" and found.folder:
        return found.folder
    settings = model_settings()
    if settings.offline:
        raise WeightsError(
            f"{name} is not on this machine ({found.state}) and RAGWEAVE_OFFLINE forbids to download it",
            f"put its files into {_folders(entry)[0]}, or unset RAGWEAVE_OFFLINE",
        )
    folder = settings.home / "models" / entry.name
    for file in entry.files:
        target = folder / file.path
        download(Remote(entry.repo, entry.revision, file.path, file.sha256, file.size), target, progress)
        _refuse_pickle(target)
    return folder


def verify(name: str) -> Status:
    """Compare every file of an entry with its sha256. Blocking: reads all bytes."""
    return status(find(name), full=True)


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
    url = file_url(repo, revision, path)
    try:
        # The hub states its facts on the first answer; the redirect leads to a store that knows none of them.
        answer = httpx.head(url, timeout=TIMEOUT, headers={"Accept-Encoding": "identity"})
    except httpx.HTTPError as exc:
        raise WeightsError(
            f"{httpx.URL(url).host} cannot be reached ({type(exc).__name__})", "try again later"
        ) from exc
    if answer.status_code >= 400:
        raise WeightsError(f"the hub answered {answer.status_code} for {path} of {repo}", "check repository and path")
    told = answer.headers
    digest = told.get("x-linked-etag", "").strip('"').removeprefix("sha256:")
    if not re.fullmatch(r"[0-9a-f]{64}", digest) or not told.get("x-linked-size", "").isdigit():
        raise WeightsError(f"the hub states no sha256 for {path} of {repo}", f"write the entry into {table_path()}")
    try:
        file = WeightFile(path=path, sha256=digest, size=int(told["x-linked-size"]))
        commit = told.get("x-repo-commit", revision)
        entry = Weights(name=name, repo=repo, revision=commit, licence=licence, files=(file,))
    except ValidationError as exc:
        first = exc.errors()[0]
        raise InputError(f"{'.'.join(map(str, first['loc']))} cannot be used: {first['msg']}", "correct it") from exc
    _append(entry)
    return entry


def _append(entry: Weights) -> None:
    lines = ["", "[[weights]]"]
    lines += [f"{key} = {_toml(getattr(entry, key))}" for key in ("name", "repo", "revision", "licence")]
    for file in entry.files:
        lines += [
            "[[weights.files]]",
            f"path = {_toml(file.path)}",
            f"sha256 = {_toml(file.sha256)}",
            f"size = {file.size}",
        ]
    path = table_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(path.name + ".lock")), path.open("a", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


def _toml(value: str) -> str:
    """Write a string for TOML, whose basic strings take the escapes of JSON."""
    return json.dumps(value, ensure_ascii=False)


def _folders(entry: Weights) -> list[Path]:
    return [model_settings().weights / entry.name]


def _refuse_pickle(path: Path) -> None:
    """Throw away a file that claims to be CTranslate2 and is a pickle."""
    if path.suffix != ".bin":
        return
    with path.open("rb") as file:
        head = file.read(2)
    if head.startswith(_PICKLES):
        path.unlink()
        raise WeightsError(
            f"{path.name} is a pickle, which can run code, and was thrown away", "use safetensors or ONNX"
        )
