"""The vectors of what was read: texts of several files go to the encoder together."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ragweave.corpora.store.blobs import Matrix
from ragweave.corpora.store.commit import FileOutcome
from ragweave.corpora.store.prepared import chunked
from ragweave.corpora.store.schema import in_parts

EMBED_BATCH = 512
"""Texts of one call of the encoder."""
_GATHERED = 0.05
"""Seconds for which texts gather before they are encoded: a call costs as much as a few of them."""


def gathered(read: queue.Queue[FileOutcome | None], stop: threading.Event) -> Iterator[list[FileOutcome]]:
    """Yield what was read in batches: a full call of the encoder, or what came in a moment; None ends it."""
    ended = False
    while not ended and not stop.is_set():
        batch: list[FileOutcome] = []
        count, waited = 0, False
        while count < EMBED_BATCH:
            try:
                outcome = read.get_nowait() if batch else read.get(timeout=0.2)
            except queue.Empty:
                if waited or not batch:
                    break
                time.sleep(_GATHERED)
                waited = True
                continue
            if outcome is None:
                ended = True
                break
            batch.append(outcome)
            count += sum(map(len, outcome.prepared.chunks)) if outcome.prepared is not None else 0
        if batch:
            yield batch


def embedded(batch: Sequence[FileOutcome], encode: Callable[[Sequence[str]], Matrix]) -> list[FileOutcome]:
    """Return what was read with the vectors of its chunks."""
    texts: list[str] = []
    ends = []
    for outcome in batch:
        if outcome.prepared is not None:
            texts += chunked(outcome.prepared.items, outcome.prepared.chunks).texts
        ends.append(len(texts))
    parts = [encode(some) for some in in_parts(texts, EMBED_BATCH)]
    vectors = np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)
    found = []
    start = 0
    for outcome, end in zip(batch, ends, strict=True):
        found.append(replace(outcome, vectors=vectors[start:end]))
        start = end
    return found
