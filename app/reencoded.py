"""Encoding a library again, with a bar that shows how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragweave.app.commands.common import console
from ragweave.app.places import clean

if TYPE_CHECKING:
    from ragweave.corpora.ingest.events import Event


async def reencode_aloud(library: str, values: Mapping[str, str]) -> None:
    """Give a library the vectors of the encoder that variables name; the old ones serve until that is done."""
    from rich.progress import Progress

    from ragweave.components.reencoding import reencode

    with Progress(console=console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"Encoding {clean(library)} again", total=None)

        def told(event: Event) -> None:
            if event.kind == "reembedded":
                bar.update(task, completed=event.done, total=event.total)

        await reencode(library, values, told)
