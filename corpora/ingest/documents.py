"""Documents of LangChain loaders as sources: their text is written into files, which are indexed."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from ragweave.corpora.settings import corpora_settings
from ragweave.corpora.store.folders import folder_of
from ragweave.corpora.store.library import create_library, open_library
from ragweave.models.errors import InputError, LibraryNotFound

if TYPE_CHECKING:
    from langchain_core.documents import Document

_NAME = 80
"""Characters of a file's name."""
_LOADED = "give what a loader's `load()` returns"


async def kept(documents: Sequence[Document], library: str) -> list[Path]:
    """Write documents into the library's own folder and return the files; create a missing library.

    Documents of one `source` in their metadata are one file, in their order: loaders give a document for each
    page. One that is written again with other text is the same source, changed; a document without a source
    is its text.

    Raises:
        InputError: one is no document, or there is no text in any of them.
        LibraryError: the library cannot be made or opened.
    """
    texts: dict[str, list[str]] = {}
    for one in documents:
        if not isinstance(getattr(one, "page_content", None), str):
            raise InputError(f"a document is a {type(one).__name__}", _LOADED)
        text = one.page_content.strip()
        if text:
            source = str(one.metadata.get("source") or f"{_digest(text)}.txt")
            texts.setdefault(source, []).append(text)
    if not texts:
        raise InputError("the documents hold no text", _LOADED)
    try:
        opened = await open_library(library)
    except LibraryNotFound:
        await create_library(library)
        opened = await open_library(library)
    folder = folder_of(Path(corpora_settings().home), opened.id) / "documents"
    return [
        await asyncio.to_thread(_write, folder / _digest(source), source, parts)
        for source, parts in texts.items()
    ]


def _write(folder: Path, source: str, parts: Sequence[str]) -> Path:
    last = PurePath(source.replace("\\", "/").rstrip("/"))
    name = ""
    for c in last.stem:
        name += c if c.isalnum() or c in " -_" else " "
    ending = ".md" if last.suffix.lower() in (".md", ".markdown") else ".txt"
    path = folder / f"{' '.join(name.split())[:_NAME] or 'document'}{ending}"
    text = "\n\n".join(parts) + "\n"
    if path.is_file() and path.read_bytes() == text.encode("utf-8", "replace"):
        return path  # and its date stays
    folder.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".part")
    aside.write_text(text, encoding="utf-8", errors="replace")
    os.replace(aside, path)
    return path


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
