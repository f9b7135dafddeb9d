"""Index files of Chroma that a kill left half-written, recognised before Chroma opens them.

Chroma writes the files of an index one after the other over the old ones. A process that is killed in between leaves
files that do not belong together, and loading those takes whatever memory the torn numbers say: all of it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

TORN = "The vectors were left half-written by a process that was killed"
MEND = "`ragweave doctor --repair` makes them again, and so does the next `ragweave index`"

_HEADER = struct.Struct("<iQQQQ")
"""Version, offset, most elements, elements, bytes of an element: how `header.bin` of Chroma's hnswlib begins."""
_HEADER_BYTES = 100
_SIZE = struct.Struct("<I")


def torn(folder: Path) -> list[Path]:
    """Return the index folders below Chroma's folder whose files do not belong together."""
    return [path for path in _indexes(folder) if not _whole(path)]


def places(folder: Path) -> dict[str, int]:
    """Return how many vectors, deleted ones as well, each index folder held when Chroma last wrote it."""
    return {path.name: _HEADER.unpack_from((path / "header.bin").read_bytes())[3] for path in _indexes(folder)}


def collections_of(folder: Path, indexes: Sequence[Path]) -> list[str]:
    """Return the names of the collections that these index folders belong to."""
    query = "SELECT c.name FROM collections c JOIN segments s ON s.collection = c.id WHERE s.id = ?"
    with closing(sqlite3.connect(folder / "chroma.sqlite3", timeout=60)) as connection:
        return [row[0] for path in indexes for row in connection.execute(query, (path.name,))]


def clear(indexes: Sequence[Path]) -> None:
    """Remove index folders."""
    for path in indexes:
        shutil.rmtree(path)


def _indexes(folder: Path) -> list[Path]:
    """Return the folders below Chroma's folder in which an index was written."""
    try:
        with os.scandir(folder) as found:
            inside = sorted(Path(e.path) for e in found if e.is_dir(follow_symlinks=False))
    except FileNotFoundError:
        return []
    return [path for path in inside if (path / "header.bin").exists()]


def _whole(index: Path) -> bool:
    try:
        header = (index / "header.bin").read_bytes()
        _, _, most, count, width = _HEADER.unpack_from(header)
        links = (index / "link_lists.bin").read_bytes()
        data = (index / "data_level0.bin").stat().st_size
        lengths = (index / "length.bin").stat().st_size
    except (OSError, struct.error):
        return False
    # A new index has room for `most` elements in its files, a later one is cut to those it holds.
    if (
        len(header) < _HEADER_BYTES
        or count > most
        or data not in (count * width, most * width)
        or lengths not in (4 * count, 4 * most)
    ):
        return False
    at = 0
    for _ in range(count):
        if at + _SIZE.size > len(links):
            return False
        at += _SIZE.size + _SIZE.unpack_from(links, at)[0]
    return at == len(links)
