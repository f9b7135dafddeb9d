"""Store uploaded files, in one folder per library and under safe names."""

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
"""Maximum length of a file name in bytes; file systems allow 255, and a number may be appended."""
_JOINERS = "\u200c\u200d"
"""Invisible characters that some scripts need."""
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
"""Unicode categories of the characters that are dropped from names."""
_RESERVED = '<>:"|?*'
_HALF = "half"
"""Prefix of the lock name of an unfinished upload."""


def folder_of(library: str) -> Path:
    """Return the folder for the uploads of a library, by id."""
    return uploads_of(corpora_settings().home, library)


def safe_name(name: str) -> str:
    """Return the name under which an uploaded file is stored.

    This is the last part of its path, in any script, without invisible and reserved characters.

    Raises:
        InputError: nothing is left of the name, or files of that name are never read.
    """
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    visible = "".join(map(_safe_character, last))
    kept = " ".join(visible.split())
    hidden, kept = "." if kept.startswith(".") else "", kept.strip(" .")
    stem, dot, ending = kept.rpartition(".")
    if not dot:
        stem, ending = kept, ""
    room = _LONGEST - len(ending.encode()) - 1
    if room < 1:
        raise InputError("a file name has an ending of hundreds of letters", "rename the file").named(
            "file_ending_too_long"
        )
    stem = stem.encode()[:room].decode(errors="ignore").rstrip(" .")
    if not stem:
        raise InputError(f"{name[:80]!r} is no file name", "rename the file").named(
            "invalid_file_name", name=name[:80]
        )
    kept = f"{stem}.{ending}" if ending else stem
    # Refuse it here: indexing would skip it, and each server would try it again. The name is also checked
    # with its leading dot, because `.env` without the dot is not the name of a secret file.
    named = hidden + kept
    if is_secret(kept) or is_secret(named):
        raise InputError(
            f"{named[:80]!r} is the name of a key or password file, and those are never read", "rename it"
        ).named("secret_file_name", named=named[:80])
    return kept


def _safe_character(character: str) -> str:
    """Return a character of a file name, "_" if it is reserved, or "" if it is invisible."""
    if character in _JOINERS:
        return character
    if unicodedata.category(character) in _INVISIBLE:
        return ""
    return "_" if character in _RESERVED else character


def place(folder: Path, name: str, digest: str) -> Path:
    """Return the path directly in `folder` for a file of a name and content.

    If another content has the name, a number is appended.

    Raises:
        InputError: the name cannot be used.
    """
    name = safe_name(name)
    path = PurePath(name)
    for n in range(1, 1000):
        found = folder / (name if n == 1 else f"{path.stem} ({n}){path.suffix}")
        if found.parent != folder or found.is_symlink():
            raise InputError(f"{name[:80]!r} is no file name", "rename the file").named(
                "invalid_file_name", name=name[:80]
            )
        if not here(found) or digest_of(found) == digest:
            return found
    raise InputError(f"there are a thousand files named {name!r}", "rename the file").named(
        "too_many_files_of_name", name=name
    )


def check(name: str, content: BinaryIO) -> None:
    """Refuse a file that is too large or whose name cannot be used.

    Raises:
        InputError: it is refused.
    """
    limit = corpora_settings().max_file_mb
    if content.seek(0, os.SEEK_END) > limit << 20:
        raise InputError(
            f"{name[:80]!r} is larger than {limit} MiB", "raise RAGWEAVE_MAX_FILE_MB, or leave it out"
        ).named("file_too_large", name=name[:80], limit=limit)
    safe_name(name)


def keep(name: str, content: BinaryIO, library: str, loader: str = "") -> Path:
    """Store an uploaded file that `check` accepted, and return its path.

    The same content under the same name is stored once. The stored name contains the `loader`, so that every
    indexing run uses it, including one that takes over from another server.
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
                    os.fsync(out.fileno())  # an acknowledged upload survives a power cut
                with locks.names(home):  # another file of that name may have arrived meanwhile
                    path = place(folder, name, digest)
                    store = objects()
                    if store:
                        store.put(path, part_of)
                    os.replace(part_of, path)
                _sync(folder)
            finally:
                part_of.unlink(missing_ok=True)
    return path


def sweep(library: str) -> None:
    """Remove incomplete uploads to a library whose server was killed."""
    for half in folder_of(library).glob(".*.part"):
        if not locks.is_held(corpora_settings().home, f"{_HALF} {half.stem.removeprefix('.')}"):
            half.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Write the names in a folder to disk, if the system supports it."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def not_indexed(library: str) -> list[Path]:
    """Return the uploads of a library that are not indexed, or changed since."""
    found = uploads(corpora_settings().home, library)
    known = known_paths(stores().catalog, library) if found else {}
    # In object storage, a name has one content, and the copies on each machine have different times.
    by_name = bool(objects())
    waiting = []
    for path in found:
        source = known.get(str(path))
        if source is None and by_name:
            waiting.append(path)
        elif not by_name and _is_new(path, source):
            waiting.append(path)
    return waiting


def _is_new(path: Path, known: Known | None) -> bool:
    """Return whether a file is not indexed, or changed since."""
    if known is None:
        return True
    try:
        return bool(known.sha256) and not known.stat.same(Stat.of(str(path)))
    except FileNotFoundError:  # the file was just removed
        return False


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal, as sources store it."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
