"""Files of an object store: copied below the home, where they are read as those of a folder are."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import shutil
from contextlib import suppress
from pathlib import Path, PurePosixPath

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.folders import unwritable
from ragweave.corpora.store.objects import Objects, folders_among
from ragweave.models.errors import InputError

_STATES = ".mirror.json"
"""How each object looked when it was copied; hidden, so that it is no file of the folder."""
_OF = ".mirror-of"
"""The address that a copy is of."""
_NOTES = (_STATES, _OF)


def is_address(path: str | Path) -> bool:
    """Tell an address of an object store, `s3://BUCKET/NAME`, from a path."""
    return re.match(r"[a-z0-9]+://", str(path)) is not None


async def mirrored(address: str) -> Path:
    """Bring the copy of what lies at an address up to date, and return its folder: what is gone there goes here too.

    Raises:
        InputError: nothing lies there, or one object alone, or a name leads out of the folder or is that of one.
        StorageError: the store refuses, or is away.
    """
    return await asyncio.to_thread(_mirrored, address.rstrip("/"))


def _mirrored(address: str) -> Path:
    folder = _folder_of(address)
    store, noted = Objects(address, folder), folder / _STATES
    there = store.states()
    if not there:
        raise InputError(f"Nothing lies at {address}", "check the address; the library stays as it is")
    if "" in there:
        raise InputError(f"A single object lies at {address}", "give the address of what it lies in")
    if both := sorted(folders_among(there)):
        what = f"At {address} lie an object {both[0][:80]!r} and others below that name, which no folder can hold"
        raise InputError(what, "rename it")
    if strange := next((name for name in there if not _is_inside(name)), None):
        raise InputError(f"An object at {address} has the name {strange[:80]!r}", "rename it")
    try:
        try:
            known = json.loads(noted.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):  # a run that was killed left no note of what it had copied, or half
            shutil.rmtree(folder, ignore_errors=True)
            known = {}
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _OF).write_text(address, encoding="utf-8")
        for name in (known.keys() | there.keys()) - {n for n, state in there.items() if known.get(n) == state}:
            _remove(folder / name, folder)
        for name in there:
            if not (folder / name).exists():
                store.bring(folder / name)
        noted.write_text(json.dumps(there), encoding="utf-8")
    except OSError as error:
        raise unwritable(folder, error) from error
    return folder


def _remove(path: Path, folder: Path) -> None:
    """Remove the copy of an object, and the folders that were there for it alone."""
    if path.is_dir():  # the name stood for a folder
        return
    try:
        path.unlink(missing_ok=True)
    except NotADirectoryError:  # what is above it was an object, and goes as that
        return
    with suppress(OSError):
        for above in path.relative_to(folder).parents[:-1]:
            (folder / above).rmdir()


def _folder_of(address: str) -> Path:
    """Return the folder of a copy; of two addresses that would share one, the second's name has a digest, too."""
    folder = corpora_settings().home / "mirrors" / re.sub(r"[^\w.-]+", "-", address)
    try:
        ours = (folder / _OF).read_text(encoding="utf-8") == address
    except FileNotFoundError:
        ours = True
    return folder if ours else folder.with_name(f"{folder.name}-{hashlib.sha256(address.encode()).hexdigest()[:8]}")


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and not set(name) & {"\0", "\\"} and name not in _NOTES
