"""One server per home: conversations and running answers belong to one process.

Libraries may be indexed, asked and removed by other processes meanwhile; their own locks see to that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.locks import holder, noted
from ragweave.models.errors import LibraryError


@contextmanager
def only_server() -> Iterator[None]:
    """Hold the lock of the one server of this home.

    Raises:
        LibraryError: another server holds it; names its process.
    """
    folder = corpora_settings().home / "locks"
    note = folder / "serve.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "serve.lock")
        lock.acquire(timeout=0)
    except Timeout:
        raise LibraryError(
            f"A server of this home runs already ({holder(note)})", "use or stop it, or give this one a RAGWEAVE_HOME"
        ) from None
    except OSError as error:
        raise LibraryError(
            f"The library folder {folder} cannot be written ({error.strerror})",
            "check RAGWEAVE_HOME and its permissions",
        ) from error
    with noted(lock, note):
        yield
