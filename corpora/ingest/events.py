"""What a run of `index` tells while it works, and its report at the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ragweave.models.meter import Spend

Stage = Literal["read", "embed", "commit"]


@dataclass(slots=True)
class Report:
    """What a run did; `id` is that of the library, which keeps it under another name.

    `linked` are files whose bytes the library held under another path; `failed` and `skipped` have (path,
    reason), `understood` (path, how well) of each recording that was taken in, `partial` (path, what was not)
    of each file of which something could not be read or was left out; `chunks` are vectors, `seen` pictures
    that the image-text encoder saw, `extracted` chunks of recordings that were read for entities, `spent`
    what captions and entities cost, by model. `kept` has (folder, files gone, files known) of each that most
    files are
    gone from: they stay until a run may forget them. `busy` has the seconds that each stage worked, summed
    over its workers; `seconds` is wall time.
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
        """Count a file that was read anew under its new name as read, and no more as linked or unchanged."""
        twice = self.indexed + self.unchanged + self.linked + len(self.failed) - self.files
        linked = max(0, min(twice, self.linked))
        self.linked -= linked
        self.unchanged -= max(0, min(twice - linked, self.unchanged))


Kind = Literal[
    "waiting", "started", "skipped", "unchanged", "staged", "later", "ready", "perceived", "done", "linked", "failed",
    "removed", "captioned", "extracted", "reembedded", "finished",
]  # fmt: skip
"""What happened: another process writes the library (`holder`); the folders have been walked (`total` files); a file
was left out on purpose (`reason`), is as the catalog knows it, has entered a `stage`; the file, or its pictures, are
read `later`, when all texts are stored (`stage` is picture or recording, `total` how many, `items` what of it is stored
now); the library is `ready` to be asked while `total` files are still to be read; a file is stored with its `items`,
holds bytes that the library has already, could not be read (`reason`), or is gone. `perceived` is how far a stage of a
recording has come, in seconds of it or clips, 0 while it waits to be looked at or heard, or how many pictures of a
file were read (`stage` is picture, without a total); pictures were described,
stretches of recordings read for entities, and items embedded by another encoder, `done` of `total`; the
run is over (`report`)."""


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
