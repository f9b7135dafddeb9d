"""Files as the catalog knows them: how they looked from outside, and the digest of their bytes."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import select

from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.prepared import source_id
from ragweave.corpora.store.schema import paths, sources
from ragweave.models.errors import SourceError

_SETTLED = 2.0
"""Seconds; a file that changed shortly before it was read may have changed again within a clock tick."""


@dataclass(frozen=True, slots=True)
class Stat:
    """What a file looked like from outside when its bytes were read."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    checked_at: float

    @classmethod
    def of(cls, path: str) -> Stat:
        """Look at a file; `checked_at` is the time before the look."""
        at = time.time()
        found = os.stat(path)
        return cls(
            found.st_size, _signed(found.st_mtime_ns), _signed(found.st_ctime_ns), _signed(found.st_ino), at
        )

    def same(self, other: Stat) -> bool:
        """Whether both looks saw the same file in the same state."""
        return replace(self, checked_at=other.checked_at) == other


def _signed(number: int) -> int:
    """Fold a number into 64 bits; times after 2262 and inodes of network drives can have more."""
    return (number + 2**63) % 2**64 - 2**63


@dataclass(frozen=True, slots=True)
class File:
    """A file with the identity of its bytes.

    `params` are those that a recording is read with; "" for all others, which have those of the run.
    """

    path: str
    source: str
    sha256: str
    stat: Stat
    params: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """A path as the catalog has it."""

    source: str
    status: str
    params_hash: str
    stat: Stat
    kind: str = ""
    sha256: str = ""
    named: str = ""

    def unchanged(self, stat: Stat, params: str) -> bool:
        """Whether the file need not even be hashed.

        Size, both times and inode must be equal, and the last change must lie well before the bytes were last
        read: a later change then cannot have left all four as they were, because no program can set the
        change time.
        """
        settled = max(self.stat.mtime_ns, self.stat.ctime_ns) / 1e9 + _SETTLED < self.stat.checked_at
        return self.status != "failed" and self.params_hash == params and settled and self.stat.same(stat)


def known_paths(catalog: Catalog, library: str) -> dict[str, Known]:
    """Return every path of a library."""
    about = (sources.c.status, sources.c.params_hash, sources.c.kind, sources.c.sha256, sources.c.named)
    query = select(paths, *about).join(sources, sources.c.id == paths.c.source)
    found: dict[str, Known] = {}
    with catalog.reading(library) as connection:
        for row in connection.execute(query):
            stat = Stat(row.size, row.mtime_ns, row.ctime_ns, row.inode, row.checked_at)
            found[row.path] = Known(
                row.source, row.status, row.params_hash, stat, row.kind, row.sha256, row.named
            )
    return found


def renamed(known: Mapping[str, Known]) -> dict[str, str]:
    """Return the sources whose title is a file name other than that of their first path, by that path."""
    first: dict[str, str] = {}
    for path in sorted(known):
        first.setdefault(known[path].source, path)
    found: dict[str, str] = {}
    for source, p in first.items():
        if known[p].named not in ("", Path(p).stem):
            found[p] = source
    return found


def identify(path: str, params: str, max_mb: int, *, grows: bool = False) -> File:
    """Hash a file.

    Of a file that `grows`, what it held at first is what counts.

    Raises:
        SourceError: it cannot be read, is too large, or changed meanwhile.
    """
    try:
        before = Stat.of(path)
        if before.size > max_mb * 2**20:
            remedy = "leave it out" if grows else "raise RAGWEAVE_MAX_FILE_MB, or leave it out"
            raise SourceError(f"It is larger than {max_mb} MiB", remedy)
        digest = digest_of(path, before.size)
        if not grows:
            check_unchanged(path, before)
    except OSError as error:
        raise SourceError(
            f"It cannot be read ({error.strerror})", "check the file and its permissions"
        ) from error
    return File(path, source_id(digest, params), digest, before, params if grows else "")


def digest_of(path: str, size: int) -> str:
    """Return the digest of the first bytes of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while size:
            block = file.read(min(size, 1 << 20))
            if not block:
                break
            digest.update(block)
            size -= len(block)
    return digest.hexdigest()


def check_unchanged(path: str, stat: Stat, begins: str = "") -> None:
    """Raise where a file is no longer what `stat` saw.

    `begins` is the digest of the bytes that it then had: more may have come since; "" allows no change.

    Raises:
        SourceError: it changed or vanished.
    """
    try:
        now = Stat.of(path)
        same = now.same(stat) or (
            bool(begins) and now.size > stat.size and digest_of(path, stat.size) == begins
        )
    except OSError:
        same = False
    if not same:
        raise SourceError("It changed while it was read", "index again when it is at rest")
