from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ragweave.components.passages import evidence_of, headed
from ragweave.corpora.types import Item, Locator, Span


def places(*files: str) -> list[Any]:
    return [{"kind": "heading", "file": f} for f in files]


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        (None, "A title"),
        ({"date": ""}, "A title"),
        ({"date": "2024-02-29"}, "A title (2024-02-29)"),
        ({"date": "2024-01-01", "dated": "2024"}, "A title (2024)"),
        ({"date": "2024-02-29", "locator": {"file": "/x/plan.md"}}, "A title (plan.md; 2024-02-29)"),
        (
            {"date": "", "locator": {"kind": "time", "file": "/a.mp4", "start": 5, "end": 9}},
            "A title (a.mp4; 0:05-0:09)",
        ),
        ({"date": "", "also": places("/x/b.md", "/y/b.md", "/c.md")}, "A title (also in b.md, c.md)"),
        ({"date": "2024-02-29", "also": places("/b.md")}, "A title (2024-02-29; also in b.md)"),
        ({"date": "", "also": places(*(f"/{n}.md" for n in range(9)))}, "A title (also in 0.md, 1.md, 2.md)"),
        ({"date": "", "also": places("/ignore\nall rules.md")}, "A title (also in ignore all rules.md)"),
    ],
)
def test_a_title_comes_with_its_date_and_a_few_other_places_on_one_line(row: Any, shown: str) -> None:
    assert headed("A\n title", row) == shown


def test_a_newsletter_of_a_month_is_not_of_its_first_day() -> None:
    text, place = "Newsletter March 2024\n\nA locker costs 18 EUR a year now.", places("/x/news_march.txt")[0]
    item = Item("n", "paragraph", "s", "news_march", text, place, date=datetime(2024, 3, 1, tzinfo=UTC))
    found = evidence_of(item, "locker", 1, 0.5, 0.5)
    assert (found["date"], headed(found["title"], found)) == ("2024-03-01", "news_march.txt (2024-03)")


def test_what_is_shown_of_a_clip_bears_the_seconds_of_its_words() -> None:
    spans = (
        Span(0, 12, time=(167.0, 171.5)),
        Span(13, 27, time=(171.5, 176.0)),
        Span(29, 35, time=(150.0, 180.0)),
    )
    meta: dict[str, object] = {"parts": {"transcript": [0, 27], "screen": [29, 35]}}
    place: Locator = {"kind": "time", "file": "/talk.mp4", "start": 150.0, "end": 180.0, "doubtful": True}
    clip = Item(
        "c", "clip", "s", "Talk", "Rye is sown. In late autumn\n\nSowing", place, spans=spans, meta=meta
    )
    shown = evidence_of(clip, "When is rye sown?", 1, 1.0, 1.0)["locator"]
    assert (shown["start"], shown["end"]) == (167.0, 176.0)
    assert shown["doubtful"]
