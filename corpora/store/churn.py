"""Indexes in which deleted vectors take more room than living ones.

Chroma's index never uses the place of a deleted vector again: a folder that is edited every day fills it with the
dead, and every question walks past them, slower and in the end without reaching all that lives. Written anew, the
index holds the living alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.stores import Stores
from ragweave.corpora.store.torn import places
from ragweave.corpora.store.vectors import name_of, visual_space
from ragweave.corpora.types import CORPORA
from ragweave.models.errors import LibraryError

LEAST = 1_000
"""Dead places that are never worth the work; Chroma writes an index, and so its count, after as many changes."""

_NAMES = """
import json, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], timeout=60)
print(json.dumps(connection.execute("SELECT s.id, c.name FROM collections c JOIN segments s ON s.collection = c.id")
    .fetchall()))
"""
"""Run in a process of its own: a file of Chroma that this one closes would take Chroma's locks with it."""


def churned(held: Stores, row: LibraryRow, folder: Path) -> bool:
    """Whether an index of a library has more dead places than living vectors, and more than `LEAST`.

    Args:
        held: the stores.
        row: the library.
        folder: where Chroma's files lie.
    """
    taken = {segment: count for segment, count in places(folder).items() if count > LEAST}
    if not taken:
        return False
    named = _named(folder, taken)
    seen = held.vectors.image_encoders(row.id, row.space, row.generation)
    for space in (row.space, *(visual_space(encoder, row.space) for encoder in seen)):
        for corpus in CORPORA:
            count = named.get(name_of(row.id, corpus, space), 0)
            if count > LEAST:
                living = held.vectors.count(row.id, corpus, space, row.generation)
                if count - living > max(LEAST, living):
                    return True
    return False


def _named(folder: Path, taken: Mapping[str, int]) -> dict[str, int]:
    """Return the places that each collection has taken, by its name."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _NAMES, str(folder / "chroma.sqlite3")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode:
        raise LibraryError(
            f"The vector store cannot be read ({done.stderr.strip().rpartition(chr(10))[2]})",
            "check the free space and permissions of RAGWEAVE_HOME",
        )
    return {name: taken[segment] for segment, name in json.loads(done.stdout) if segment in taken}
