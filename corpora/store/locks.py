"""Locks between processes: one writer per library, and one change of the names of libraries at a time.

Both are locks of the operating system, which frees them when their holder ends, however it ends: a lock file
that was left behind is not a held lock.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store import postgres
from ragweave.corpora.store.folders import unwritable
from ragweave.corpora.store.private import make_home
from ragweave.models.errors import LibraryError

_WAIT = 120.0
"""Seconds; a change of names takes no time."""


@contextmanager
def writer(
    library: str, name: str, wait: float | None = None, on_wait: Callable[[str], None] = lambda holder: None
) -> Iterator[None]:
    """Hold the writer lock of a library, `wait` seconds long waited for; None takes the setting.

    Raises:
        LibraryError: the lock was not free in time; names its holder.
    """
    settings = corpora_settings()
    patience = settings.lock_wait if wait is None else wait
    what = f"The library {name!r} is being written by"
    with _shared(settings.home, library, patience, what, "wait until it has finished, or stop it", on_wait):
        yield


@contextmanager
def _shared(
    home: Path,
    name: str,
    wait: float,
    what: str,
    remedy: str,
    on_wait: Callable[[str], None] = lambda holder: None,
) -> Iterator[None]:
    """Hold a lock among all who share the catalogs: those of a database, or of a home."""
    url = corpora_settings().database
    if not url:
        with held(home, name, wait, what, remedy, on_wait):
            yield
        return
    with postgres.server(url).lock(name, wait, on_wait) as other:
        if other:
            raise LibraryError(f"{what} {other}", remedy)
        yield


@contextmanager
def held(
    home: Path,
    name: str,
    wait: float,
    what: str,
    remedy: str,
    on_wait: Callable[[str], None] = lambda holder: None,
) -> Iterator[None]:
    """Hold a lock of a home, and note its holder; `what` begins the error of a lock that is not free."""
    folder = _folder(home)
    # A lock object per caller: two threads of one process exclude each other like two processes.
    lock, note = FileLock(folder / f"{name}.lock", mode=0o600, thread_local=False), folder / f"{name}.json"
    try:
        lock.acquire(timeout=0)
    except Timeout:
        on_wait(holder(note))
        try:
            lock.acquire(timeout=wait, poll_interval=0.05)
        except Timeout as error:
            raise LibraryError(f"{what} {holder(note)}", remedy) from error
    try:
        with suppress(OSError):  # the note is for the messages of others; a full disk is met where it matters
            note.write_text(json.dumps({"pid": os.getpid(), "since": time.time()}), encoding="utf-8")
        yield
    finally:
        with suppress(OSError):
            note.unlink(missing_ok=True)
        lock.release()


@contextmanager
def owned(home: Path, name: str) -> Iterator[None]:
    """Hold a lock that only one process takes, to show that it is alive; remove its file afterwards."""
    with held(home, name, 0, f"{name} is held by", "try again"):
        yield
    is_held(home, name)


def is_held(home: Path, name: str) -> bool:
    """Tell whether a process holds the lock of `owned`; remove the file of one that has ended."""
    left = _folder(home) / f"{name}.lock"
    lock = FileLock(left, mode=0o600)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    for path in (left, left.with_suffix(".json")):
        path.unlink(missing_ok=True)
    lock.release()
    return False


def holder(note: Path) -> str:
    """Return in words who holds the lock that `note` belongs to."""
    try:
        held = json.loads(note.read_text(encoding="utf-8"))
        return (
            f"process {int(held['pid'])}, since"
            f" {time.strftime('%H:%M:%S', time.localtime(float(held['since'])))}"
        )
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


@contextmanager
def names(home: Path) -> Iterator[None]:
    """Hold the names of the libraries: one is given to one library."""
    with _shared(home, "names", _WAIT, "The libraries are held by", "stop the process that hangs"):
        yield


def _folder(home: Path) -> Path:
    path = home / "locks"
    try:
        make_home(home)
        path.mkdir(exist_ok=True)
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise unwritable(path, error) from error
    return path
