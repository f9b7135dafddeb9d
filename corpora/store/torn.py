"""Index files of Chroma that a kill left half-written, recognised before Chroma opens them.

Chroma writes the files of an index one after the other over the old ones. A process that is killed in between leaves
files that do not belong together, and loading those takes whatever memory the torn numbers say: all of it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

TORN = "The vectors were left half-written by a process that was killed"
MEND = "`ragweave doctor --repair` makes them again, and so does the next `ragweave index`"

_HEADER = struct.Struct("<iQQQQ")
"""Version, offset, most elements, elements, bytes of an element: how `header.bin` of Chroma's hnswlib begins."""
_HEADER_BYTES = 100
_SIZE = struct.Struct("<I")

REST = 3.0
"""Seconds without a change after which half-written files count as left by a process that was killed."""


def torn(folder: Path) -> list[Path]:
    """Return the index folders below Chroma's folder whose files do not belong together, and are written by nobody.

    Chroma goes on writing after a change has returned, in this process and in others: files that changed a moment ago
    are looked at again.
    """
    while broken := [path for path in _indexes(folder) if not _whole(path)]:
        if all(_at_rest(path) for path in broken):
            break
        time.sleep(0.05)
    return broken


def places(folder: Path) -> dict[str, int]:
    """Return how many vectors, deleted ones as well, each index folder held when Chroma last wrote it."""
    return {path.name: _places(path) for path in _indexes(folder)}


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


def _at_rest(index: Path) -> bool:
    """Whether no file of an index has changed for a while; one that has just gone counts as changed."""
    try:
        changed = max(entry.stat().st_mtime for entry in index.iterdir())
    except (OSError, ValueError):
        return not index.exists()
    return not 0 <= time.time() - changed < REST


def _places(index: Path) -> int:
    """Return the elements of an index; 0 while its header is being written."""
    try:
        return int(_HEADER.unpack_from((index / "header.bin").read_bytes())[3])
    except (OSError, struct.error):
        return 0


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
