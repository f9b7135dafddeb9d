"""Pages that a search engine names by address and snippet, opened and read within limits."""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ragweave.corpora.formats import parse
from ragweave.corpora.formats.probe import probe
from ragweave.corpora.web.fetch import fetched
from ragweave.corpora.web.types import WebPage, now
from ragweave.models.errors import RagweaveError, SourceError
from ragweave.models.text import counted

logger = logging.getLogger(__name__)

SECONDS = 6.0
"""Longest time for all pages of a search, which are opened side by side."""
BYTES = 2 << 20
"""Bytes that a page may have."""
_READ = (".html", ".txt", ".md")
"""Files that are read; a PDF of a stranger takes too long while somebody waits."""


async def opened(pages: Sequence[WebPage]) -> tuple[list[WebPage], list[str]]:
    """Return pages with their main text, and a note if some keep their snippet alone.

    Each is requested once, without cookies, from the public web only (`fetch`). A page that does not answer
    in time, is too large or is no text keeps the snippet of the search engine.
    """
    read = await asyncio.gather(*map(_opened, pages))
    missed = read.count(None)
    notes: list[str] = []
    if missed:
        notes.append(
            f"{missed} of {counted(len(pages), 'page')} of the web could not be opened: only what the search"
            " engine says of them was read."
        )
    return [page or before for page, before in zip(read, pages, strict=True)], notes


async def _opened(page: WebPage) -> WebPage | None:
    """Return a page with its text, None if it cannot be had."""
    try:
        name, data = await fetched(page.url, SECONDS, BYTES)
        text = await asyncio.to_thread(_text, name, data)
    except RagweaveError as error:
        logger.info("%s was not opened: %s", page.url, error)
        return None
    return replace(page, text=text, fetched=now()) if len(text) > len(page.snippet) else None


def _text(name: str, data: bytes) -> str:
    """Return the main text of a page, read as a file of the library is.

    Raises:
        SourceError: it is no page, or cannot be read.
    """
    ending = Path(name).suffix
    if ending not in _READ:
        raise SourceError(f"{ending} is not read while somebody waits", "add it as a source")
    with tempfile.TemporaryDirectory(prefix="ragweave-") as folder:
        path = Path(folder) / f"page{ending}"
        path.write_bytes(data)
        parsed = parse(path, probe(path))
    return parsed.text
