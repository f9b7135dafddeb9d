"""What Chroma needs around it: its own errors in words, and its shared clients let go."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ragweave.models.errors import LibraryError

logger = logging.getLogger(__name__)

BATCH = 5_000
"""Rows of one call; Chroma refuses more than 5,461."""


def forget_system(folder: str) -> Any:
    """Take our system out of those that Chroma shares within a process; a program's own clients keep theirs."""
    from chromadb.api.shared_system_client import SharedSystemClient

    SharedSystemClient._identifier_to_refcount.pop(folder, None)
    return SharedSystemClient._identifier_to_system.pop(folder, None)


@contextmanager
def as_library_error(verb: str) -> Iterator[None]:
    """Turn what Chroma raises into a sentence; `verb` is what could not be done to the vector store."""
    try:
        yield
    except LibraryError:
        raise
    except Exception as error:  # Chroma raises ValueError, its own errors and those of its Rust core alike
        logger.debug("chroma", exc_info=True)
        raise LibraryError(
            f"The vector store cannot be {verb} ({error})",
            "check RAGWEAVE_CHROMA_URL or the free space and permissions of RAGWEAVE_HOME",
        ) from error


def remove(collection: Any, ids: Sequence[str]) -> None:
    """Remove vectors from a collection by their ids."""
    for start in range(0, len(ids), BATCH):
        collection.delete(ids=list(ids[start : start + BATCH]))


def remove_sources(collection: Any, sources: Sequence[str], kept: Callable[[str], bool]) -> None:
    """Remove the vectors of sources from a collection, but those whose ids are to be kept."""
    stored = collection.get(where={"source": {"$in": list(sources)}}, include=[])["ids"]
    remove(collection, [id_ for id_ in stored if not kept(id_)])
