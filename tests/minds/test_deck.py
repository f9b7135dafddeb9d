"""Questions about slides: which one is meant, what it lists, and what was said to it."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from ragweave.corpora.types import Hit, Item, Lists
from ragweave.corpora.video.items import items_of
from ragweave.corpora.video.recording import Cue, Frame, Recording, Shown
from ragweave.minds.context import Context
from ragweave.minds.small.answer.deck import deck

SLIDES = (
    ("Bees in a garden", ("Course 7",), "Welcome."),
    ("Objectives", ("Choose a site", "Build a hive", "Harvest honey"), "You will know by tonight."),
    ("Tools", ("Smoker", "Soft brush"), "Buy the smoker new."),
    ("Diseases", ("Varroa mites", "Foulbrood"), "Foulbrood has to be reported to the office."),
    ("Thank you", ("bees@valley.example",), ""),
)


def recorded() -> list[Item]:
    shown, cues, frames = [], [], []
    for n, (title, lines, said) in enumerate(SLIDES):
        shown += [Shown(10.0 * n, 10.0 * n + 10, line) for line in (title, *lines)]
        cues += [Cue(10.0 * n + 1, 10.0 * n + 8, said)] if said else []
        frames.append(Frame(10.0 * n, f"s/{n}.jpg"))
    recording = Recording("Beekeeping", 50.0, tuple(cues), "subtitles", tuple(shown), tuple(frames))
    return [i for i in items_of("s", "/bees.mp4", recording) if i.corpus == "clip"]


class Shelf:
    """A desk whose library holds one recording and finds all of it."""

    def __init__(self) -> None:
        self.held, self.context = recorded(), Context()

    async def library(self) -> Shelf:
        return self

    async def recordings(self) -> list[Any]:
        return [SimpleNamespace(id="w", source="s", title="Beekeeping", end=50.0)]

    async def search(self, corpus: str, queries: Sequence[str], length: int, sources: Sequence[str]) -> list[Lists]:
        hits = tuple(Hit(i.id, 1.0) for i in self.held)
        return [Lists(dense=hits, lexical=hits)]

    async def items(self, ids: Sequence[str]) -> dict[str, Item]:
        return {i.id: i for i in self.held if i.id in ids}

    async def items_of(self, source: str, corpus: str) -> list[Item]:
        return self.held

    async def idf(self, terms: Sequence[str]) -> dict[str, float]:
        return dict.fromkeys(terms, 1.0)


class Page:
    """Keeps what was shown."""

    def __init__(self) -> None:
        self.told = ""
        self.place: Any = {}

    def show(self, text: str, support: str, rests: Sequence[Any], confidence: float) -> None:
        self.told, self.place = text, rests[0]["locator"]


async def ask(question: str, found: bool = True) -> Page | None:
    shelf, page = Shelf(), Page()
    rows = {i.id: {"id": i.id, "corpus": "clip"} for i in shelf.held} if found else {}
    brief = SimpleNamespace(question=question, rows=rows)
    return page if await deck(shelf, brief, page) else None  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("question", "told", "since"),
    [
        ("How many objectives does the beekeeping course have?", "lists 3: Choose a site", 10.0),
        ("What is the second objective of the course on bees?", "Build a hive", 10.0),
        ("What is the last objective?", "Harvest honey", 10.0),
        ("What are the tools?", "Smoker\nSoft brush", 20.0),
        ("What is on the slide “Diseases”?", "Varroa mites", 30.0),
        ('Which mites are named on the "Diseases" slide?', "Varroa mites", 30.0),
        ("What stands on the first slide?", "Bees in a garden", 0.0),
        ('What is shown on the slide after the "Tools" slide?', "Varroa mites", 30.0),
        ("What is said while the slide “Diseases” is shown?", "reported to the office", 30.0),
        ("What does the slide show while she says that foulbrood has to be reported?", "Varroa mites", 30.0),
        ("What is the last topic of the talk on bees?", "Diseases", 30.0),
        ("What does one harvest according to the slide with objectives?", "Harvest honey", 10.0),
        ("How are bees in a garden called in the course?", "Course 7", 0.0),
    ],
)
async def test_the_slide_that_is_meant_is_shown_with_its_frame_and_seconds(
    question: str, told: str, since: float
) -> None:
    page = await ask(question)
    assert page is not None and told in page.told
    assert page.place["start"] == since and page.place["image"] == f"s/{int(since / 10)}.jpg"


@pytest.mark.parametrize(
    "question",
    [
        "How many wheels does the delivery van have?",
        "How many objectives does the museum of clocks in Vienna have?",
        "Who found the comet?",
        "What is the slide of the playground made of?",
        "What are the rules of chess?",
        "Which objectives had Napoleon in Egypt?",
        "Who keeps bees in a garden of Vienna near the palace?",
    ],
)
async def test_other_questions_mean_no_slide(question: str) -> None:
    assert await ask(question) is None


async def test_a_list_is_counted_only_in_a_recording_that_was_found() -> None:
    assert await ask("How many objectives are there?", found=False) is None
