"""Keep each text once when several evidence rows of a file contain it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragweave.components.evidence import Evidence
from ragweave.components.passages import is_nested, untitled


def distinct(rows: Iterable[Evidence], most: int, read: Sequence[Evidence] = ()) -> list[Evidence]:
    """Return the first `most` rows whose text no other row of their file contains.

    A row whose text was `read` before is left out.
    A whole takes the place of its first part. A whole and its parts share the best of their scores. A row
    that holds only headings counts as a part. A whole is left out if a row that was read contains its text
    without the title.
    """
    kept: list[tuple[Evidence, str]] = []
    before = [(r, _flat(r)) for r in read]
    for row in rows:
        if len(kept) == most:
            break
        if not is_nested(row):
            kept.append((row, ""))
        elif _holder(row, _one_line(untitled(row)), before) is None:
            kept = _with(kept, row)
    return [row for row, _ in kept]


def _with(kept: list[tuple[Evidence, str]], row: Evidence) -> list[tuple[Evidence, str]]:
    """Return the kept rows with a further one, merged with the row that contains it or with its own parts."""
    at = _holder(row, _one_line(row["text"]), kept)
    if at is not None:
        holder, whole = kept[at]
        return [*kept[:at], (_better(holder, row), whole), *kept[at + 1 :]]
    flat = _flat(row)
    out: list[tuple[Evidence, str]] = []
    place: int | None = None
    for other, whole in kept:
        if not _same_file(row, other) or _one_line(other["text"]) not in flat:
            out.append((other, whole))
            continue
        row = _better(row, other)
        if place is None:
            place = len(out)
    out.insert(len(out) if place is None else place, (row, flat))
    return out


def _holder(row: Evidence, text: str, others: Sequence[tuple[Evidence, str]]) -> int | None:
    """Return the index of the first row of the same file that contains a text."""
    for n, (other, whole) in enumerate(others):
        if text in whole and _same_file(row, other):
            return n
    return None


def _better(row: Evidence, other: Evidence) -> Evidence:
    """Return a row with the better relevance and score of two."""
    relevance = max(row["relevance"], other["relevance"])
    score = max(row["score"], other["score"])
    return {**row, "relevance": relevance, "score": score}


def _flat(row: Evidence) -> str:
    """Return title and text on one line; "" if the row cannot contain others."""
    return _one_line(f"{row['title']}\n{row['text']}") if is_nested(row) else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _same_file(one: Evidence, other: Evidence) -> bool:
    return one["locator"].get("file") == other["locator"].get("file") and is_nested(other)
