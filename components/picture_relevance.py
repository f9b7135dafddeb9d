"""What pictures show, as relevance: how far a picture stands out for a question, beside what is written about it.

A cosine of one image encoder means nothing to another, so none is compared with a fixed number: what counts
is by how many standard deviations a picture is nearer to the question than to questions about other things.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Mapping, Sequence

from ragweave.components.evidence import Evidence
from ragweave.corpora.types import Item
from ragweave.models.relevance import LOWER

STANDS_OUT = 4.0
"""Standard deviations by which a picture must be nearer to the question than to questions about other things, to count
as neither relevant nor not (docs/images.md)."""
SPREAD = 2.0
"""Standard deviations from relevance 0 to either end of the scale."""
_SHOWN = 3
"""Pictures that an answer shows for their look alone."""


def by_look(deviations: float, stands_out: float) -> float:
    """Return the relevance of what a picture shows, in [-1, 1]; 0 where it stands out by `stands_out` deviations."""
    return max(-1.0, min(1.0, (deviations - stands_out) / SPREAD))


def joined(told: float, looks: float, alpha: float, text: bool) -> float:
    """Return the relevance of a picture from both its sides.

    It is `alpha` of its look and the rest of its `text`, or its look where it has none. What is written about
    a picture counts for itself as well: a look that says nothing takes nothing away from it.
    """
    return max(told, alpha * looks + (1 - alpha) * told if text else looks)


def lifted(row: Evidence, item: Item, deviations: Mapping[str, float], alpha: float) -> Evidence:
    """Return a row of a picture that an image encoder compared with the query, its relevance from both sides."""
    if item.corpus != "image" or item.id not in deviations:
        return row
    looks, told = by_look(deviations[item.id], STANDS_OUT), row["relevance"]
    relevance = joined(told, looks, alpha, bool(item.text.strip()))
    return {**row, "told": told, "looks": round(looks, 4), "relevance": round(relevance, 4)}


def told(row: Evidence) -> float:
    """Return the relevance of what is written in an item, which sentences can be taken from."""
    return row.get("told", row["relevance"])


def shown_by_look(rows: Sequence[Evidence]) -> list[Evidence]:
    """Return the pictures that stand out for the question by their look, best first; those looked at since are not."""
    found = [e for e in rows if e.get("looks", -1.0) >= 0 and "seen" not in e]
    return sorted(found, key=lambda e: (-e.get("looks", -1.0), e["id"]))[:_SHOWN]


def worth_a_look(rows: Sequence[Evidence], lower: float = LOWER) -> set[str]:
    """Return the ids of the rows that looking at may answer a question.

    They bear on it themselves, by what is written or by their look, or nothing that was found bears on it.
    `lower` is the relevance below which nothing does.
    """

    def bears(e: Evidence) -> bool:
        return max(e["relevance"], e.get("looks", -1.0)) >= lower

    nothing = not any(bears(e) for e in rows if e["origin"] != "model")
    return {e["id"] for e in rows if nothing or bears(e)}


def apart(items: Sequence[Item], most: int) -> list[list[tuple[float, str]]]:
    """Return up to `most` frames of each clip, and of a whole recording none that a clip before it has."""
    out: list[list[tuple[float, str]]] = []
    taken: set[str] = set()
    for item in items:
        out.append(frames(item, most, taken if item.corpus == "video" else ()))
        taken |= {image for _, image in frames(item, sys.maxsize)}
    return out


def frames(item: Item, most: int, but: Container[str] = ()) -> list[tuple[float, str]]:
    """Return up to `most` frames of a clip as (seconds, media id), evenly spread over it, without those named."""
    rows, spread = item.frames, item.meta.get("pictures")
    if not rows and isinstance(spread, list):  # a whole recording keeps no times of its frames
        rows = [(item.locator.get("start", 0.0), str(image)) for image in spread]
    rows = [row for row in rows if row[1] not in but]
    if len(rows) <= most:
        return rows
    return [rows[round(n * (len(rows) - 1) / max(1, most - 1))] for n in range(most)]
