"""Encode a library again, with a progress bar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragweave.app.commands.common import console
from ragweave.app.places import clean

if TYPE_CHECKING:
    from ragweave.corpora.ingest.events import Event


async def reencode_with_bar(library: str, values: Mapping[str, str]) -> None:
    """Encode a library again with the encoder of the given settings; the old vectors serve until then."""
    from rich.progress import Progress

    from ragweave.components.reencoding import reencode

    with Progress(console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"Encoding {clean(library)} again", total=None)

        def show(event: Event) -> None:
            if event.kind == "reembedded":
                bar.update(task, completed=event.done, total=event.total)

        await reencode(library, values, show)
