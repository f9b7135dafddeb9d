import json
from pathlib import Path

import pytest

from ragweave.app.api import astate
from ragweave.corpora.ingest.run import index
from ragweave.corpora.store.library import open_library
from ragweave.corpora.video.ffmpeg import run as ffmpeg
from ragweave.corpora.video.items import items_of
from ragweave.corpora.video.recording import Cue, Recording
from ragweave.corpora.video.scope import Scope
from ragweave.minds.context import Context
from ragweave.minds.small.answer.chapters import asked
from ragweave.minds.small.answer.overview import excerpts, subject_of
from ragweave.tests.support import build_library

NOTES = {
    "mill.md": """# The mill at Orme

## Building

The mill was built by Ada Brook in 1871. It has four floors. Nobody knows why.

## Fire

In 1903 the mill burned for two days. It was wet. The roof was lost.

## Today

The museum opens the mill on 12 days a year. People like it.
""",
    "ferry.md": "# The ferry\n\nThe ferry sails four times a day from Orme.\n",
}


@pytest.mark.parametrize(
    ("question", "subject"),
    [
        ("Summarise the minutes", "the minutes"),
        ("Give me a short history of the mill.", "the mill"),
        ("What's in the boiler manual?", "the boiler manual"),
        ("What is the contract about?", "the contract"),
        ("What was decided at the spring meeting?", "the spring meeting"),
        ("Fasse den Vertrag zusammen", "den Vertrag"),
        ("What is the price?", None),
        ("Who wrote about the mill?", None),
    ],
)
def test_what_asks_for_an_overview_is_told_from_what_asks_for_a_fact(question, subject):
    assert subject_of(question) == subject


async def ask(question: str):
    return (await astate(question, context=Context(mind="small")))["answer"]


async def test_a_file_is_told_by_its_headings_and_a_cited_sentence_of_each(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "notes", NOTES)
    answer = await ask("What is the mill at Orme about?")
    head, *said = answer.sentences
    assert head.text.startswith("Excerpts from “The mill at Orme”") and "Building; Fire; Today" in head.text
    assert {"Building", "Fire", "Today"} == {s.text.split(":")[0] for s in said}
    assert all(s.citations for s in answer.sentences)
    quotes = [c.quote for c in answer.citations[1:]]
    assert all(quote in NOTES["mill.md"] for quote in quotes)


async def test_a_library_is_told_by_its_files(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "notes", NOTES)
    answer = await ask("What is in my library?")
    assert "2 files" in answer.text and "The ferry" in answer.text and "The mill at Orme" in answer.text
    assert len(answer.citations) == 2


async def test_a_thing_that_no_file_is_named_after_is_asked_for_as_ever(tmp_path: Path, home: Path) -> None:
    await build_library(tmp_path / "notes", NOTES)
    assert "Excerpts" not in (await ask("What is in the red box?")).text


CHAPTERS = ((0.0, 40.0, "Money matters"), (40.0, 75.0, "Who builds it"), (75.0, 105.0, "Party"))
SAID = {
    5.0: "The mill costs nine thousand crowns.",
    36.0: "The bank lends half of the sum.",
    45.0: "The carpenter Elin Brandt builds the sails.",
    70.0: "The masons come from the next village.",
    80.0: "The band plays from noon until midnight.",
}


def test_each_sentence_of_a_clip_of_several_chapters_stands_under_its_own() -> None:
    cues = tuple(Cue(at, at + 4, text) for at, text in SAID.items())
    made = items_of("s", "mill.mkv", Recording("Mill", 105.0, cues, "subtitles", chapters=CHAPTERS))
    found = excerpts([i for i in made if i.corpus == "clip"], 10)
    assert {s["text"]: s["title"].split(" · ")[-1] for s in found} == {
        text: next(title for low, high, title in CHAPTERS if low <= at < high) for at, text in SAID.items()
    }


def test_what_is_said_before_the_only_chapter_stands_under_none() -> None:
    cues = tuple(Cue(at, at + 4, text) for at, text in SAID.items())
    made = items_of("s", "mill.mkv", Recording("Mill", 105.0, cues, "subtitles", chapters=((75.0, 105.0, "Party"),)))
    found = excerpts([i for i in made if i.corpus == "clip"], 10)
    assert [s["text"] for s in found if s["title"].endswith(" · Party")] == [SAID[80.0]]
    assert [s["text"] for s in excerpts([i for i in made if i.corpus == "clip"], 10, "Party")] == [SAID[80.0]]


@pytest.mark.parametrize(
    ("about", "alone", "found"),
    [
        ("the chapter Party", False, True),
        ("the chapter Party of the bridge", False, True),
        ("the chapter Party of the harbour bridge", False, False),
        ("chapter 3", False, False),
        ("chapter 3", True, True),
        ("chapter 3 of The Making of the Bridge", False, True),
        ("chapter 3 of the handbook", True, False),
        ("chapter 3 in the book on bees", False, False),
    ],
)
async def test_a_chapter_is_taken_from_a_film_only_where_it_is_meant(about, alone, found, tmp_path, home) -> None:
    chapters = [[0.0, 60.0, "Chapter 3"], [60.0, 90.0, "Party"], ["odd"], {"title": "no row"}]
    place = {"file": "bridge.mp4", "start": 0, "end": 90, "title": "The Making of the Bridge"}
    row = {"kind": "video", "text": "A bridge is made.", **place, "meta": {"chapters": chapters}}
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "bridge.jsonl").write_text(json.dumps(row) + "\n")
    await index([tmp_path / "films"])
    library = await open_library()
    assert (await asked(library, about, Scope(), alone) is not None) is found


def _clock(at: float) -> str:
    return f"{at // 60:02.0f}:{at % 60:02.0f}.000"


async def test_what_is_said_in_a_chapter_is_told_from_within_its_seconds(tmp_path: Path, home: Path) -> None:
    folder = tmp_path / "films"
    folder.mkdir()
    marks = [f"[CHAPTER]\nTIMEBASE=1/1\nSTART={a:.0f}\nEND={b:.0f}\ntitle={title}\n" for a, b, title in CHAPTERS]
    (tmp_path / "marks.txt").write_text(";FFMETADATA1\n" + "".join(marks))
    given = ["-f", "lavfi", "-i", "color=gray:size=64x64:rate=1:duration=105", "-i", str(tmp_path / "marks.txt")]
    assert ffmpeg([*given, "-map_chapters", "1", str(folder / "mill.mkv")], 2**24).code == 0
    rows = [f"{_clock(at)} --> {_clock(at + 4)}\n{text}" for at, text in SAID.items()]
    (folder / "mill.vtt").write_text("WEBVTT\n\n" + "\n\n".join(rows))
    await index([folder])
    answer = await ask("What is said in the chapter Who builds it?")
    head, *told = answer.sentences
    assert "Who builds it" in head.text and "0:40" in head.text
    assert [s.text.split(": ")[-1] for s in told] == [SAID[45.0], SAID[70.0]]
    assert all(40 <= c.locator["start"] < 75 for c in answer.citations[1:])
