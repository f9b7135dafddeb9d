"""Build the knowledge graph after the index is committed, chunk by chunk; a killed run is resumed."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ragweave.corpora.chunks import Chunk, chunks_of
from ragweave.corpora.knowledge import store
from ragweave.corpora.knowledge.describe import describe
from ragweave.corpora.knowledge.facts import Entity, Extractor, Facts, facts_of
from ragweave.corpora.knowledge.unify import unify
from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store import ledger
from ragweave.corpora.store.blobs import CORPUS, entity_space
from ragweave.corpora.store.catalog import Catalog, LibraryRow
from ragweave.corpora.store.stores import Stores
from ragweave.models.embed import Encoder
from ragweave.models.errors import ModelTransient, RagweaveError
from ragweave.models.text import words

logger = logging.getLogger(__name__)

VERSION = 3
"""Raise it when the rules of extraction change: the next run then reads every chunk again."""
UNIFIED = 1
"""Raise it when the rules that join names change: the next run then compares the entities of every source."""
GIVE_UP = 3
"""Consecutive chunks for which the model cannot be reached; the rest waits for the next run."""

Tell = Callable[[int, int], None]
"""A callback for progress: number of chunks read, number of all chunks."""


Todo = tuple[Chunk, dict[str, str]]
"""A chunk to read, and the text of each of its items by id."""


def catch_up(
    held: Stores,
    row: LibraryRow,
    text_encoder: Encoder,
    settings: CorporaSettings,
    extractor: Extractor | None,
    stop: threading.Event,
    tell: Tell,
) -> tuple[int, str]:
    """Extract entities from the chunks that are not in the graph yet; the caller holds the writer lock.

    Each chunk is stored with its row in the ledger in one transaction, so a killed run repeats only the
    chunks in flight. Rows of removed or changed items are removed. Then names are joined, homonyms separated,
    and descriptions of one entity merged.

    Returns:
        The number of chunks read now, and a sentence about what could not be done, or "".
    """
    if settings.entities == "off":
        return 0, ""
    if extractor is None:
        return 0, "entities were not extracted: RAGWEAVE_ENTITIES is llm, and no chat model is configured"
    params = _params(extractor.name)
    todo, finished = _todo(held, row, params)
    reading = _Reading(extractor, stop)
    if todo:
        tell(0, len(todo))
        asyncio.run(_read_chunks(held, row, todo, params, reading, tell))
    not_unified = ""
    has_vectors = held.vectors.has(row.id, CORPUS, entity_space(row.encoder))
    if not stop.is_set() and (finished or not has_vectors):
        not_unified = unify(held, row, text_encoder, finished, extractor.same)
    # Sources are marked last: if a kill leaves them without their vectors, the next run completes them.
    if not (stop.is_set() or reading.failed or not_unified):
        _mark_whole(held, row, finished)
    not_merged = ""
    if extractor.merge is not None and not stop.is_set():
        not_merged = describe(held, row, extractor.merge)
    remarks = (reading.remark(len(todo)), not_unified, not_merged)
    return reading.read, "; ".join(filter(None, remarks))


def chunks_left(catalog: Catalog, library: str, reader: str) -> tuple[int, int]:
    """Return the number of chunks of a library's recordings, and of those that `reader` has not read.

    `reader` is the name of an extractor.
    """
    extracted = store.marked(catalog, library, store.EXTRACT)
    params = _params(reader)
    total = left = 0
    for source in store.contents(catalog, library):
        for chunk in chunks_of(catalog.items_of(library, source, CORPUS)):
            total += 1
            if extracted.get((source, chunk.id)) != params:
                left += 1
    return total, left


def _params(reader: str) -> str:
    """Return the digest of an extractor and of the rules by which its replies are read."""
    return hashlib.sha256(f"{VERSION} {reader}".encode()).hexdigest()[:16]


def _mark_whole(held: Stores, row: LibraryRow, finished: Mapping[str, str]) -> None:
    """Note that sources are completely in the graph, by their digests."""
    with held.catalog.writing(row.id) as connection:
        for source, digest in finished.items():
            ledger.mark(connection, source, store.WHOLE, digest)


def _todo(held: Stores, row: LibraryRow, params: str) -> tuple[list[Todo], dict[str, str]]:
    """Return the chunks to read, and the digests of the sources that they complete."""
    complete = store.marked(held.catalog, row.id, store.WHOLE)
    extracted = store.marked(held.catalog, row.id, store.EXTRACT)
    todo: list[Todo] = []
    finished: dict[str, str] = {}
    for source, content in store.contents(held.catalog, row.id).items():
        digest = f"{params} {UNIFIED} {content}"
        if complete.get((source, "")) == digest:
            continue
        finished[source] = digest
        items = list(held.catalog.items_of(row.id, source, CORPUS))
        texts = {}
        for i in items:
            texts[i.id] = i.text
        chunks = chunks_of(items)
        store.forget_others(held.catalog, row.id, source, [c.id for c in chunks])
        for chunk in chunks:
            if extracted.get((source, chunk.id)) == params:
                continue
            own_texts = {}
            for clip in chunk.clips:
                own_texts[clip] = texts[clip]
            todo.append((chunk, own_texts))
    return todo, finished


@dataclass
class _Reading:
    """A model that reads chunks, with the counts of a run.

    Attributes:
        extractor: the model.
        stop: set if the run is to stop.
        read: chunks that were read and stored.
        failed: chunks that were not read because the model failed.
        why: the last error.
        unreachable: consecutive chunks for which the model could not be reached.
    """

    extractor: Extractor
    stop: threading.Event
    read: int = 0
    failed: int = 0
    why: str = ""
    unreachable: int = 0

    def remark(self, total: int) -> str:
        """Return a sentence about the chunks that were not read, or ""."""
        if not self.failed:
            return ""
        return f"{self.failed} of {total} chunks were not read for entities: {self.why}"

    async def ask(self, chunk: Chunk) -> Facts | None:
        """Return what a chunk says, or None if it was not read."""
        if self.stop.is_set():
            return None
        if self.unreachable >= GIVE_UP:
            self.failed += 1
            return None
        try:
            found = await self.extractor.ask(chunk.text)
            facts = facts_of(*found)
        except RagweaveError as error:
            logger.info("a chunk was not read for entities: %s", error)
            self.failed += 1
            self.why = str(error)
            if isinstance(error, ModelTransient):
                self.unreachable += 1
            return None
        self.unreachable = 0
        return facts


async def _read_chunks(
    held: Stores, row: LibraryRow, todo: Sequence[Todo], params: str, reading: _Reading, tell: Tell
) -> None:
    """Read all chunks in parallel, within the model's limit of requests, and store them in order.

    With a fixed order, the model later compares names in the order of the text, and cached replies serve the
    next library as well.
    """
    tasks = [asyncio.create_task(reading.ask(chunk)) for chunk, _ in todo]
    for (chunk, texts), task in zip(todo, tasks, strict=True):
        facts = await task
        if facts is None:
            continue
        located = _located(facts, texts)
        await asyncio.to_thread(store.put, held.catalog, row.id, chunk.source, chunk.id, located, params)
        reading.read += 1
        tell(reading.read, len(todo))


def _located(facts: Facts, texts: Mapping[str, str]) -> Facts:
    """Return facts with the items that name each entity; if none names it word for word, all of them."""
    padded_texts = {}
    for item, text in texts.items():
        padded_texts[item] = _padded(text)
    out = Facts(relations=facts.relations)
    for key, entity in facts.entities.items():
        name = _padded(entity.name)
        counts = []
        for item, text in padded_texts.items():
            times = text.count(name)
            if times:
                counts.append((item, times))
        if not counts:
            counts = [(item, 1) for item in texts]
        out.entities[key] = Entity(entity.name, entity.kind, entity.description, tuple(counts))
    return out


def _padded(text: str) -> str:
    """Return the folded words of a text with a space before and after each."""
    return f" {' '.join(words(text))} "
