"""A file that is ready to be stored: its items, their chunks to embed, and their terms."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from ragweave.corpora.parts import above, chunk_ranges, columns, has_parts
from ragweave.corpora.pieces import fill
from ragweave.corpora.store.rows import pack, unpack
from ragweave.corpora.store.tables import KeptTable
from ragweave.corpora.store.words import indexed
from ragweave.corpora.types import Item, digest
from ragweave.models.text import storable

VERSION = 15
"""Raise it if parsing, splitting or the lexical terms change: the next run then reads every source again."""


def params_hash() -> str:
    """Return the digest of everything that the items of a source depend on, except its bytes.

    The encoder is not part of it, because another encoder changes the vectors and not the items.
    """
    return hashlib.sha256(f"items {VERSION}".encode()).hexdigest()[:16]


def source_id(sha256: str, params: str) -> str:
    """Return the id of a source: its bytes and its parameters, never its name."""
    return digest(sha256, params)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file, ready to be embedded and stored.

    For each item, `chunks` are the [start, end) ranges of its text that are embedded, and `terms` title,
    heading and text as the lexical index stores them. `date` is the ISO time of the document itself;
    `reached` says how far its pictures were read (`ragweave.corpora.images.reader`), `links` how the picture
    files that it links to looked. `waiting` are pictures that are left until all texts are stored; without
    items, the file is nothing else. `tables` are the rows from which its passages were cut.
    """

    kind: str
    title: str
    author: str
    language: str
    date: str | None
    warnings: tuple[str, ...]
    items: tuple[Item, ...]
    chunks: tuple[tuple[tuple[int, int], ...], ...]
    terms: tuple[tuple[str, str, str], ...]
    reached: str = ""
    links: tuple[tuple[str, str], ...] = ()
    waiting: int = 0
    tables: tuple[KeptTable, ...] = ()

    def to_json(self) -> bytes:
        """Return the form that crosses from the reading process."""
        row = {}
        for f in fields(self):
            row[f.name] = getattr(self, f.name)
        row["items"] = [pack(item) for item in self.items]
        row["tables"] = [table.to_json() for table in self.tables]
        return json.dumps(row, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Prepared:
        """Read the form that `to_json` writes."""
        made: dict[str, Any] = {}
        for name, value in row.items():
            if name not in _ROWS:
                made[name] = _frozen(value)
        items, tables = map(unpack, row["items"]), map(KeptTable.from_json, row["tables"])
        return cls(**made, items=tuple(items), tables=tuple(tables))


_ROWS = ("items", "tables")


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    return value


def made_of(
    kind: str,
    title: str,
    items: Sequence[Item],
    max_words: int,
    *,
    author: str = "",
    language: str = "",
    date: datetime | None = None,
    warnings: Sequence[str] = (),
) -> Prepared:
    """Return items ready to be embedded: cut into chunks, their terms taken."""
    stored = tuple(map(_storable, items))
    cuts = []
    for item in stored:
        cuts.append(tuple(chunks(item, max_words)))
    return Prepared(
        kind=kind,
        title=storable(title) or stored[0].title,
        author=storable(author),
        language=language,
        date=date.isoformat() if date else None,
        warnings=tuple(map(storable, warnings)),
        items=stored,
        chunks=tuple(cuts),
        terms=terms_of(stored),
    )


def _storable(item: Item) -> Item:
    texts = (item.title, item.text, *item.heading)
    title, text, *heading = map(storable, texts)
    same = (title, text, *heading) == texts
    return item if same else replace(item, title=title, text=text, heading=tuple(heading))


def chunks(item: Item, max_words: int) -> list[tuple[int, int]]:
    """Return the [start, end) character ranges of an item to embed one by one.

    The ranges are in order, hold every character but white space between them, and end at sentence ends where
    a sentence fits. A document that is one paragraph has none: it is found by those of the paragraph.
    """
    if item.corpus == "document" and "paragraph" in item.meta:
        return []
    whole = fill(item.text, max_words)
    return chunk_ranges(item, whole) if has_parts(item) else whole


def terms_of(items: Sequence[Item]) -> tuple[tuple[str, str, str], ...]:
    """Return title, heading and text of each item as the lexical index stores them."""
    # No term crosses a line, and a document's lines are mostly those of its paragraphs: each is cut once.
    known: dict[str, str] = {}

    def line(text: str) -> str:
        if text not in known:
            known[text] = indexed(text)
        return known[text]

    def lines(text: str) -> str:
        return " ".join(filter(None, map(line, text.split("\n"))))

    found = []
    for item in items:
        if has_parts(item):
            title, heading, text = columns(item)
        else:
            title, heading, text = item.title, " ".join(item.heading), item.text
        found.append((lines(title), lines(heading), lines(text)))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Chunks:
    """Chunks of items: their ids, the sources they belong to, and what is embedded of them."""

    ids: list[str]
    sources: list[str]
    texts: list[str]


def chunked(items: Sequence[Item], ranges: Sequence[Sequence[tuple[int, int]]]) -> Chunks:
    """Return the chunks of items by the ranges of each; a chunk is embedded with its title and heading."""
    found = Chunks([], [], [])
    for item, own in zip(items, ranges, strict=True):
        over = above(item) if has_parts(item) else (item.title, *item.heading)
        context = " - ".join(dict.fromkeys(filter(None, over)))
        for n, (start, end) in enumerate(own):
            text = item.text[start:end]
            found.ids.append(chunk_id(item.id, n))
            found.sources.append(item.source)
            found.texts.append(f"{context}\n{text}" if context else text)
    return found


def chunk_id(item: str, n: int) -> str:
    """Return the id of the n-th chunk of an item."""
    return f"{item}~{n}"
