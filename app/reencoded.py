"""Libraries and their encoder: which have another one, how long to encode them again takes, and doing it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from ragweave.app import api
from ragweave.app.commands.common import console
from ragweave.app.places import clean

if TYPE_CHECKING:
    from ragweave.corpora.ingest.events import Event
    from ragweave.corpora.store.libraries import LibraryRow

_TRIED = 16
"""Items that are encoded to learn the pace."""


async def apart(setting: str) -> list[tuple[str, int, float]]:
    """Return the libraries that an encoder cannot search yet: name, items, and seconds to encode them again."""
    return await asyncio.to_thread(_apart, setting)


def _apart(setting: str) -> list[tuple[str, int, float]]:
    from ragweave.corpora.store.stores import stores
    from ragweave.models.embed import encoder

    made, held = encoder(setting), stores()
    found: list[tuple[str, int, float]] = []
    for row in (row for row in _libraries() if row.encoder != made.name):
        count = sum(held.catalog.counts(row.id).values())
        page = next(held.catalog.pages(row.id, "paragraph", _TRIED), [])
        made.texts([item.text for item in page[:1]])  # the first call also loads
        began = time.perf_counter()
        made.texts([item.text for item in page])
        found.append((row.name, count, (time.perf_counter() - began) * count / max(1, len(page))))
    return found


def english() -> bool:
    """Say whether what the libraries hold is mostly English, or there is none."""
    from ragweave.corpora.store.stores import stores

    languages = [stores().catalog.languages(row.id) for row in _libraries()]
    return sum(row.get("en", 0) for row in languages) * 2 >= sum(sum(row.values()) for row in languages)


def _libraries() -> list[LibraryRow]:
    from ragweave.corpora.settings import corpora_settings
    from ragweave.corpora.store.stores import stores

    # Listing would make the home.
    return stores().catalog.scan()[0] if corpora_settings().home.is_dir() else []


async def reencode(library: str, setting: str) -> None:
    """Give a library the vectors of another encoder, of its stored text; the old ones serve until that is done."""
    from rich.progress import Progress

    with Progress(console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"Encoding {clean(library)} again", total=None)

        def told(event: Event) -> None:
            if event.kind == "reembedded":
                bar.update(task, completed=event.done, total=event.total)

        await api.aindex([], library, on_event=told, encoder=setting)
