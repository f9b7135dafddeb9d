"""References into recordings stay inside their evidence."""

from __future__ import annotations

import pytest

from ragweave.components.evidence import Strip
from ragweave.components.references import exact, lies_in
from ragweave.corpora.types import Item, Locator, Span

TEXT = "The comet came. It was bright. Nobody slept."
PLACE: Locator = {"kind": "time", "file": "/talk.mp4", "start": 60.0, "end": 90.0}


def item(*times: tuple[int, int, float, float]) -> Item:
    spans = tuple(Span(a, b, time=(start, end)) for a, b, start, end in times)
    return Item("c", "clip", "s", "Talk", TEXT, PLACE, spans=spans)


def strip(text: str = TEXT, locator: Locator = PLACE) -> Strip:
    return {
        "id": "c#0-44", "evidence": "c", "text": text, "title": "Talk", "locator": locator,
        "origin": "library", "query": "q", "hop": 1, "score": 0.5,
    }  # fmt: skip


def test_a_strip_that_begins_inside_its_clip_is_placed_by_its_own_offset() -> None:
    held = item((0, 15, 61.0, 64.0), (16, 30, 70.0, 73.0), (31, 44, 80.0, 82.0))
    inner = strip(TEXT[16:], {**PLACE, "chars": [16, 44]})
    assert exact(inner, "Nobody slept.", held)["start"] == 80.0


def test_a_row_is_cited_with_its_own_line_also_where_rows_read_alike() -> None:
    place: Locator = {"kind": "heading", "file": "/fees.csv", "line": 1}
    rows, at = ("plot | fee", "3 | 74", "8 | 74", "3 | 74"), (0, 11, 18, 25)
    spans = tuple(Span(a, a + len(row), line=n) for n, (a, row) in enumerate(zip(at, rows, strict=True), 1))
    held = Item("c", "paragraph", "s", "Fees", "\n".join(rows), place, spans=spans)
    found = [exact(strip(held.text[a:], {**place, "chars": [a, 31]}), rows[1], held) for a in (0, 18)]
    assert [(f["line"], f["chars"]) for f in found] == [(2, [11, 17]), (4, [25, 31])]


@pytest.mark.parametrize(
    ("place", "inside"),
    [
        ({"start": 60.0, "end": 90.0}, True),
        ({"start": 59.5, "end": 64.0}, True),
        ({"start": 10.0, "end": 20.0}, False),
        ({"start": 80.0, "end": 99.0}, False),
        ({"start": 80.0, "end": 70.0}, False),
        ({}, False),
        ({"start": 61.0, "end": 62.0, "file": "/other.mp4"}, False),
    ],
)
def test_a_place_lies_inside_its_evidence_or_does_not(place: Locator, inside: bool) -> None:
    assert lies_in({"file": "/talk.mp4", **place}, PLACE) is inside
