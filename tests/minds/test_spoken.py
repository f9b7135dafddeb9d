"""One passage of a recording: what it takes in, where it ends, and what is told of its time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragweave.app.api import aask
from ragweave.corpora.types import Item
from ragweave.corpora.video.items import items_of
from ragweave.corpora.video.recording import Cue, Frame, Recording, Shown
from ragweave.minds.context import Context
from ragweave.minds.contracts import Brief
from ragweave.minds.evidence import Strip
from ragweave.minds.passages import as_strip, evidence_of
from ragweave.minds.small.answer.chapters import LEAST, MOST, outline, show
from ragweave.minds.small.answer.sentences import Extract
from ragweave.minds.small.answer.spoken import LONGEST, around, passage, slide
from ragweave.minds.small.write import readable
from ragweave.tests.support.library import build_library

SAID = (
    "The second trip was in May.",
    "They built the compiler on top of it, which nobody had tried before that summer.",
    "I do not know who had the idea, but it was a good one for all of us.",
    "It ran on a telephone in the end, to the surprise of everybody in the room.",
)


def clips(cues: list[Cue], shown: tuple[Shown, ...] = ()) -> list[Item]:
    end = max([c.end for c in cues] + [s.end for s in shown])
    return [
        i
        for i in items_of("s", "talk.mp4", Recording("Talk", end, tuple(cues), "subtitles", shown))
        if i.corpus == "clip"
    ]


def test_a_passage_has_what_leads_to_the_sentence_and_what_follows_it() -> None:
    held = clips([Cue(5.0 * n, 5.0 * n + 5, text) for n, text in enumerate(SAID)])
    start = held[0].text.index(SAID[1])
    text, seconds = around(held, held[0], start, start + len(SAID[1]), {})
    assert text == " ".join(SAID) and seconds == (0.0, 20.0)


def test_a_passage_ends_at_a_silence() -> None:
    held = clips([Cue(0, 5, SAID[0]), Cue(5, 10, SAID[1]), Cue(20, 25, SAID[2])])
    start = held[0].text.index(SAID[1])
    assert around(held, held[0], start, start + len(SAID[1]), {})[1] == (0.0, 10.0)


def test_who_speaks_into_a_long_sentence_makes_no_silence() -> None:
    long = "The engine of the ferry was made in Pell. A rope of hemp was all that held it then."
    held = clips([Cue(0, 20, long, "Ann"), Cue(5, 6, "Really?", "Bob"), Cue(20.5, 23, SAID[0], "Ann")])
    start = held[0].text.index(SAID[0])
    text, seconds = around(held, held[0], start, start + len(SAID[0]), {"engin": 1.0, "rope": 1.0})
    assert "engine" in text and seconds[0] == 0.0


def test_a_passage_goes_on_across_the_border_of_a_clip_under_one_name() -> None:
    said = [Cue(8.0 * n, 8.0 * n + 8, text, "Ada") for n, text in enumerate((*SAID[1:], *SAID[1:]))]
    held = clips(said)
    assert len(held) == 2 and held[1].text.startswith("Ada: ")
    last = held[0].text.rindex(SAID[3] if SAID[3] in held[0].text else SAID[1])
    text, (start, end) = around(held, held[0], last, last + 20, {})
    assert start < held[1].locator["start"] < end
    assert "Ada:" not in text.removeprefix("Ada:")


def test_a_passage_reaches_for_the_words_of_the_question() -> None:
    long = "It " + "went on and on " * 15 + "for days."
    held = clips([Cue(0, 9, long), Cue(9, 12, SAID[0]), Cue(12, 20, SAID[1]), Cue(20, 29, long + " Zanzibar was far.")])
    start = held[0].text.index(SAID[0])
    plain, _ = around(held, held[0], start, start + len(SAID[0]), {})
    reached, _ = around(held, held[0], start, start + len(SAID[0]), {"zanzibar": 1.0})
    assert "Zanzibar" not in plain and "Zanzibar" in reached
    assert len(reached.split()) <= LONGEST


def test_a_slide_is_told_with_its_title_for_as_long_as_it_stood() -> None:
    lines = ("What it is", "Source: the archive", "All of it is free")
    shown = tuple(Shown(10.0, 50.0, line) for line in lines)
    held = clips([], (*shown, Shown(51.0, 58.0, "Another slide")))
    start = held[0].text.index("Source")
    text, seconds, _ = slide(held, held[0], start)
    assert text == "\n".join(lines) and seconds == (10.0, 50.0)


def whole(minutes: int, chapters: tuple[tuple[float, float, str], ...] = ()) -> Item:
    things = [f"{letter * 3}stone" for letter in "abcdefghijklmnopqrst" for _ in range(minutes // 10)]
    lines = [f"Now the {thing} is set in the long wall of the garden." for thing in things]
    said = [Cue(30.0 * n, 30.0 * n + 8, line) for n, line in enumerate(lines)]
    recording = Recording("Talk", 60.0 * minutes, tuple(said), "subtitles", chapters=chapters)
    return next(i for i in items_of("s", "talk.mp4", recording) if i.corpus == "video")


def test_chapters_are_told_with_their_time_and_a_sentence_of_each() -> None:
    item = whole(30, ((0.0, 900.0, "Stone"), (900.0, 1800.0, "Garden")))
    rows = [(head, item.text[s.start : s.end]) for head, s in outline(item)]
    assert [head for head, _ in rows] == ["0:00 Stone", "15:00 Garden"]
    assert all("is set in the long wall" in text for _, text in rows)


def test_a_recording_without_chapters_is_told_by_at_most_twelve_stretches() -> None:
    heads = [head for head, _ in outline(whole(60))]
    assert len(heads) == MOST and heads == sorted(heads, key=lambda h: tuple(map(int, h.split(":"))))


class Told:
    """A page that keeps what it is told."""

    def __init__(self) -> None:
        self.rows: list[Strip] = []

    def show(self, text: str, support: str, strips: list[Strip], sure: float, sign: str = "") -> None:
        self.rows += strips


def test_each_chapter_is_shown_by_a_frame_of_its_own_seconds() -> None:
    lines = [f"Now the {letter * 3}stone is set in the wall." for letter in "abcdefghijklmnop"]
    said = tuple(Cue(30.0 * n, 30.0 * n + 8, line) for n, line in enumerate(lines))
    frames = tuple(Frame(float(t), f"f{t}") for t in range(0, 480, 2))
    named = tuple((60.0 * n, 60.0 * (n + 1), f"Part {n}") for n in range(8))
    *clips, whole = items_of(
        "s", "talk.mp4", Recording("Talk", 480.0, said, "subtitles", frames=frames, chapters=named)
    )
    page: Any = Told()
    assert show(whole, clips, "what is it about", page)
    told = [s["locator"] for s in page.rows[1:]]
    assert len({p["image"] for p in told}) == len(told) >= LEAST
    assert all(p["start"] - 2 <= float(p["image"][1:]) <= p["end"] + 2 for p in told)


class Shelf:
    """A desk whose library holds given items."""

    def __init__(self, held: list[Item]) -> None:
        self.held = {i.id: i for i in held}

    async def library(self) -> Shelf:
        return self

    async def items(self, ids: list[str]) -> dict[str, Item]:
        return {i: self.held[i] for i in ids if i in self.held}

    async def items_of(self, source: str, corpus: str) -> list[Item]:
        return [i for i in self.held.values() if (i.source, i.corpus) == (source, corpus)]


async def test_a_passage_of_several_slides_shows_the_one_of_its_sentence() -> None:
    said = tuple(Cue(6.0 * n, 6.0 * n + 5.5, line) for n, line in enumerate(SAID))
    frames = tuple(Frame(float(t), f"f{t}") for t in range(0, 24, 2))
    [clip, _] = items_of("s", "talk.mp4", Recording("Talk", 24.0, said, "subtitles", frames=frames))
    row = as_strip(evidence_of(clip, "", 1, 0.0, 0.0))
    start = clip.text.index(SAID[3])
    best = Extract(row, start, start + len(SAID[3]), 0.0, frozenset())
    told = (await passage(Shelf([clip]), best, "where did it run", lambda _: 1.0))["locator"]  # type: ignore[arg-type]
    assert told["start"] < 18.0 and told["image"] in ("f20", "f22")


async def test_speech_is_doubtful_where_the_recogniser_was_not_sure_and_the_screen_is_not() -> None:
    for confidence, doubted in ((0.5, True), (0.9, False)):
        said = (Cue(0.0, 5.0, SAID[1], confidence=confidence),)
        recording = Recording("Talk", 20.0, said, "pocketsphinx", (Shown(1.0, 4.0, "What it is"),))
        clip = next(i for i in items_of("s", "talk.mp4", recording) if i.corpus == "clip")
        row = as_strip(evidence_of(clip, "", 1, 0.0, 0.0))
        for text, expected in ((SAID[1], doubted), ("What it is", False)):
            start = clip.text.index(text)
            found = Extract(row, start, start + len(text), 0.0, frozenset())
            told = await passage(Shelf([clip]), found, "", lambda _: 1.0)  # type: ignore[arg-type]
            assert told["locator"].get("doubtful", False) is expected


@pytest.mark.parametrize(
    ("question", "found", "read"),
    [
        ("Which stone is set last?", ("whole", "clip"), ["clip"]),
        ("Which stone is set last?", ("whole",), []),
        ("Which video shows stones?", ("whole",), ["video"]),
    ],
)
def test_the_whole_of_a_recording_answers_no_fact(question: str, found: tuple[str, ...], read: list[str]) -> None:
    clip = clips([Cue(0, 5, "The aaastone is set in the wall.")])[0]
    held = {"whole": whole(30), "clip": clip}
    rows = {held[n].id: evidence_of(held[n], question, 1, 0.5, 0.5) for n in found}
    kept = [as_strip(e) for e in rows.values()]
    brief = Brief(question, kept, rows, [], 0.5, None, (), True)
    assert [rows[s["evidence"]]["corpus"] for s in readable(brief)] == read


def test_what_answered_the_first_query_stays_relevant_when_a_later_one_finds_it_again() -> None:
    clip = clips([Cue(0, 5, "The aaastone is set in the wall.")])[0]
    first, later = (evidence_of(clip, query, hop, 0.5, found) for query, hop, found in (("a", 1, 0.7), ("b", 2, -0.6)))
    brief = Brief("Which stone is set last?", [as_strip(first)], {clip.id: later}, [], 0.7, None, (), True)
    assert [s["score"] for s in readable(brief)] == [0.7]


@pytest.mark.usefixtures("home")
async def test_a_text_that_leads_by_what_stands_around_it_is_told_as_a_text(tmp_path: Path) -> None:
    said = ("Let us look at the weather of this week.", "The mechanic starts on 9 June at the shop.")
    times = ("00:00.000 --> 00:05.000", "00:05.000 --> 00:10.000")
    talk = "WEBVTT\n\n" + "\n".join(f"{time}\n{text}\n" for time, text in zip(times, said, strict=True))
    staff = """Jonas is the mechanic whom the bicycle shop has found.

The mechanic starts on 1 December. He brings the brush of the bicycle shop in the village."""
    await build_library(tmp_path / "notes", {"talk.vtt": talk, "staff.txt": staff})
    question = "When does the mechanic start at the shop in the village?"
    answer = await aask(question, context=Context(mind="small"))
    assert "1 December" in answer.text and "heading" in {c.locator.get("kind") for c in answer.citations}
