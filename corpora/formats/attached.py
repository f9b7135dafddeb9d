"""Files inside another file, read as if they lay beside it: what is attached to a mail."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from ragweave.corpora.blocks import Block
from ragweave.models.errors import SourceError

MOST = 20
"""Attachments of one mail that are read; the others are named."""
MOST_BYTES = 32 * 2**20
"""Bytes of all of them together."""


def opened(files: Sequence[tuple[str, bytes]]) -> tuple[list[Block], tuple[str, ...]]:
    """Return the blocks of the files, each under a heading with its name, and what could not be read.

    Places inside a file that lies inside another would point nowhere, and are dropped.

    Args:
        files: name and content of each.
    """
    blocks: list[Block] = []
    warnings: list[str] = []
    size = 0
    for n, (name, data) in enumerate(files):
        title = " ".join(name.split()) or f"attachment {n + 1}"
        size += len(data)
        if n == MOST or size > MOST_BYTES:
            warnings.append(
                f"{len(files) - n} attachments from {title} on were not read, there are too many or too large"
            )
            break
        try:
            found = _read(_safe(title), data)
        except SourceError as error:
            warnings.append(f"the attachment {title} was not read: {error.what}")
            continue
        blocks.append(Block(title, "heading", 1))
        blocks += found
    return blocks, tuple(warnings)


def _read(name: str, data: bytes) -> list[Block]:
    from ragweave.corpora.formats import parse
    from ragweave.corpora.ingest.probe import PICTURE, probe

    with tempfile.TemporaryDirectory(prefix="ragweave-") as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        kind = probe(path)
        if kind == PICTURE:
            raise SourceError("it is a picture", "save it as a file")
        if kind == "eml":
            raise SourceError("it is a mail of its own", "save it as a file")
        return [
            Block(b.text, b.kind, min(b.level + 1, 6) if b.kind == "heading" else b.level)
            for b in parse(path, kind).blocks
        ]


def _safe(name: str) -> str:
    """Return a name for a file of ours: the last part, without anything but letters, digits and a few marks."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return re.sub(r"[^\w. -]", "_", last)[-80:].lstrip(". -") or "attachment"
