"""The events of a run of `index`, and its report at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ragweave.models.meter import Spend

Stage = Literal["read", "embed", "commit"]


@dataclass(slots=True)
class Report:
    """What a run did.

    Attributes:
        library: name of the library.
        linked: number of files whose content the library held under another path.
        failed: path and reason of each file that could not be read.
        skipped: path and reason of each file that was left out.
        chunks: number of vectors.
        seen: number of pictures that the image-text encoder encoded.
        seconds: wall time.
        busy: seconds that each stage worked, summed over its workers.
        extracted: number of chunks of recordings that were read for entities.
        understood: path of each recording that was read, and how well it was understood.
        spent: cost of captions and entities, by model.
        partial: path of each file that was read in part, and what is missing.
        id: id of the library, which a renaming does not change.
        kept: folder, files gone and files known of each folder that lost most of its files; these files stay
            until a run may remove them.
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
    understood: list[tuple[str, str]] = field(default_factory=list)
    spent: list[Spend] = field(default_factory=list)
    partial: list[tuple[str, str]] = field(default_factory=list)
    id: str = ""
    kept: list[tuple[str, int, int]] = field(default_factory=list)

    def count_once(self) -> None:
        """Count a renamed file that was read again as indexed only, not also as linked or unchanged."""
        twice = self.indexed + self.unchanged + self.linked + len(self.failed) - self.files
        linked = max(0, min(twice, self.linked))
        self.linked -= linked
        self.unchanged -= max(0, min(twice - linked, self.unchanged))


Kind = Literal[
    "waiting", "started", "skipped", "unchanged", "staged", "later", "ready", "perceived", "done", "linked",
    "failed", "removed", "captioned", "extracted", "reembedded", "finished",
]  # fmt: skip
"""What happened in a run:

- `waiting`: another process writes the library (`holder`).
- `started`: the folders were walked (`total` files).
- `skipped`: a file was left out on purpose (`reason`).
- `unchanged`: a file is as the catalog knows it.
- `staged`: a file entered a `stage`.
- `later`: a file, or its pictures, are read after all texts are stored. `stage` is picture or recording,
  `total` is how many, and `items` is how many items of the file are stored now.
- `ready`: the library can be searched while `total` files are still to be read.
- `perceived`: progress of a `stage` of a recording, in seconds or clips, 0 while it waits; or the number of
  pictures of a file that were read (`stage` is picture, without a total).
- `done`, `linked`, `failed`, `removed`: a file is stored with its `items`, has content that the library held,
  could not be read (`reason`), or is gone.
- `captioned`, `extracted`, `reembedded`: pictures were described, chunks of recordings read for entities, and
  items embedded by another encoder, `done` of `total`.
- `finished`: the run is over (`report`).
"""


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a run; the fields that its kind does not have are empty."""

    kind: Kind
    path: str = ""
    stage: str = ""
    reason: str = ""
    holder: str = ""
    items: int = 0
    done: float = 0
    total: float = 0
    report: Report | None = None
