"""What has changed on disk since the catalog last looked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ragweave.corpora.images.links import state_of
from ragweave.corpora.images.reader import further
from ragweave.corpora.store import ledger
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.files import Known


def incomplete(catalog: Catalog, library: str, ocr_seconds: float) -> set[str]:
    """Return the sources whose pictures would be read further now, or that link to pictures that have changed.

    Args:
        catalog: the catalog.
        library: id of the library.
        ocr_seconds: time that reading the words in one file may take.
    """
    with catalog.engine(library).begin() as connection:
        rows = ledger.pictures(connection, library)
    now: dict[tuple[str, str], str] = {}
    found = set()
    for source, link, before in rows:
        if link and (link, before) not in now:
            now[link, before] = state_of(link, before)
        if now[link, before] != before if link else further(before, ocr_seconds):
            found.add(source)
    return found


def vanished(known: Mapping[str, Known], found: Iterable[str], roots: Sequence[Path]) -> list[str]:
    """Return the known paths under `roots` that are gone or now left out.

    What merely cannot be looked at (a folder without permission, a drive that is away) stays.
    """
    present = set(found)
    anchors = [os.path.abspath(root) for root in roots if os.path.lexists(root)]
    gone = []
    for path in known:
        if path not in present and any(path == a or path.startswith(a.rstrip(os.sep) + os.sep) for a in anchors):
            try:
                os.lstat(path)
            except (FileNotFoundError, NotADirectoryError):
                pass
            except OSError:
                continue
            gone.append(path)
    return gone
