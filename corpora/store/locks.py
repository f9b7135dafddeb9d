"""Locks between processes: one writer per library, and one change of the names of libraries at a time.

Both are locks of the operating system, which frees them when their holder ends, however it ends: a lock file that was
left behind is not a held lock.
"""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from ragweave.corpora.store.folders import unwritable
from ragweave.models.errors import LibraryError

try:
    import fcntl
except ImportError:  # a system without them; what was left behind there stays
    fcntl = None  # type: ignore[assignment]

_WAIT = 120.0
"""Seconds; a change of names takes no time, the move of an old home a minute."""


@contextmanager
def writer(home: Path, library: str, name: str, wait: float, on_wait: Callable[[str], None]) -> Iterator[None]:
    """Hold the writer lock of a library.

    Raises:
        LibraryError: the lock was not free in time; names its holder.
    """
    folder = _folder(home / "locks")
    # A lock object per caller: two threads of one process exclude each other like two processes.
    lock = FileLock(folder / f"{library}.lock")
    note = folder / f"{library}.json"
    try:
        lock.acquire(timeout=0)
    except Timeout:
        on_wait(holder(note))
        try:
            lock.acquire(timeout=wait, poll_interval=0.05)
        except Timeout as error:
            raise LibraryError(
                f"The library {name!r} is being written by {holder(note)}", "wait until it has finished, or stop it"
            ) from error
    with noted(lock, note):
        yield


@contextmanager
def noted(lock: BaseFileLock, note: Path) -> Iterator[None]:
    """Say in `note` who holds a lock that was taken; release it at the end."""
    try:
        with suppress(OSError):  # the note is for the messages of others; a full disk is met where it matters
            note.write_text(json.dumps({"pid": os.getpid(), "since": time.time()}), encoding="utf-8")
        yield
    finally:
        with suppress(OSError):
            note.unlink(missing_ok=True)
        lock.release()


def holder(note: Path) -> str:
    """Return in words who holds the lock that `note` belongs to."""
    try:
        held = json.loads(note.read_text(encoding="utf-8"))
        return f"process {int(held['pid'])}, since {time.strftime('%H:%M:%S', time.localtime(float(held['since'])))}"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"


def hold(folder: Path) -> int:
    """Hold a folder while this process lives, as `forsaken` sees it; return the descriptor whose closing ends that."""
    descriptor = os.open(folder, os.O_RDONLY)
    with suppress(OSError):  # a file system without such locks: nobody takes it for forsaken there either
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def forsaken(folder: Path) -> bool:
    """Return whether the process that held a folder has surely ended."""
    if fcntl is None:
        return False
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)


@contextmanager
def names(home: Path) -> Iterator[None]:
    """Hold the names of the libraries: one is given to one library."""
    lock = FileLock(_folder(home / "locks") / "names.lock")
    try:
        lock.acquire(timeout=_WAIT, poll_interval=0.01)
    except Timeout as error:
        raise LibraryError("The libraries are held by another process", "stop the process that hangs") from error
    try:
        yield
    finally:
        lock.release()


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise unwritable(path, error) from error
    return path
