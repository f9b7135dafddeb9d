"""The stores of this process: those of one home, opened once."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.catalog import Catalog, LibraryRow
from ragweave.corpora.store.lexical import Lexical
from ragweave.corpora.store.vectors import Vectors
from ragweave.models.errors import LibraryError


@dataclass(frozen=True, slots=True)
class Stores:
    """The stores of one home."""

    catalog: Catalog
    lexical: Lexical
    vectors: Vectors
    opened: dict[tuple[str, str], Any] = field(default_factory=dict)
    """The libraries (`library.Library`) that were opened, by name and encoder."""


_open: dict[tuple[str, str, str], Stores] = {}
_lock = threading.Lock()


def stores() -> Stores:
    """Return the stores that the settings name."""
    settings = corpora_settings()
    key = _key()
    with _lock:
        if key not in _open:
            catalog = Catalog(settings.home)
            vectors = Vectors(catalog, settings.home, settings if settings.chroma_url else None)
            _open[key] = Stores(catalog, Lexical(catalog), vectors)
        return _open[key]


def open_stores() -> Stores | None:
    """Return the stores that the settings name, where they are open."""
    return _open.get(_key())


def _key() -> tuple[str, str, str]:
    settings = corpora_settings()
    return str(settings.home), settings.database, settings.chroma_url


def close_stores() -> None:
    """Close every store; the next call of `stores` opens it again."""
    with _lock:
        for held in _open.values():
            held.vectors.close()
            held.catalog.close()
        _open.clear()


def stay() -> None:
    """Use the Chroma index from now on, even for small libraries: this process answers many questions."""
    Vectors.stays = True


def check_encoder(library: LibraryRow, encoder: str) -> None:
    """Refuse a library whose vectors another encoder made: distances between two encoders mean nothing.

    Raises:
        LibraryError: the encoders differ.
    """
    if library.encoder != encoder:
        named = "wordllama" if library.encoder.startswith("wordllama-") else library.encoder
        raise LibraryError(
            f"The library {library.name!r} was made with the encoder {library.encoder!r}, but {encoder!r}"
            " is set",
            f"set RAGWEAVE_EMBED={named}, or give the library that encoder: ragweave index --embed",
        )
