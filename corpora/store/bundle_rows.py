"""What the rows of a bundle may be: it comes from elsewhere, and every value is checked."""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ragweave.corpora.types import MAX_HALF_LIFE, Corpus, Locator, Recency

_Id = Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]
_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Short = Annotated[str, Field(max_length=10_000)]


def _time(value: str | None) -> str | None:
    if value is not None:
        datetime.fromisoformat(value)
    return value


def _inside(path: str) -> str:
    parts = PurePosixPath(path).parts
    if (
        not parts
        or PurePosixPath(path).is_absolute()
        or ".." in parts
        or "\\" in path
        or ":" in parts[0]
        or "\0" in path
    ):
        raise ValueError("a path leads out of its folder")
    return path


_Time = Annotated[str | None, AfterValidator(_time)]


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Part(_Row):
    """One part of a bundle."""

    sha256: _Digest
    bytes: int = Field(ge=0)
    rows: int = Field(ge=0)


class Manifest(_Row):
    """What a bundle says about itself."""

    format: Literal[1, 2]
    library: str = Field(min_length=1, max_length=100)
    encoder: str = Field(min_length=1, max_length=500)
    dim: int = Field(ge=1, le=65_536)
    parts: dict[str, Part]
    recency: Recency = "auto"
    half_life: float | None = Field(None, gt=0, le=MAX_HALF_LIFE)


class SourceRow(_Row):
    """A source, as the catalog keeps it."""

    id: _Id
    kind: Annotated[str, Field(max_length=40)]
    title: _Short
    status: Literal["ok", "partial"]
    bytes: int = Field(ge=0)
    sha256: _Digest
    params_hash: Annotated[str, Field(max_length=64)]
    warnings: list[_Short]
    author: _Short
    language: Annotated[str, Field(max_length=10)]
    date: _Time
    indexed_at: Annotated[str, AfterValidator(_time)]
    paths: list[Annotated[str, Field(max_length=4_096), AfterValidator(_inside)]]


_Box = tuple[float, float, float, float] | None
_Span = tuple[int, int, int, int, _Box]


class ItemRow(_Row):
    """An item, as `ragweave.corpora.store.rows.pack` writes it."""

    id: _Id
    corpus: Corpus
    source: _Id
    title: _Short
    text: str
    locator: Locator
    heading: list[_Short]
    spans: list[_Span | tuple[int, int, int, int, _Box, tuple[float, float]]]
    ordinal: int = Field(ge=0)
    date: _Time
    language: Annotated[str, Field(max_length=10)]
    meta: dict[str, Any]
