"""Folders that belong to a process: held while it lives; the next process removes what a killed one leaves.

The lock is one of the operating system on the folder itself, which frees it when its holder ends, however it
ends.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ragweave.models.errors import LibraryError

try:
    import fcntl
except ImportError:  # a system without such locks; what was left behind there stays
    fcntl = None  # type: ignore[assignment]

_PREFIX = "ragweave-at-work-"
_UNHELD = ".ragweave-made-"
"""How a folder begins until it is held: no other process takes that for one that was left."""


@contextmanager
def temporary() -> Iterator[Path]:
    """Make a temporary folder and remove it at the end, with those of processes that were killed.

    Raises:
        LibraryError: none can be made.
    """
    try:
        made = Path(tempfile.mkdtemp(prefix=_UNHELD))
        for left in made.parent.glob(f"{_PREFIX}*"):
            if forsaken(left):
                shutil.rmtree(left, ignore_errors=True)
        held = hold(made)
        # From here on others see it, and see that it is held.
        folder = made.rename(made.with_name(_PREFIX + made.name.removeprefix(_UNHELD)))
    except OSError as error:
        what = f"No temporary folder can be made ({error.strerror or error})"
        raise LibraryError(what, "free some disk, or set TMPDIR to a folder that can be written") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def hold(folder: Path) -> int:
    """Hold a folder while this process lives; closing the returned descriptor releases it."""
    descriptor = os.open(folder, os.O_RDONLY)
    with suppress(OSError):  # a file system without such locks: no process takes it for forsaken there either
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
