"""Measure the relevance of what pictures show, apart from the text about them.

Cosines of different image encoders are not comparable, so none meets a fixed threshold. What counts is by how
many standard deviations a picture is nearer to the question than to questions about other things.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Mapping, Sequence

from ragweave.components.evidence import Evidence
from ragweave.corpora.types import Item
from ragweave.models.relevance import LOWER

STANDS_OUT = 4.0
"""Standard deviations by which a picture must be nearer to the question than to other questions to count as
neither relevant nor irrelevant (docs/images.md)."""
SPREAD = 2.0
"""Standard deviations from relevance 0 to either end of the scale."""
_SHOWN = 3
"""Pictures that an answer shows for their look alone."""


def by_look(deviations: float, stands_out: float) -> float:
    """Return the relevance of what a picture shows, in [-1, 1]; it is 0 at `stands_out` deviations."""
    return max(-1.0, min(1.0, (deviations - stands_out) / SPREAD))


def joined(text_score: float, looks: float, alpha: float, text: bool) -> float:
    """Return the relevance of a picture from its text and its look.

    A picture with `text` gets `alpha` of its look and the rest of its text, but never less than its text
    score: a look without information takes nothing away. One without text gets its look, or its text score if
    that is higher.
    """
    mixed = alpha * looks + (1 - alpha) * text_score if text else looks
    return max(text_score, mixed)


def lifted(row: Evidence, item: Item, deviations: Mapping[str, float], alpha: float) -> Evidence:
    """Return the row of a picture with its look scored, if an image encoder compared it with the query."""
    if item.corpus != "image" or item.id not in deviations:
        return row
    looks = by_look(deviations[item.id], STANDS_OUT)
    text_score = row["relevance"]
    relevance = joined(text_score, looks, alpha, bool(item.text.strip()))
    return {**row, "told": text_score, "looks": round(looks, 4), "relevance": round(relevance, 4)}


def text_relevance(row: Evidence) -> float:
    """Return the relevance of the text of a row, from which an answer can take sentences."""
    return row.get("told", row["relevance"])


def shown_by_look(rows: Sequence[Evidence]) -> list[Evidence]:
    """Return the pictures that stand out by their look and that no vision model has seen yet, best first."""
    found: list[Evidence] = []
    for row in rows:
        if _look_of(row) >= 0 and "seen" not in row:
            found.append(row)
    found.sort(key=lambda e: (-_look_of(e), e["id"]))
    return found[:_SHOWN]


def _look_of(row: Evidence) -> float:
    return row.get("looks", -1.0)


def worth_a_look(rows: Sequence[Evidence], lower: float = LOWER) -> set[str]:
    """Return the ids of the rows whose pictures may answer the question.

    These are the rows that are relevant by their text or look, or all rows if none from outside the model's
    memory is. Rows below the relevance `lower` are irrelevant.
    """
    relevant: set[str] = set()
    found = False
    for row in rows:
        if max(row["relevance"], _look_of(row)) >= lower:
            relevant.add(row["id"])
            found = found or row["origin"] != "model"
    return relevant if found else {row["id"] for row in rows}


def apart(items: Sequence[Item], most: int) -> list[list[tuple[float, str]]]:
    """Return up to `most` frames of each clip; a whole recording leaves out the frames of earlier clips."""
    out: list[list[tuple[float, str]]] = []
    taken: set[str] = set()
    for item in items:
        out.append(frames(item, most, taken if item.corpus == "video" else ()))
        for _, image in frames(item, sys.maxsize):
            taken.add(image)
    return out


def frames(item: Item, most: int, but: Container[str] = ()) -> list[tuple[float, str]]:
    """Return up to `most` frames of a clip as (seconds, media id), evenly spread, without those in `but`."""
    rows = list(item.frames)
    spread = item.meta.get("pictures")
    if not rows and isinstance(spread, list):  # a whole recording stores no times of its frames
        start = item.locator.get("start", 0.0)
        for image in spread:
            rows.append((start, str(image)))
    rows = [row for row in rows if row[1] not in but]
    if len(rows) <= most:
        return rows
    return [rows[round(n * (len(rows) - 1) / max(1, most - 1))] for n in range(most)]
