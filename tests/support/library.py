"""A tiny library for tests, made by the real pipeline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from ragweave.corpora.ingest.run import Report, index


async def build_library(folder: Path, texts: Mapping[str, str], name: str = "default") -> Report:
    """Write `texts` (file name -> content) into `folder` and index it into the library `name`.

    Args:
        folder: an existing or new folder; files of the same name are overwritten.
        texts: contents by file name; the ending decides between text formats as it does for a person's own
            files.
        name: library to index into; the home is the one that RAGWEAVE_HOME names.
    """

    def write() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")

    await asyncio.to_thread(write)
    return await index([folder], name)
