"""Uploaded files: one folder per library, and one function that turns a name into a path."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import unicodedata
from pathlib import Path, PurePath
from typing import BinaryIO

from ragweave.corpora.loaders import marked
from ragweave.corpora.secret import is_secret
from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import locks
from ragweave.corpora.store.files import Known, Stat, known_paths
from ragweave.corpora.store.folders import uploads_of
from ragweave.corpora.store.objects import here, objects, uploads
from ragweave.corpora.store.stores import stores
from ragweave.models.errors import InputError

_LONGEST = 200
"""Bytes of a file name; file systems take 255, and a number may be added."""
_HALF = "half"
"""What the name of the lock of an upload that is on its way begins with."""


def folder_of(library: str) -> Path:
    """Return the folder that keeps the uploads of a library by id."""
    return uploads_of(corpora_settings().home, library)


def safe_name(name: str) -> str:
    """Return the name under which an uploaded file is kept: its last part, in any script, without what deceives.

    Raises:
        InputError: nothing is left of it, or no file of that name is ever read.
    """
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    kept = "".join(
        c
        for c in last
        if c in "\u200c\u200d" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    )
    kept = " ".join("".join("_" if c in '<>:"|?*' else c for c in kept).split())
    hidden, kept = "." if kept.startswith(".") else "", kept.strip(" .")
    stem, dot, ending = kept.rpartition(".")
    if not dot:
        stem, ending = kept, ""
    room = _LONGEST - len(ending.encode()) - 1
    if room < 1:
        raise InputError("a file name has an ending of hundreds of letters", "rename the file").named(
            "file_name_has_ending"
        )
    stem = stem.encode()[:room].decode(errors="ignore").rstrip(" .")
    if not stem:
        raise InputError(f"{name[:80]!r} is no file name", "rename the file").named(
            "no_file_name", name=name[:80]
        )
    kept = f"{stem}.{ending}" if ending else stem
    # Refused before it is accepted: a run would leave it out, and each server try it again. Without its dot
    # `.env` is the name of no such file.
    named = hidden + kept
    if is_secret(kept) or is_secret(named):
        raise InputError(
            f"{named[:80]!r} is the name of a key or password file, and those are never read", "rename it"
        ).named("name_key_password_file", named=named[:80])
    return kept


def place(folder: Path, name: str, digest: str) -> Path:
    """Return where a file of that name and content is kept: a path directly in `folder` that no other content has."""
    name = safe_name(name)
    path = PurePath(name)
    for n in range(1, 1000):
        found = folder / (name if n == 1 else f"{path.stem} ({n}){path.suffix}")
        if found.parent != folder or found.is_symlink():
            raise InputError(f"{name[:80]!r} is no file name", "rename the file").named(
                "no_file_name", name=name[:80]
            )
        if not here(found) or digest_of(found) == digest:
            return found
    raise InputError(f"there are a thousand files named {name!r}", "rename the file").named(
        "thousand_files_named", name=name
    )


def check(name: str, content: BinaryIO) -> None:
    """Refuse, with an InputError, a file that is too large, or has no name under which it is ever read."""
    limit = corpora_settings().max_file_mb
    if content.seek(0, os.SEEK_END) > limit << 20:
        raise InputError(
            f"{name[:80]!r} is larger than {limit} MiB", "raise RAGWEAVE_MAX_FILE_MB, or leave it out"
        ).named("file_too_large", name=name[:80], limit=limit)
    safe_name(name)


def keep(name: str, content: BinaryIO, library: str, loader: str = "") -> Path:
    """Copy an uploaded file that was checked to its place and return it; the same under the same name is kept once.

    Its name asks for the `loader`, so that every run reads it by that, also one that takes over.
    """
    name = marked(safe_name(name), loader)
    content.seek(0)
    digest = hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]
    folder = folder_of(library)
    folder.mkdir(parents=True, exist_ok=True)
    path = place(folder, name, digest)
    if not here(path):
        content.seek(0)
        home, token = corpora_settings().home, secrets.token_hex(8)
        part_of = folder / f".{token}.part"
        with locks.owned(home, f"{_HALF} {token}"):
            try:
                with open(part_of, "xb") as out:
                    shutil.copyfileobj(content, out, 1 << 20)
                    out.flush()
                    os.fsync(out.fileno())  # what is acknowledged outlives a power cut
                with locks.names(home):  # another file of that name may have come meanwhile
                    path = place(folder, name, digest)
                    if store := objects():
                        store.put(path, part_of)
                    os.replace(part_of, path)
                _sync(folder)
            finally:
                part_of.unlink(missing_ok=True)
    return path


def sweep(library: str) -> None:
    """Remove the halves of uploads to a library whose server was killed while they came."""
    for half in folder_of(library).glob(".*.part"):
        if not locks.is_held(corpora_settings().home, f"{_HALF} {half.stem.removeprefix('.')}"):
            half.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def not_indexed(library: str) -> list[Path]:
    """Return the uploads of a library that are no sources of it, or others than those."""
    found = uploads(corpora_settings().home, library)
    known = known_paths(stores().catalog, library) if found else {}
    if objects():  # a name there has one content, and copies look different on every machine
        return [p for p in found if str(p) not in known]
    return [p for p in found if _waits(p, known.get(str(p)))]


def _waits(path: Path, known: Known | None) -> bool:
    try:
        return known is None or (bool(known.sha256) and not known.stat.same(Stat.of(str(path))))
    except FileNotFoundError:  # it was removed just now
        return False


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, as a source keeps it."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
