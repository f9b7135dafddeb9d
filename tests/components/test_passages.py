from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ragweave.components.passages import best_sentence, evidence_of, headed
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


PLOTS = "plot | tenant | fee\n3 | Adeyemi | 74\n12 | Castellanos | 0\n17 | Adeyemi | 74\n21 | Dvorak | 37"


@pytest.mark.parametrize(
    ("told", "quoted"),
    [
        ("Plot 21, tenant Dvorak, paid a fee of 37 EUR.", PLOTS.split("\n")[4:]),
        ("21 | Dvorak | 37", PLOTS.split("\n")[4:]),
        ("The tenant of 17 is Adeyemi.", PLOTS.split("\n")[3:4]),
        ("Adeyemi and Dvorak are tenants.", PLOTS.split("\n")),
        ("The fee was 185 EUR in all, with the plots of each tenant.", PLOTS.split("\n")),
        ("It is due by May.", ["Due by May."]),
    ],
)
def test_of_a_table_the_row_is_quoted_that_a_sentence_tells_or_all_that_it_may_tell(
    told: str, quoted: list[str]
) -> None:
    assert best_sentence(told, f"Due by May.\n\n{PLOTS}") == "\n".join(quoted)


def test_of_a_mail_the_line_is_quoted_that_a_sentence_tells_and_not_all_of_its_head() -> None:
    head = (
        "From: Jonas Vik <jonas@vik-holz.example>\nTo: Priya Nair <priya@tern.example>\nSubject: Offer shed"
        " roof"
    )
    mail = f"{head}\n\nFor the roof:\n- larch boards: 1,140 EUR\n- work: 960 EUR\n\nAll without VAT (25 %)."
    assert best_sentence("Jonas Vik offers it: 2,100 EUR without VAT.", mail) == "All without VAT (25 %)."
    assert (
        best_sentence("Jonas Vik offers the larch boards for 1,140 EUR.", mail) == "- larch boards: 1,140 EUR"
    )


@pytest.mark.parametrize(
    "told", ["The gross margin was 74.0 % in the third quarter.", "Die Marge stieg 2024 auf 74,0 %."]
)
def test_the_sentence_is_quoted_that_holds_the_figure_and_not_one_of_more_words(told: str) -> None:
    effect = "The net effect on our gross margin was 2.4% and 2.6% in the third quarter of 2024."
    fact = "Our margins were 74.0%."
    assert best_sentence(told, f"{effect} {fact}") == fact


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
