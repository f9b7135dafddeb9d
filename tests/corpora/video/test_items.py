"""Clip and video items: where a recording is cut, what they hold, where it lies, and how sure it is."""

from __future__ import annotations

import itertools
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.chunks import chunks_of
from ragweave.corpora.phrases import key_phrases
from ragweave.corpora.store.folders import arrived, sweep
from ragweave.corpora.store.rows import pack, unpack
from ragweave.corpora.types import Item
from ragweave.corpora.video.items import TAIL, cut, items_of
from ragweave.corpora.video.listen import _cue
from ragweave.corpora.video.look import followed
from ragweave.corpora.video.perceived import Perceived, folder_of
from ragweave.corpora.video.recording import Cue, Frame, Recording, Shown
from ragweave.corpora.video.summary import summary, telling
from ragweave.corpora.video.title import titled
from ragweave.corpora.video.utterances import utterances
from ragweave.models.asr import Transcript, Word
from ragweave.models.chat_reply import tokens_of

CUES = (
    Cue(1.0, 3.0, "The engine weaves algebraic patterns."),
    Cue(3.2, 5.0, "It counts", speaker=""),
    Cue(5.0, 6.0, "by punched cards."),
    Cue(40.0, 43.0, "Bernoulli numbers come later."),
)
EVEN = tuple(Frame(float(t), f"f{t}") for t in range(0, 60, 2))


def made(**parts: object) -> list[Item]:
    values: dict[str, object] = {
        "title": "Engines",
        "duration": 60.0,
        "cues": CUES,
        "speech": "subtitles",
        **parts,
    }
    return items_of("src", "/films/engines.mp4", Recording(**values))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("duration", "opens", "expected"),
    [
        (0.0, [], []),
        (34.9, [], [(0, 34.9)]),
        (35.0, [], [(0, 30), (30, 35)]),
        (64.0, [], [(0, 30), (30, 64)]),
        (60.0, [0.0, 28.0, 33.0], [(0.0, 28.0), (28.0, 60.0)]),
        (60.0, [0.0, 10.0, 45.0], [(0.0, 30.0), (30.0, 60.0)]),
    ],
)
def test_clips_are_thirty_seconds_from_where_an_utterance_begins_and_a_short_tail_joins_the_one_before(
    duration: float, opens: list[float], expected: list[tuple[float, float]]
) -> None:
    assert cut(duration, 30.0, opens) == expected


@given(st.floats(0.001, 10_000), st.floats(10, 120), st.lists(st.floats(0, 10_000), max_size=60))
def test_clips_always_cover_the_recording_without_gap_or_overlap(
    duration: float, length: float, opens: list[float]
) -> None:
    found = cut(duration, length, opens)
    assert (found[0][0], found[-1][1]) == (0.0, duration)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(found))
    assert all(min(TAIL, duration) <= b - a <= length * 1.5 + TAIL + 1e-6 for a, b in found)


def test_a_clip_holds_transcript_then_screen_then_caption_and_says_where_each_lies() -> None:
    clip, second, video = made(shown=(Shown(2, 20, "Note G"),), captions=("A woman at a loom", ""))
    parts = clip.meta["parts"]
    assert isinstance(parts, dict)
    found = {name: clip.text[a:b] for name, (a, b) in parts.items()}
    assert list(found) == ["transcript", "screen", "caption"] and clip.text == "\n\n".join(found.values())
    assert found["transcript"].startswith("The engine weaves") and found["transcript"].endswith(
        "by punched cards."
    )
    assert (found["screen"], found["caption"]) == ("Note G", "A woman at a loom")
    assert (video.corpus, video.locator["end"], video.meta["duration"]) == ("video", 60.0, 60.0)
    counts = clip.locate(clip.text.index("It counts"), clip.text.index("Note"))
    assert (counts["start"], counts["end"]) == (3.2, 6.0)
    assert (second.locate(0, 9)["start"], second.locate(0, 9)["end"]) == (40.0, 43.0)
    assert all(unpack(pack(item)) == item for item in (clip, second, video))


