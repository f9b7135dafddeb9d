"""What a run of index works on: its roots, its library, and the sources to read again."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ragweave.corpora.images.links import state_of
from ragweave.corpora.images.reader import further
from ragweave.corpora.store import ledger
from ragweave.corpora.store.catalog import Catalog, LibraryRow
from ragweave.corpora.store.files import Known
from ragweave.corpora.video.intake import RECORDINGS
from ragweave.models.embed import Encoder
from ragweave.models.errors import InputError, LibraryError, LibraryNotFound


def roots_of(paths: Sequence[Path]) -> list[Path]:
    """Return the files and folders to read, as absolute paths.

    Raises:
        InputError: a path does not exist, or none is given.
    """
    roots = [Path(os.path.abspath(Path(path).expanduser())) for path in paths]
    for root in roots:
        if not os.path.lexists(root):
            raise InputError(f"There is no file or folder at {root}", "check the path")
    if not roots:
        raise InputError("No file or folder was given", "name at least one")
    return roots


def open_or_create(catalog: Catalog, name: str, text_encoder: Encoder) -> LibraryRow:
    """Return the library of a name; create it if it is missing, even if another process does so at once."""
    with suppress(LibraryNotFound):
        return catalog.library(name)
    try:
        return catalog.create(name, text_encoder.name, text_encoder.dim)
    except LibraryError:
        # Another process may have created it since.
        with suppress(LibraryNotFound):
            return catalog.library(name)
        raise


def incomplete(catalog: Catalog, library: str, ocr_seconds: float) -> set[str]:
    """Return the sources with pictures still to read, or with links to pictures that have changed."""
    with catalog.reading(library) as connection:
        rows = ledger.pictures(connection)
    now: dict[tuple[str, str], str] = {}
    found = set()
    for source, link, before in rows:
        if not link:
            stale = further(before, ocr_seconds)
        else:
            if (link, before) not in now:
                now[link, before] = state_of(link, before)
            stale = now[link, before] != before
        if stale:
            found.add(source)
    return found


def usable_sources(known: Mapping[str, Known], again: Container[str], params: str) -> set[str]:
    """Return the sources that the library holds and that need not be read again."""
    found = set()
    for each in known.values():
        if each.status == "failed" or each.source in again:
            continue
        if each.kind in RECORDINGS or each.params_hash == params:
            found.add(each.source)
    return found
