"""What a question itself narrows a search to: recordings by their titles, clips by clock times."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import Library, open_library
from ragweave.corpora.video.scope import Scope, in_window, named_scope

TALKS = ("Module 2 - lecture", "Module 3 - talk", "teaser")


@pytest.fixture
async def library(tmp_path: Path) -> Library:
    """Three recordings of two minutes, a sentence every ten seconds."""
    for name in TALKS:
        cues = [
            f"00:{n // 6:02}:{n % 6}0.000 --> 00:{n // 6:02}:{n % 6}8.000\nRemark {n} of {name}." for n in range(12)
        ]
        (tmp_path / f"{name}.vtt").write_text("WEBVTT\n\n" + "\n\n".join(cues))
    await index([tmp_path])
    return await open_library("default")


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("What is remarked in module 3 - talk?", TALKS[1:2]),
        ("What is remarked in the teaser and in Module 2 - lecture?", (TALKS[0], TALKS[2])),
        ("What is remarked in the fourth talk?", ()),
    ],
)
async def test_titles_in_a_question_decide_where_to_look(
    library: Library, question: str, titles: tuple[str, ...]
) -> None:
    scope = await named_scope(library, question, Scope())
    held = {r.title: r.source for r in await library.recordings()}
    assert set(scope.titles) == set(titles) and set(scope.sources) == {held[t] for t in titles}


async def test_titles_that_were_asked_for_are_not_narrowed_by_the_question(library: Library) -> None:
    given = Scope(titles=TALKS[:1])
    assert await named_scope(library, "What is remarked in the teaser?", given) == given


@pytest.mark.parametrize(
    ("question", "starts"),
    [
        ("What is remarked at 1:50?", {90.0}),
        ("What is remarked between 0:05 and 0:50?", {0.0, 30.0}),
        ("Who leaves at 10:30?", {0.0, 30.0, 60.0, 90.0}),
        ("What is remarked?", {0.0, 30.0, 60.0, 90.0}),
    ],
)
async def test_clock_times_keep_the_clips_around_them_and_all_where_there_are_none(
    library: Library, question: str, starts: set[float]
) -> None:
    found = await library.search("clip", ["remark"], 50)
    (kept,) = await in_window(library, question, found)
    items = await library.items([h.id for h in kept.lexical])
    assert {i.locator["start"] for i in items.values()} == starts
