"""Index passages of JSONL files with the real pipeline, and keep the library until its source changes."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import Library, open_library
from ragweave.models.errors import InputError
from ragweave.models.settings import model_settings


@dataclass(frozen=True)
class PreparedLibrary:
    """An indexed evaluation library.

    `passage` has the passage id by the name of the file that it was written to; `first` the id of the first
    passage with the same words, if there are several.
    """

    library: Library
    passage: Mapping[str, str]
    first: Mapping[str, str] = field(default_factory=dict)

    def id_of(self, file: str) -> str:
        """Return the passage id of a cited file."""
        return self.passage.get(Path(file).name, "")

    def first_of(self, id: str) -> str:
        """Return the id that counts for a passage: passages with the same words are one."""
        return self.first.get(id, id)


def use_home(folder: Path) -> None:
    """Keep evaluation libraries apart from the user's own home."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["RAGWEAVE_HOME"] = str(folder)
    model_settings.cache_clear()  # the log was set up by them


async def indexed(folder: Path, name: str) -> Library:
    """Index a folder, or what has changed in it since the last run, and open the library.

    Raises:
        InputError: the library is empty, for instance because an ignore file leaves the folder out.
    """
    await index([folder], name)
    library = await open_library(name)
    if not await library.sources():
        remedy = "if an ignore file leaves it out, give another folder by --work"
        raise InputError(f"nothing was indexed of {folder}", remedy)
    return library


async def prepare(rows: Iterable[Mapping[str, Any]], name: str, work: Path) -> PreparedLibrary:
    """Write passages (`id`, `title`, `text`) as one Markdown file each, index them, and return the library.

    A hash of the passages completes the name of the library; what lies in `work` is reused while they stay
    the same.

    Raises:
        InputError: no passage was indexed, because `work` lies where an ignore file leaves everything out.
    """
    passages = list(rows)
    text = json.dumps(list(map(dict, passages)), sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:10]
    folder = work / f"{name}-{digest}"
    names = {}
    for n, passage in enumerate(passages):
        names[f"{n:06d}.md"] = str(passage["id"])
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "files").mkdir(parents=True)
        for file, p in zip(names, passages, strict=True):
            (folder / "files" / file).write_text(f"# {p['title']}\n\n{p['text']}\n", encoding="utf-8")
        await indexed(folder / "files", folder.name)
        (folder / "done").touch()
    return PreparedLibrary(await open_library(folder.name), names, _repeated(passages))


def _repeated(passages: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the id of the first passage with the same words, for each later one."""
    of_words: dict[tuple[str, str], str] = {}
    first = {}
    for passage in passages:
        id = str(passage["id"])
        first[id] = of_words.setdefault((passage["title"], passage["text"]), id)
    repeated = {}
    for id, other in first.items():
        if id != other:
            repeated[id] = other
    return repeated
