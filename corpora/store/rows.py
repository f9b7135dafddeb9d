"""Items and sources as plain rows, the form in which processes exchange them and the catalog stores them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, Literal, cast

from ragweave.corpora.types import Item, Locator, Span

Status = Literal["ok", "failed", "partial"]


@dataclass(frozen=True, slots=True)
class Source:
    """One indexed file, identified by its bytes and the parameters it was read with.

    Equal files have equal ids; `paths` are all the places where the same bytes lie, `path` the first of them
    in alphabetical order. A `partial` source was read with `warnings`, a `failed` one has a `reason`;
    `sha256` is empty when the bytes could not be read; `date` and `language` (ISO 639-1) are the document's
    own.
    """

    id: str
    path: str
    kind: str
    title: str
    status: Status
    reason: str
    bytes: int
    sha256: str
    items: int
    warnings: tuple[str, ...]
    indexed_at: str
    date: datetime | None
    paths: tuple[str, ...] = ()
    author: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class RecordingRow:
    """One recording of a library: a source may hold several."""

    id: str
    source: str
    title: str
    end: float


_PLAIN = ("id", "corpus", "source", "title", "text", "ordinal", "language", "meta")
"""Fields of an item that a row holds as they are."""


def pack(item: Item) -> dict[str, Any]:
    """Return an item as a row of JSON values."""
    row = {}
    for name in _PLAIN:
        row[name] = getattr(item, name)
    row["locator"] = dict(item.locator)
    row["heading"] = list(item.heading)
    row["spans"] = list(map(_pack_span, item.spans))
    row["date"] = item.date.isoformat() if item.date else None
    return row


def _pack_span(span: Span) -> list[Any]:
    row: list[Any] = [span.start, span.end, span.line, span.page, span.bbox]
    if span.time:
        row.append(span.time)
    return row


def unpack(row: Any, path: str | None = None) -> Item:
    """Return the item of a row.

    `path` is where its source lies now, and takes the place of the file in the locator.
    """
    locator = dict(row["locator"]) if path is None else lying_at(row["locator"], path)
    plain = {}
    for name in _PLAIN:
        plain[name] = row[name]
    return Item(
        **plain,
        locator=cast(Locator, locator),
        heading=tuple(row["heading"]),
        spans=tuple(map(_unpack_span, row["spans"])),
        date=datetime.fromisoformat(row["date"]) if row["date"] else None,
    )


def lying_at(locator: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return the locator of an item whose source has this path."""
    beside = str(locator.get("beside", ""))
    file = str(Path(path).parent / beside) if beside and lies_beside(beside) else path
    return {**locator, "file": file} if "file" in locator else dict(locator)


def lies_beside(relative: str) -> bool:
    """Tell whether a relative path stays in its folder; a locator must not lead outside."""
    path = PurePosixPath(relative)
    plain = relative.isprintable() and "\\" not in relative and ":" not in relative
    return plain and not path.is_absolute() and ".." not in path.parts


def _unpack_span(row: Any) -> Span:
    bbox = tuple(row[4]) if row[4] else None
    time = tuple(row[5]) if len(row) > 5 and row[5] else None
    return Span(row[0], row[1], row[2], row[3], bbox, time)
