"""Captions of pictures: asked for after the commit, side by side, and written into the items of the pictures.

An item says who described it (`meta["seen_by"]`), in the transaction that gives it its caption: a run that is killed
repeats what was in flight, and a picture that has none by the model that is set is asked for by the next run.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from sqlalchemy import select, update

from ragweave.corpora.meta import NAMES
from ragweave.corpora.parts import has_parts, part, with_caption
from ragweave.corpora.store import lexical
from ragweave.corpora.store.blobs import forget_texts, put
from ragweave.corpora.store.catalog import LibraryRow, bump
from ragweave.corpora.store.media import Media
from ragweave.corpora.store.prepared import chunked, terms_of
from ragweave.corpora.store.rows import pack
from ragweave.corpora.store.schema import items, write
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
"""Told how many pictures are described, of how many."""


def wanted(held: Stores, row: LibraryRow, model: str) -> list[Item]:
    """Return the pictures of a library that a vision model has not described."""
    return [
        item
        for page in held.catalog.pages(row.id, "image")
        for item in page
        if has_parts(item) and "image" in item.locator and item.meta.get("seen_by") != model
    ]


def catch_up(
    held: Stores,
    row: LibraryRow,
    mind: Encoder,
    media: Media,
    captioner: Captioner,
    stop: threading.Event,
    tell: Tell,
) -> tuple[int, str]:
    """Have the pictures described that are not yet; the caller holds the writer lock.

    Returns how many were described now, and why others were not, in words, or "".
    """
    todo = wanted(held, row, captioner.name)
    if not todo:
        return 0, ""
    down = why_down(captioner)
    if down:
        return 0, _missing(len(todo), len(todo), down)
    done, why = asyncio.run(_describe(held, row, mind, media, captioner, stop, tell, todo))
    if done == len(todo) or stop.is_set():
        return done, ""
    return done, _missing(len(todo) - done, len(todo), why or SILENT)


async def _describe(
    held: Stores,
    row: LibraryRow,
    mind: Encoder,
    media: Media,
    captioner: Captioner,
    stop: threading.Event,
    tell: Tell,
    todo: Sequence[Item],
) -> tuple[int, str]:
    """Ask for some pictures at a time, as many as keep the model's gate full, and make those known together."""
    # In the language that most sources are written in.
    counts = Counter(s.language for s in held.catalog.sources(row.id) if s.language)
    language = NAMES.get(min(counts, key=lambda code: (-counts[code], code), default=""), "")
    done, in_a_row, why = 0, 0, ""
    at_once = 4 * model_settings().chat_width

    def over() -> bool:
        return stop.is_set() or in_a_row >= GIVE_UP

    async def one(item: Item) -> str | None:
        nonlocal in_a_row, why
        if over():
            return None
        try:
            image = await asyncio.to_thread(media.path(item.locator["image"]).read_bytes)
            said = await captioner.ask([image], _context(item), language)
        except (RagweaveError, OSError) as error:
            why = str(error)
            in_a_row = GIVE_UP if isinstance(error, BudgetSpent) else in_a_row + isinstance(error, ModelTransient)
            return None
        in_a_row = 0
        return said

    for start in range(0, len(todo), at_once):
        tell(done, len(todo))
        some = todo[start : start + at_once]
        said = zip(some, await asyncio.gather(*map(one, some)), strict=True)
        if made := [with_caption(item, text, captioner.name) for item, text in said if text is not None]:
            await asyncio.to_thread(_put, held, row, mind, made)
        done += len(made)
        if over():
            break
    return done, why


def _context(item: Item) -> str:
    """Return what a vision model is told of a picture; the words in it, it reads itself."""
    known = (
        ("File", str(item.meta.get("name", ""))),
        ("Document", " - ".join(dict.fromkeys((item.title, *item.heading)))),
        ("Caption", part(item, "caption")),
        ("Stands for it", part(item, "alt")),
        ("Text around it", part(item, "around")),
    )
    return clip("\n".join(f"{name}: {text}" for name, text in known if text), CONTEXT)


def _put(held: Stores, row: LibraryRow, mind: Encoder, made: Sequence[Item]) -> None:
    """Write items whose text has changed in place of what they were, with their vectors."""
    new = chunked(made, mind.max_words)
    vectors = mind.texts(new.texts) if new.texts else np.zeros((0, row.dim), dtype=np.float32)
    with write(held.catalog.engine(row.id)) as connection:
        forget_texts(connection, row.id, "item", [item.id for item in made])
        put(connection, row.id, "image", row.encoder, new.ids, new.sources, vectors)
        mine = select(items.c.id, items.c.n).where(
            items.c.library == row.id, items.c.id.in_([item.id for item in made])
        )
        numbers = {id_: cast("int", n) for id_, n in connection.execute(mine)}
        for item in made:
            packed = pack(item)
            where = (items.c.library == row.id) & (items.c.id == item.id)
            values = {name: packed[name] for name in ("text", "spans", "meta")}
            connection.execute(update(items).where(where).values(values))
        terms = zip(made, terms_of(made), strict=True)
        lexical.replace(connection, row.id, "image", [(numbers[item.id], *row_) for item, row_ in terms])
        bump(connection, row.id)


def _missing(n: int, of: int, why: str) -> str:
    return f"{n} of {of} pictures {'has' if n == 1 else 'have'} no caption: {why}"