def test_the_middle_frame_stands_for_a_clip_the_one_of_its_seconds_for_a_stretch_and_32_for_the_whole() -> (
    None
):
    first, second, video = made(frames=EVEN)
    at = first.text.index("It counts")
    assert (first.locator["image"], first.locate(at, len(first.text))["image"]) == ("f14", "f4")
    assert first.during(26.0, 29.0)["image"] == "f28" and second.meta["frames"][0] == [30.0, "f30"]  # type: ignore[index]
    assert video.locator["image"] == "f30"
    *_, long = made(frames=tuple(Frame(float(t), f"f{t}") for t in range(60)))
    kept = [int(str(name)[1:]) for name in long.meta["pictures"]]  # type: ignore[attr-defined]
    assert len(kept) == 32 and kept[0] == 0 and kept[-1] >= 57 and kept == sorted(kept)


def test_a_long_turn_is_parted_at_its_sentences_by_its_words_times_or_in_proportion() -> None:
    text = " ".join(f"This is sentence number {n} of a long turn." for n in range(12))
    found = utterances([Cue(10.0, 70.0, text, speaker="Ada")])
    assert len(found) == 12 and (found[0].start, found[-1].end) == (10.0, 70.0)
    assert all(abs((c.end - c.start) - 5.0) < 0.6 for c in found)
    words = tuple((n * 5.0, n * 5.0 + 1.0, w) for n, w in enumerate("One here. Two there.".split()))
    found = utterances([Cue(0.0, 16.0, "One here. Two there.", words=words)])
    assert [(c.start, c.end, c.text) for c in found] == [(0.0, 6.0, "One here."), (10.0, 16.0, "Two there.")]


@given(st.lists(st.text("ab .", min_size=1, max_size=400), min_size=1, max_size=6), st.integers(20, 80))
def test_chunks_share_no_clip_lose_no_word_and_never_pass_the_limit(texts: list[str], tokens: int) -> None:
    cues = tuple(Cue(n * 30.0 + 1, n * 30.0 + 11, " ".join(t.split())) for n, t in enumerate(texts))
    clips = items_of("s", "/f", Recording("x", 30.0 * len(texts), cues, "subtitles"))
    found = chunks_of(clips, tokens)
    assert all(tokens_of(c.text) <= tokens for c in found)
    told = "".join("".join(c.text.split()) for c in found)
    assert sum(told.count(x) for x in "ab") == sum("".join(i.text for i in clips[:-1]).count(x) for x in "ab")


def test_of_a_clip_at_the_border_of_a_time_range_what_overlaps_it_stays_where_it_was() -> None:
    cues = tuple(replace(cue, confidence=0.4 + n / 10) for n, cue in enumerate(CUES))
    clip = made(cues=cues, frames=EVEN, shown=(Shown(0, 2, "Note F"), Shown(4, 20, "Note G")))[0]
    part = clip.between(3.1, 5.5)
    assert part is not None and part.text.split() == ["It", "counts", "by", "punched", "cards.", "Note", "G"]
    at = clip.text.index("It counts")
    assert part.text.index("It counts") == at and part.locate(at, at + 9) == clip.locate(at, at + 9)
    assert (part.locator["start"], part.locator["end"], part.frames) == (3.2, 20.0, [(4.0, "f4")])
    assert part.sureness(at, len(part.text)) == clip.sureness(at, len(clip.text)) == 0.5


@given(st.floats(0, 70), st.floats(0, 70))
def test_every_place_in_what_a_time_range_leaves_overlaps_it(low: float, high: float) -> None:
    for item in made(shown=(Shown(2, 20, "Note G"),)):
        part = item.between(low, high)
        assert part is None or all(s.time and s.time[1] > low and s.time[0] < high for s in part.spans)


def test_each_utterance_and_each_part_of_a_long_one_has_its_own_confidence_and_what_was_written_is_sure() -> (
    None
):
    words = tuple((9.0 + n, n + 10.0, w) for n, w in enumerate(["One two three four five six."] * 2))
    long = Cue(9, 30, "One two three four five six. " * 2, confidence=0.6, words=words, sure=(0.9, 0.3))
    cues = (Cue(0, 5, "It was clear.", confidence=0.9), Cue(5, 9, "it was mumbled", confidence=0.4), long)
    clip = made(cues=cues, speech="whisper", duration=30.0, shown=(Shown(1, 9, "What it is"),))[0]
    at = {text: clip.text.index(text) for text in ("It was clear.", "it was mumbled", "What it is")}
    assert {text: clip.sureness(n, n + len(text)) for text, n in at.items()} == {
        "It was clear.": 0.9,
        "it was mumbled": 0.4,
        "What it is": 1.0,
    }
    assert clip.sureness(at["It was clear."], at["it was mumbled"] + 14) == 0.4


