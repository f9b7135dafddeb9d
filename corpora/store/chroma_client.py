"""Open a Chroma folder; chromadb is imported only when a client is opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def client_of(folder: str | Path) -> Any:
    """Return a client of a folder."""
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
