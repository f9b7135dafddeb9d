"""Captions of pictures: asked for after the commit, side by side, and written into the items of the pictures.

An item says who described it (`meta["seen_by"]`), in the transaction that gives it its caption: a run that is
killed repeats what was in flight, and a picture that has none by the model that is set is asked for by the
next run.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import select, update

from ragweave.corpora.meta import NAMES
from ragweave.corpora.parts import has_parts, part, with_caption
from ragweave.corpora.store import lexical
from ragweave.corpora.store.blobs import forget_texts, put
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import chunked, chunks, terms_of
from ragweave.corpora.store.rows import pack
from ragweave.corpora.store.schema import bump, items
from ragweave.corpora.store.stores import Stores
from ragweave.corpora.types import Item
from ragweave.models.caption import CONTEXT, SILENT, Captioner, why_down
from ragweave.models.embed import Encoder
from ragweave.models.errors import BudgetSpent, ModelTransient, RagweaveError
from ragweave.models.settings import model_settings
from ragweave.models.text import clip

GIVE_UP = 3
"""Pictures in a row that the model cannot be reached for; the rest waits for the next run."""

Tell = Callable[[int, int], None]
"""Called with how many pictures are described, of how many."""


def wanted(held: Stores, row: LibraryRow, model: str) -> list[Item]:
    """Return the pictures of a library that a vision model has not described."""
    found: list[Item] = []
    for page in held.catalog.pages(row.id, "image"):
        for item in page:
            if has_parts(item) and "image" in item.locator and item.meta.get("seen_by") != model:
                found.append(item)
    return found


@dataclass
class Captioning:
    """One run over the pictures of a library that are not described yet; the caller holds the writer lock."""

    held: Stores
    row: LibraryRow
    encoder: Encoder
    media: Media
    captioner: Captioner
    stop: threading.Event
    tell: Tell
    _in_a_row: int = 0
    _why: str = ""

    def run(self) -> tuple[int, str]:
        """Return how many were described now, and why others were not, in words, or ""."""
        todo = wanted(self.held, self.row, self.captioner.name)
        if not todo:
            return 0, ""
        self._why = why_down(self.captioner)
        done = 0 if self._why else asyncio.run(self._describe(todo))
        left = len(todo) - done
        if not left or self.stop.is_set():
            return done, ""
        have = "has" if left == 1 else "have"
        return done, f"{left} of {len(todo)} pictures {have} no caption: {self._why or SILENT}"

    async def _describe(self, todo: Sequence[Item]) -> int:
        """Describe pictures in groups that keep the model's gate full, and save each group together."""
        language = self._language()
        done, at_once = 0, 4 * model_settings().chat_width
        for start in range(0, len(todo), at_once):
            self.tell(done, len(todo))
            group = todo[start : start + at_once]
            texts = await asyncio.gather(*[self._one(item, language) for item in group])
            described = []
            for item, text in zip(group, texts, strict=True):
                if text is not None:
                    described.append(with_caption(item, text, self.captioner.name))
            if described:
                await asyncio.to_thread(self._put, described)
            done += len(described)
            if self._over():
                break
        return done

    def _language(self) -> str:
        """Return the language of most sources, "" if none has one."""
        sources = self.held.catalog.sources(self.row.id)
        counts = Counter([source.language for source in sources])
        del counts[""]
        most = min(counts, key=lambda code: (-counts[code], code), default="")
        return NAMES.get(most, "")

    def _over(self) -> bool:
        return self.stop.is_set() or self._in_a_row >= GIVE_UP

    async def _one(self, item: Item, language: str) -> str | None:
        if self._over():
            return None
        try:
            image = await asyncio.to_thread(self.media.path(item.locator["image"]).read_bytes)
            said = await self.captioner.ask([image], _context(item), language)
        except (RagweaveError, OSError) as error:
            self._why = str(error)
            spent = isinstance(error, BudgetSpent)
            self._in_a_row = GIVE_UP if spent else self._in_a_row + isinstance(error, ModelTransient)
            return None
        self._in_a_row = 0
        return said

    def _put(self, made: Sequence[Item]) -> None:
        """Write items whose text has changed in place of what they were, with their vectors."""
        new = chunked(made, [chunks(item, self.encoder.max_words) for item in made])
        vectors = np.zeros((0, self.row.dim), dtype=np.float32)
        if new.texts:
            vectors = self.encoder.texts(new.texts)
        ids = [item.id for item in made]
        with self.held.catalog.writing(self.row.id) as connection:
            forget_texts(connection, "item", ids)
            put(connection, "image", self.row.encoder, new.ids, new.sources, vectors)
            mine = select(items.c.id, items.c.n).where(items.c.id.in_(ids))
            numbers = dict(connection.execute(mine).tuples().all())
            words = []
            for item, terms in zip(made, terms_of(made), strict=True):
                packed = pack(item)
                changed = {"text": packed["text"], "spans": packed["spans"], "meta": packed["meta"]}
                connection.execute(update(items).where(items.c.id == item.id).values(changed))
                words.append((numbers[item.id], *terms))
            lexical.put(connection, "image", words)
            bump(connection)


def _context(item: Item) -> str:
    """Return the prompt text for a picture; the model reads the words in the picture itself."""
    known = (
        ("File", str(item.meta.get("name", ""))),
        ("Document", " - ".join(dict.fromkeys((item.title, *item.heading)))),
        ("Caption", part(item, "caption")),
        ("Stands for it", part(item, "alt")),
        ("Text around it", part(item, "around")),
    )
    lines = [f"{name}: {text}" for name, text in known if text]
    return clip("\n".join(lines), CONTEXT)