@pytest.mark.parametrize("sentences", [False, True])
def test_each_word_that_was_heard_has_its_time(sentences: bool) -> None:
    said = ["Good morning.", "It began in nineteen eighty four."]
    heard = said if sentences else " ".join(said).split()
    words = tuple(Word(float(n), n + 0.5, w, 0.9) for n, w in enumerate(heard))
    cue = _cue(10.0, 20.0, Transcript(" ".join(said), words, 0.8))
    assert cue.text == " ".join(said)
    assert " ".join(w for *_, w in cue.words).rstrip(".") == " ".join(said).rstrip(".")
    assert len(cue.sure) == len(cue.words) and cue.words[0][0] == 10.0


def test_half_a_minute_without_a_word_or_a_frame_is_no_clip() -> None:
    frames = tuple(frame for frame in EVEN if frame.time < 30)
    clips = [i for i in made(duration=150.0, frames=frames) if i.corpus == "clip"]
    assert all(clip.text or clip.frames for clip in clips)
    assert len(clips) == 2


A, B = "a" * 64, "b" * 64


def kept(home: Path, library: str, sha: str, **outcomes: object) -> Path:
    """Keep outcomes of hearing, and one frame."""
    perceived = Perceived(folder_of(home, library, sha))
    for key, value in outcomes.items():
        perceived.put("hear", key, value)
    perceived.put_frame("f.jpg", b"picture")
    perceived.close()
    return perceived.folder


def heard(folder: Path, key: str) -> object:
    """Return a kept outcome, where the frame is there as well."""
    perceived = Perceived(folder)
    frame = perceived.frame("f.jpg")
    found = perceived.get("hear", key)
    perceived.close()
    return found if frame is not None and frame.read_bytes() == b"picture" else None


def test_outcomes_and_frames_come_back_and_a_damaged_database_is_begun_anew(tmp_path: Path) -> None:
    folder = kept(tmp_path, "lib", A, x={"text": "hello"})
    assert (heard(folder, "x"), heard(folder, "y")) == ({"text": "hello"}, None)
    kept(tmp_path, "lib", A, x={"text": "other"})
    assert heard(folder, "x") == {"text": "other"}
    (folder / "stages.sqlite").write_bytes(b"SQLite format 3\0" + os.urandom(5000))
    assert heard(folder, "x") is None
    kept(tmp_path, "lib", A, x=2)
    assert heard(folder, "x") == 2


def test_what_no_source_needs_is_swept_but_not_what_was_just_written(tmp_path: Path) -> None:
    kept(tmp_path, "lib", A)
    kept(tmp_path, "lib", B)
    assert sweep(tmp_path, "lib", [A], since=time.time() - 60) == 0
    assert sweep(tmp_path, "lib", [A]) == 1 and sweep(tmp_path, "none", []) == 0
    assert os.listdir(tmp_path / "libraries" / "lib" / "perceived") == [A[:32]]


def test_what_was_begun_of_a_file_is_kept_while_that_lies_there_as_it_did_and_no_longer(
    tmp_path: Path,
) -> None:
    film, moved = tmp_path / "film.mp4", tmp_path / "other.mp4"
    film.write_bytes(b"film")

    def begun() -> None:
        perceived = Perceived(folder_of(tmp_path, "lib", A))
        perceived.begin(str(film))
        perceived.close()
        assert sweep(tmp_path, "lib", []) == 0

    begun()
    film.rename(moved)
    assert sweep(tmp_path, "lib", []) == 1
    moved.rename(film)
    begun()
    film.write_bytes(b"another film")
    assert sweep(tmp_path, "lib", []) == 1
    begun()
    (folder_of(tmp_path, "lib", A) / "begun").write_text("{}")
    assert sweep(tmp_path, "lib", []) == 1
    begun()
    arrived(tmp_path, "lib", [B])
    assert sweep(tmp_path, "lib", []) == 0
    arrived(tmp_path, "lib", [A])
    assert sweep(tmp_path, "lib", []) == 1, "what the library has held goes with it"


