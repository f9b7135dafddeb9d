"""What a new encoder or recogniser costs the libraries: which it concerns, how long it takes, and doing it."""

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
"""Items that are encoded to learn the pace."""


async def apart(values: Mapping[str, str]) -> list[tuple[str, int, float]]:
    """Return the libraries that an encoder cannot search yet: name, items, and seconds to encode them again.

    `values` are the variables of the encoder; an empty RAGWEAVE_EMBED is the one that ships.
    """
    with using(settings_with(values)):
        return await asyncio.to_thread(_apart, _setting(values))


async def reencode(
    library: str, values: Mapping[str, str], on_event: Callable[[Event], None] | None = None
) -> None:
    """Give a library the vectors of another encoder, of its stored text; the old ones serve until that is done."""
    with using(settings_with(values)):
        await aindex([], library, on_event=on_event, encoder=_setting(values))


async def heard_seconds() -> float:
    """Return how many seconds of recordings the libraries hold."""

    def total() -> float:
        from ragweave.corpora.store.stores import stores

        return sum(row.end for library in libraries() for row in stores().catalog.recordings(library.id))

    return await asyncio.to_thread(total)


def libraries() -> list[LibraryRow]:
    """Return the libraries that can be read."""
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.stores import stores

    # Listing would make the home.
    return stores().catalog.scan()[0] if corpora_settings().home.is_dir() else []


def english() -> bool:
    """Say whether what the libraries hold is mostly English, or there is none."""
    from ragweave.corpora.store.stores import stores

    languages = [stores().catalog.languages(row.id) for row in libraries()]
    return sum(row.get("en", 0) for row in languages) * 2 >= sum(sum(row.values()) for row in languages)


def _setting(values: Mapping[str, str]) -> str:
    return values["RAGWEAVE_EMBED"] or "wordllama"


def _apart(setting: str) -> list[tuple[str, int, float]]:
    from ragweave.corpora.store.stores import stores
    from ragweave.models.embed import encoder

    made, held = encoder(setting), stores()
    found: list[tuple[str, int, float]] = []
    for row in (row for row in libraries() if row.encoder != made.name):
        count = sum(held.catalog.counts(row.id).values())
        page = next(held.catalog.pages(row.id, "paragraph", _TRIED), [])
        made.texts([item.text for item in page[:1]])  # the first call also loads
        began = time.perf_counter()
        made.texts([item.text for item in page])
        found.append((row.name, count, (time.perf_counter() - began) * count / max(1, len(page))))
    return found
