"""The stage that makes the knowledge graph: chunk by chunk, after the commit, and where it was left by a kill."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from collections.abc import Callable, Sequence

from ragweave.corpora.chunks import Chunk, chunks_of
from ragweave.corpora.knowledge import store
from ragweave.corpora.knowledge.describe import describe
from ragweave.corpora.knowledge.facts import Entity, Extractor, Facts, facts_of
from ragweave.corpora.knowledge.unify import unify
from ragweave.corpora.settings import CorporaSettings
from ragweave.corpora.store import ledger
from ragweave.corpora.store.blobs import CORPUS, entity_space
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.stores import Stores
from ragweave.models.embed import Encoder
from ragweave.models.errors import ModelTransient, RagweaveError
from ragweave.models.text import words

logger = logging.getLogger(__name__)

VERSION = 3
"""Raise it when the rules of extraction change: every chunk is then read anew by the next run."""
UNIFIED = 1
"""Raise it when the rules that join names change: the next run then compares the entities of every source."""
GIVE_UP = 3
"""Chunks in a row that a model cannot be reached for; the rest waits for the next run."""

Tell = Callable[[int, int], None]
"""Told how many chunks are read, of how many."""


Todo = tuple[Chunk, dict[str, str]]
"""One chunk that is to be read, and the text of each of its items by id."""


def catch_up(
    held: Stores,
    row: LibraryRow,
    text_encoder: Encoder,
    settings: CorporaSettings,
    extractor: Extractor | None,
    stop: threading.Event,
    tell: Tell,
) -> tuple[int, str]:
    """Have the extractor read the chunks that are not in the graph yet; the caller holds the writer lock.

    Each chunk is stored with its row in the ledger in one transaction, so a run that is killed repeats only
    the chunks in flight. Sources that lost or changed their items lose what those said. Then names are
    joined, homonyms parted, and what is said of one entity is merged.

    Returns:
        How many chunks were read now, and what could not be done, in words, or "".
    """
    if settings.entities == "off":
        return 0, ""
    if extractor is None:
        return 0, "entities were not extracted: RAGWEAVE_ENTITIES is llm, and no chat model is configured"
    params = hashlib.sha256(f"{VERSION} {extractor.name}".encode()).hexdigest()[:16]
    todo, finished = _todo(held, row, params)
    read, failed, why = 0, 0, ""
    if todo:
        tell(0, len(todo))
        read, failed, why = asyncio.run(_by_model(held, row, todo, params, extractor, stop, tell))
    apart = ""
    if not stop.is_set() and (finished or not held.vectors.has(row.id, CORPUS, entity_space(row.encoder))):
        apart = unify(held, row, text_encoder, finished, extractor.same)
    # Last: a source that a kill left without its vectors comes here again.
    if not (stop.is_set() or failed or apart):
        with held.catalog.writing(row.id) as connection:
            for source, digest in finished.items():
                ledger.mark(connection, source, store.WHOLE, digest)
    unmerged = "" if stop.is_set() or extractor.merge is None else describe(held, row, extractor.merge)
    unread = f"{failed} of {len(todo)} chunks were not read for entities: {why}" if failed else ""
    return read, "; ".join(filter(None, (unread, apart, unmerged)))


def _todo(held: Stores, row: LibraryRow, params: str) -> tuple[list[Todo], dict[str, str]]:
    """Return the chunks to read, and the digests of the sources they complete."""
    whole, done = (store.marked(held.catalog, row.id, stage) for stage in (store.WHOLE, store.EXTRACT))
    todo: list[Todo] = []
    finished: dict[str, str] = {}
    for source, content in store.contents(held.catalog, row.id).items():
        digest = f"{params} {UNIFIED} {content}"
        if whole.get((source, "")) == digest:
            continue
        finished[source] = digest
        own = list(held.catalog.items_of(row.id, source, CORPUS))
        texts = {i.id: i.text for i in own}
        chunks = chunks_of(own)
        store.forget_others(held.catalog, row.id, source, [c.id for c in chunks])
        unread = [c for c in chunks if done.get((source, c.id)) != params]
        todo += [(c, {i: texts[i] for i in c.clips}) for c in unread]
    return todo, finished


async def _by_model(
    held: Stores,
    row: LibraryRow,
    todo: Sequence[Todo],
    params: str,
    maker: Extractor,
    stop: threading.Event,
    tell: Tell,
) -> tuple[int, int, str]:
    """Ask for all chunks side by side, as many at a time as the model's gate lets through; store them in order.

    Names are then told to the model as the text has them first, and its kept replies serve the next library
    as well.
    """
    read, failed, down, why = 0, 0, 0, ""

    async def ask(chunk: Chunk) -> Facts | None:
        nonlocal failed, down, why
        if stop.is_set() or down >= GIVE_UP:
            failed += not stop.is_set()
            return None
        try:
            facts = facts_of(*await maker.ask(chunk.text))
        except RagweaveError as error:
            logger.info("a chunk was not read for entities: %s", error)
            failed, why = failed + 1, str(error)
            down += isinstance(error, ModelTransient)
            return None
        down = 0
        return facts

    asked = [asyncio.create_task(ask(chunk)) for chunk, _ in todo]
    for (chunk, texts), task in zip(todo, asked, strict=True):
        if (facts := await task) is not None:
            said = _located(facts, texts)
            await asyncio.to_thread(store.put, held.catalog, row.id, chunk.source, chunk.id, said, params)
            read += 1
            tell(read, len(todo))
    return read, failed, why


def _located(facts: Facts, texts: dict[str, str]) -> Facts:
    """Find the items that name each entity; one that none names word for word belongs to all of them."""
    folded = {item: f" {' '.join(words(text))} " for item, text in texts.items()}
    out = Facts(relations=facts.relations)
    for key, e in facts.entities.items():
        said = f" {' '.join(words(e.name))} "
        counts = tuple((item, n) for item, text in folded.items() if (n := text.count(said)))
        out.entities[key] = Entity(
            e.name, e.kind, e.description, counts or tuple((item, 1) for item in texts)
        )
    return out
