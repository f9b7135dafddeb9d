"""Notion: the zip file of a workspace or page as Markdown, read by LangChain's loader once it is unpacked."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.formats import markdown
from ragweave.corpora.loaders.exports import below, entries
from ragweave.models.failures import loading

_ID = re.compile(r"[ -][0-9a-f]{32}$")


def parse(path: Path) -> Parsed:
    """Read every page under a heading with its path; rows of a database are pages of their own."""
    with loading("Reading a Notion export", "loaders"):
        from langchain_community.document_loaders.notion import NotionDirectoryLoader

    blocks: list[Block] = []
    warnings: list[str] = []
    with tempfile.TemporaryDirectory(prefix="ragweave-") as folder:
        names: list[str] = []
        # Under names of ours: those of the export may be too long, or lead elsewhere.
        for name, data in _pages(path, Path(folder)):
            (Path(folder) / f"{len(names):06}.md").write_text(
                data.decode("utf-8", "replace"), encoding="utf-8"
            )
            names.append(name)
        pages: dict[str, str] = {}
        for page in NotionDirectoryLoader(folder).load():
            pages[Path(page.metadata["source"]).stem] = page.page_content
    for number, name in enumerate(names):
        found, _, noted = markdown.content(pages[f"{number:06}"])
        warnings += noted
        place: list[str] = []
        for part in PurePosixPath(name).with_suffix("").parts:
            if not part.startswith("Export-"):
                place.append(_ID.sub("", part))
        blocks.append(Block(" / ".join(place), "heading", 1))
        blocks += below([b for b in found if (b.kind, b.level, b.text) != ("heading", 1, place[-1])])
    return Parsed(blocks=tuple(blocks), warnings=tuple(dict.fromkeys(warnings)), parted=True)


def _pages(path: Path, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the pages of an export; a large one lies in zip files inside the one that is downloaded."""
    for name, data in entries(path, r"\.(?:md|zip)$"):
        if name.endswith(".md"):
            yield name, data
        elif data.startswith(b"PK\x03\x04"):
            inner = folder / "part"
            inner.write_bytes(data)
            yield from entries(inner, r"\.md$")
