"""Read item lists: JSON Lines whose rows are items of any corpus, given by their text.

A row names its corpus in `kind` and brings what was written about it: a caption, a transcript, the words on
the screen. No picture and no recording is opened, so that a library of every kind can be made of text
(docs/formats.md).
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from ragweave.corpora.blocks import Parsed
from ragweave.corpora.decode import read_text
from ragweave.corpora.meta import iso_date, language_code
from ragweave.corpora.store.rows import lies_beside
from ragweave.corpora.types import CORPORA, Corpus, Item, Locator
from ragweave.models.errors import SourceError

MAX_ROWS = 200_000
MAX_CHARACTERS = 1_000_000
"""Of all texts of one row: a recording of ten hours has about half as many."""
MAX_META = 10_000
_OURS = frozenset("parts frames pictures picture pages also sure confidence duration".split())
"""Fields of the meta that say something of the items of other readers."""
TEXT_FIELDS = ("text", "caption", "transcript", "ocr")
_NAMED = 10
"""Rows that are named when they cannot be used; the others are counted."""

_KIND = re.compile(rf'"kind"\s*:\s*"(?:{"|".join(CORPORA)})"')
_TEXT = re.compile(rf'"(?:{"|".join(TEXT_FIELDS)})"\s*:')

Text = Annotated[str, Field(max_length=MAX_CHARACTERS)]
Seconds = Annotated[float, Field(ge=0, le=1e7)]


class ItemLine(BaseModel):
    """One line of an item list."""

    model_config = ConfigDict(extra="forbid", strict=True)

    kind: Corpus
    id: Annotated[str, Field(max_length=200)] = ""
    title: Annotated[str, Field(max_length=1_000)] = ""
    text: Text = ""
    caption: Text = ""
    transcript: Text = ""
    ocr: Text = ""
    file: Annotated[str, Field(max_length=1_000)] = ""
    page: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    start: Seconds | None = None
    end: Seconds | None = None
    heading: Annotated[list[str], Field(max_length=20)] = []
    date: str = ""
    language: str = ""
    meta: dict[str, Any] = {}

    @field_validator("file")
    @classmethod
    def _inside(cls, value: str) -> str:
        """Refuse files outside the folder of the list: a locator opens the file that it names."""
        if not lies_beside(value):
            raise ValueError("it must lie in the folder of the list or below, and be written relative to it")
        return value

    @field_validator("id")
    @classmethod
    def _plain(cls, value: str) -> str:
        if not value.isprintable():
            raise ValueError("it has characters that cannot be shown")
        return value

    @field_validator("meta")
    @classmethod
    def _small(cls, value: dict[str, Any]) -> dict[str, Any]:
        if len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode()) > MAX_META:
            raise ValueError(f"it takes more than {MAX_META:,} bytes")
        return value

    @field_validator("date")
    @classmethod
    def _dated(cls, value: str) -> str:
        if value and iso_date(value) is None:
            raise ValueError("it is no ISO date, such as 2024-05-31")
        return value

    def text_parts(self) -> list[str]:
        """Return the texts of the fields that have any, without space around them."""
        texts = [getattr(self, name).strip() for name in TEXT_FIELDS]
        return list(filter(None, texts))

    def headings(self) -> list[str]:
        """Return the headings that have text, without space around them."""
        return list(filter(None, map(str.strip, self.heading)))

    @model_validator(mode="after")
    def _whole(self) -> ItemLine:
        timed = self.kind in ("clip", "video")
        if not self.text_parts():
            raise ValueError(f"it has no text: give one of {', '.join(TEXT_FIELDS)}")
        if not timed and (self.start is not None or self.end is not None):
            raise ValueError(f"start and end belong to clips and videos, not to the kind {self.kind}")
        if self.kind == "clip" and (self.start is None or self.end is None):
            raise ValueError("a clip needs start and end, in seconds")
        if self.end is not None and self.end <= (self.start or 0.0):
            raise ValueError("its end does not lie after its start")
        return self


def states_items(first: str) -> bool:
    """Return whether a JSON Lines file with this first line is an item list."""
    return bool(first.lstrip().startswith("{") and _KIND.search(first) and _TEXT.search(first))


def parse(path: Path) -> Parsed:
    """Read an item list; a row that cannot be used is named, and the others count.

    Raises:
        SourceError: no row can be used, or there are too many.
    """
    records: list[Item] = []
    problems: list[str] = []
    seen: set[str] = set()
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        if len(records) >= MAX_ROWS:
            raise SourceError(f"{path.name} has more than {MAX_ROWS:,} rows", "split it into several files")
        try:
            row = ItemLine.model_validate(json.loads(line, parse_constant=_no_number))
            if row.id and row.id in seen:
                raise ValueError(f"the id {row.id!r} stands on an earlier line as well")
        except (ValueError, RecursionError) as error:
            problems.append(f"line {number} was left out: {_why(error)}")
            continue
        seen.add(row.id)
        records.append(_record(row, path, number))
    if not records:
        raise SourceError(
            f"no row of {path.name} can be used; {problems[0] if problems else 'it is empty'}",
            "see docs/formats.md",
        )
    if len(problems) > _NAMED:
        problems[_NAMED:] = [f"{len(problems) - _NAMED} more lines were left out"]
    return Parsed(title=path.stem, warnings=tuple(problems), records=tuple(records))


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number that JSON knows")


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        what = first["msg"].removeprefix("Value error, ")
        return f"{where}: {what}" if where else what
    if isinstance(error, json.JSONDecodeError):
        return "it is not JSON"
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _record(row: ItemLine, path: Path, number: int) -> Item:
    meta: dict[str, Any] = {}
    for name, value in row.meta.items():
        meta[f"own_{name}" if name in _OURS else name] = value
    if row.id:
        meta["key"] = row.id
    return Item(
        id="",
        corpus=row.kind,
        source="",
        title=row.title.strip() or (PurePosixPath(row.file).name if row.file else path.stem),
        text="\n\n".join(row.text_parts()),
        locator=_locator(row, path, number),
        heading=tuple(row.headings()),
        date=iso_date(row.date) if row.date else None,
        language=language_code(row.language),
        meta=meta,
    )


def _locator(row: ItemLine, path: Path, number: int) -> Locator:
    """Open the file that the row names, else its own line."""
    where: Locator = {"file": str(path), "line": number}
    if row.file:
        where = {"file": str(path.parent / row.file), "beside": row.file}
    if row.kind in ("clip", "video"):
        where["kind"] = "time"
        where["start"] = row.start or 0.0
        if row.end is not None and math.isfinite(row.end):
            where["end"] = row.end
    elif row.kind == "image":
        where["kind"] = "image"
    elif row.page is not None:
        where["kind"] = "page"
        where["page"] = row.page
    else:
        where["kind"] = "heading"
        where["heading"] = row.headings()
    return where