@pytest.mark.parametrize(
    ("frames", "lines"),
    [
        (
            [["Title"], ["Title", "First point"], ["Another"]],
            [(0, 4, "Title"), (2, 4, "First point"), (4, 6, "Another")],
        ),
        ([["The quick brown fox"], ["The qu1ck brown fox"]], [(0, 4, "The quick brown fox")]),
        ([["Q1 2"], ["Q1 3"]], [(0, 2, "Q1 2"), (2, 4, "Q1 3")]),
        ([["Summary"], ["Details"], ["Summary"]], [(0, 2, "Summary"), (2, 4, "Details"), (4, 6, "Summary")]),
        ([["LAION", "LAION"]], [(0, 2, "LAION"), (0, 2, "LAION")]),
    ],
)
def test_a_line_stands_once_with_the_time_in_which_it_was_seen(
    frames: list[list[str]], lines: list[tuple[float, float, str]]
) -> None:
    found = followed([(2.0 * n, 2.0 * n + 2, some) for n, some in enumerate(frames)])
    assert [(s.start, s.end, s.text) for s in found] == lines


@given(st.lists(st.lists(st.text("abc ", max_size=8), max_size=4), max_size=6))
def test_every_line_lies_inside_the_time_of_the_frames(lines: list[list[str]]) -> None:
    found = followed([(2.0 * n, 2.0 * n + 2, some) for n, some in enumerate(lines)])
    assert all(0 <= s.start < s.end <= 2 * len(lines) for s in found)
    assert [s.start for s in found] == sorted(s.start for s in found)


def talk(*lines: str, stands: float = 15.0, shown: float = 55.0) -> Recording:
    """Return a minute of slides, of which the first one has these lines."""
    first = [Shown(0, stands, line) for line in lines]
    return Recording("", 60, (), "", (*first, Shown(stands, stands + shown, "What is next")))


@pytest.mark.parametrize(
    ("recording", "title"),
    [
        (
            talk("Version Control", "Introduction", "Copyright © School 2010"),
            "Version Control: Introduction (vc)",
        ),
        (talk("A Data Set of 400", "Million Pairs", "ada@works.org"), "A Data Set of 400 Million Pairs (vc)"),
        (talk("ext=doc", "Ciphers", "12.03.2024", "Ciphers of old"), "Ciphers (vc)"),
        (talk("One", "Two", "Three", "Four"), "One: Two: Three (vc)"),
        *((talk(*lines), "vc") for lines in (("cc", "57"), ("VC",), ())),
        (talk("Some Studio", shown=5), "vc"),
        (Recording("", 60, (), "", (Shown(0, 2, "Some Studio"), Shown(6, 60, "What is next"))), "vc"),
        (Recording("", 60, (), "", (Shown(10, 60, "The end"),)), "vc"),
    ],
)
def test_a_first_slide_that_stands_gives_the_title_and_the_file_its_name(
    recording: Recording, title: str
) -> None:
    assert titled(recording, "/films/vc.mp4") == title


def test_names_and_repeated_phrases_are_key_and_words_of_talk_are_not() -> None:
    text = (
        "That is why Ada Lovelace wrote notes. It was Ada Lovelace again. That punched cards work. "
        "We saw punched cards in looms, and punched cards in engines. It was so. That was so."
    )
    found = key_phrases(text)
    assert found[0] == "Ada Lovelace" and "punched cards" in found and not {"That", "It", "We"} & set(found)
    told = "We've got a little bit of time. I don't know, it's like a little bit of a drum machine. "
    assert key_phrases(told * 3) == ["drum machine"]


def test_chapters_and_telling_sentences_stand_in_the_summary_with_their_times() -> None:
    cues = tuple(
        Cue(n * 20.0, n * 20.0 + 10, f"The engine number {n} weaves patterns from cards and cards.")
        for n in range(20)
    )
    chapters = ((0.0, 200.0, "Threads"), (200.0, 400.0, "Cards"))
    recording = Recording("Looms", 400.0, cues, "subtitles", chapters=chapters)
    text, spans = summary(recording)
    assert text.startswith("Looms\n\nChapters:\n0:00 Threads\n3:20 Cards")
    placed = {text[s.start : s.end]: s.time for s in spans}
    assert placed["3:20 Cards"] == (200.0, 400.0) and any(t.startswith("The engine number") for t in placed)
    assert len(telling(recording)) == 1, "nothing is told twice"
    assert summary(Recording("quiet", 30.0)) == ("quiet", ())
