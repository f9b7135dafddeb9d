"""What a run of `index` tells while it works, and its report at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Stage = Literal["read", "embed", "commit"]


@dataclass(slots=True)
class Report:
    """What a run did.

    Attributes:
        library: name of the library.
        files: files found.
        indexed: files read and stored.
        unchanged: files that were as the catalog knew them.
        linked: files whose bytes the library already held under another path.
        removed: files that are gone, and their items with them.
        failed: (path, reason) of files that could not be read.
        skipped: (path, reason) of files that were left out on purpose.
        items: items written.
        chunks: vectors written.
        seen: pictures that the image-text encoder saw.
        captioned: pictures that the vision model described.
        notes: what could not be done beside the files, in words.
        seconds: wall time.
        busy: seconds each stage worked, summed over its workers.
        stopped: whether the run was cancelled before its end.
        extracted: chunks of recordings that were read for entities.
    """

    library: str
    files: int = 0
    indexed: int = 0
    unchanged: int = 0
    linked: int = 0
    removed: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    items: int = 0
    chunks: int = 0
    seen: int = 0
    captioned: int = 0
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    busy: dict[Stage, float] = field(default_factory=lambda: {"read": 0.0, "embed": 0.0, "commit": 0.0})
    stopped: bool = False
    extracted: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a run."""


@dataclass(frozen=True, slots=True)
class OfFile(Event):
    """A step of one file or folder."""

    path: str


@dataclass(frozen=True, slots=True)
class Counted(Event):
    """How far a stage after the files has come."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Waiting(Event):
    """Another process writes the library; the run begins when it has finished."""

    holder: str


@dataclass(frozen=True, slots=True)
class Started(Event):
    """The folders have been walked."""

    total: int


@dataclass(frozen=True, slots=True)
class Skipped(OfFile):
    """A file or folder was left out on purpose."""

    reason: str


class Unchanged(OfFile):
    """A file is as the catalog knows it."""


@dataclass(frozen=True, slots=True)
class Staged(OfFile):
    """A file has entered a stage."""

    stage: Stage


@dataclass(frozen=True, slots=True)
class Perceived(OfFile):
    """How far one stage of a recording has come, in seconds of it or clips."""

    stage: str
    done: float
    total: float


@dataclass(frozen=True, slots=True)
class Done(OfFile):
    """A file is stored and can be found."""

    items: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Linked(OfFile):
    """A file holds the bytes of a source that the library has already."""

    source: str


@dataclass(frozen=True, slots=True)
class Failed(OfFile):
    """A file could not be read; the next run tries again."""

    reason: str


class Removed(OfFile):
    """A file is gone, and so is what was known from it."""


@dataclass(frozen=True, slots=True)
class Finished(Event):
    """The run is over."""

    report: Report


class Extracted(Counted):
    """Entities were found in chunks of recordings."""


class Captioned(Counted):
    """Pictures were described by the vision model."""
