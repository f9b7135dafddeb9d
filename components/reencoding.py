"""Encode libraries again for a new encoder: which ones, for how long, and the work itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ragweave.components.indexing import aindex
from ragweave.models.settings import settings_with, using

if TYPE_CHECKING:
    from ragweave.corpora.ingest.events import Event
    from ragweave.corpora.store.libraries import LibraryRow

_TRIED = 16
"""Items to encode to measure the speed."""


async def apart(values: Mapping[str, str]) -> list[tuple[str, int, float]]:
    """Return the libraries that an encoder cannot search yet: name, items, and seconds to encode them again.

    `values` are the variables of the encoder; an empty RAGWEAVE_EMBED is the one that ships.
    """
    with using(settings_with(values)):
        return await asyncio.to_thread(_apart, _setting(values))


async def reencode(
    library: str, values: Mapping[str, str], on_event: Callable[[Event], None] | None = None
) -> None:
    """Encode the stored text of a library again; its old vectors serve until that is done."""
    with using(settings_with(values)):
        await aindex([], library, on_event=on_event, encoder=_setting(values))


async def heard_seconds() -> float:
    """Return the length of all recordings of the libraries, in seconds."""

    def total() -> float:
        from ragweave.corpora.store.stores import stores

        seconds = 0.0
        for library in libraries():
            for recording in stores().catalog.recordings(library.id):
                seconds += recording.end
        return seconds

    return await asyncio.to_thread(total)


def libraries() -> list[LibraryRow]:
    """Return the readable libraries."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.stores import stores

    if not corpora_settings().home.is_dir():  # a scan would create it
        return []
    return stores().catalog.scan()[0]


def english() -> bool:
    """Return whether the libraries are mostly English, or empty."""
    from ragweave.corpora.store.stores import stores

    in_english = 0
    total = 0
    for library in libraries():
        counts = stores().catalog.languages(library.id)
        in_english += counts.get("en", 0)
        total += sum(counts.values())
    return in_english * 2 >= total


def _setting(values: Mapping[str, str]) -> str:
    return values["RAGWEAVE_EMBED"] or "wordllama"


def _apart(setting: str) -> list[tuple[str, int, float]]:
    from ragweave.corpora.store.stores import stores
    from ragweave.models.embed import encoder

    new = encoder(setting)
    catalog = stores().catalog
    found: list[tuple[str, int, float]] = []
    for library in libraries():
        if library.encoder == new.name:
            continue
        count = sum(catalog.counts(library.id).values())
        page = next(catalog.pages(library.id, "paragraph", _TRIED), [])
        texts = [item.text for item in page]
        new.texts(texts[:1])  # the first call also loads the model
        began = time.perf_counter()
        new.texts(texts)
        seconds = time.perf_counter() - began
        found.append((library.name, count, seconds * count / max(1, len(page))))
    return found
