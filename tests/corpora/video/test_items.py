"""Clip and video items: what they hold and where it lies."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ragweave.corpora.chunks import chunks_of
from ragweave.corpora.store.rows import pack, unpack
from ragweave.corpora.types import Item
from ragweave.corpora.video.items import items_of, utterances
from ragweave.corpora.video.recording import Cue, Frame, Recording, Shown
from ragweave.models.chat_reply import tokens_of

CUES = (
    Cue(1.0, 3.0, "The engine weaves algebraic patterns."),
    Cue(3.2, 5.0, "It counts", speaker=""),
    Cue(5.0, 6.0, "by punched cards."),
    Cue(40.0, 43.0, "Bernoulli numbers come later."),
)


def made(**parts: object) -> list[Item]:
    values: dict[str, object] = {"title": "Engines", "duration": 60.0, "cues": CUES, "speech": "subtitles", **parts}
    return items_of("src", "/films/engines.mp4", Recording(**values))  # type: ignore[arg-type]


def test_a_clip_holds_transcript_then_screen_then_caption_and_says_where_each_lies() -> None:
    clip, _, video = made(shown=(Shown(2, 20, "Note G"),), captions=("A woman at a loom", ""))
    parts = clip.meta["parts"]
    assert isinstance(parts, dict)
    found = {name: clip.text[a:b] for name, (a, b) in parts.items()}
    assert list(found) == ["transcript", "screen", "caption"]
    assert found["transcript"].startswith("The engine weaves") and found["transcript"].endswith("by punched cards.")
    assert (found["screen"], found["caption"]) == ("Note G", "A woman at a loom")
    assert clip.text == "\n\n".join(found.values())
    assert (video.corpus, video.locator["end"], video.meta["duration"]) == ("video", 60.0, 60.0)


def test_a_stretch_of_a_clip_is_located_by_the_seconds_of_its_sentences() -> None:
    clip = made()[0]
    at = clip.text.index("It counts")
    found = clip.locate(at, len(clip.text))
    assert (found["start"], found["end"]) == (3.2, 6.0)
    second = made()[1]
    assert (second.locate(0, 9)["start"], second.locate(0, 9)["end"]) == (40.0, 43.0)


def test_spans_with_times_survive_the_catalog() -> None:
    for item in made():
        assert unpack(pack(item)) == item


def test_a_whole_recording_keeps_two_and_thirty_frames_of_all_of_it() -> None:
    *_, video = made(frames=tuple(Frame(float(t), f"f{t}") for t in range(60)))
    kept = [int(str(name)[1:]) for name in video.meta["pictures"]]  # type: ignore[attr-defined]
    assert len(kept) == 32 and kept[0] == 0 and kept[-1] >= 57 and kept == sorted(kept)


def test_frames_belong_to_the_clip_they_lie_in_and_the_middle_one_stands_for_it() -> None:
    frames = tuple(Frame(float(t), f"f{t}") for t in range(0, 60, 6))
    first, second, video = made(frames=frames)
    assert first.locator["image"] == "f12"
    assert first.meta["frames"] == [[0.0, "f0"], [6.0, "f6"], [12.0, "f12"], [18.0, "f18"], [24.0, "f24"]]
    assert second.locator["image"] in ("f42", "f48")
    assert video.locator["image"] == "f30"


def test_a_stretch_of_a_clip_is_shown_by_the_frame_of_its_own_seconds() -> None:
    clip = made(frames=tuple(Frame(float(t), f"f{t}") for t in range(0, 60, 2)))[0]
    at = clip.text.index("It counts")
    assert clip.locator["image"] == "f14"
    assert clip.locate(at, len(clip.text))["image"] == "f4"
    assert clip.during(26.0, 29.0)["image"] == "f28"


def test_a_recording_without_words_or_pictures_still_has_its_clips_and_its_title() -> None:
    clip, second, video = items_of("src", "/films/quiet.mkv", Recording("quiet", 60.0))
    assert (clip.text, second.text, video.text) == ("", "", "quiet")
    assert "speech" not in clip.meta


def test_a_turn_of_minutes_is_parted_at_its_sentences_with_times_in_proportion() -> None:
    text = " ".join(f"This is sentence number {n} of a long turn." for n in range(12))
    found = utterances([Cue(10.0, 70.0, text, speaker="Ada")])
    assert len(found) == 12
    assert (found[0].start, found[-1].end) == (10.0, 70.0)
    assert all(abs((c.end - c.start) - 5.0) < 0.6 for c in found)


def test_words_with_times_say_when_a_sentence_of_a_long_utterance_was_spoken() -> None:
    words = tuple((n * 5.0, n * 5.0 + 1.0, w) for n, w in enumerate("One here. Two there.".split()))
    found = utterances([Cue(0.0, 16.0, "One here. Two there.", words=words)])
    assert [(c.start, c.end, c.text) for c in found] == [(0.0, 6.0, "One here."), (10.0, 16.0, "Two there.")]


PANEL = (
    Cue(1.0, 18.0, "ALICE: The pension fund lost two million on the copper mine last winter"),
    Cue(6.0, 10.0, "BOB: The new roof was paid by the lottery."),
    Cue(18.5, 21.0, "ALICE: The copper mine had lost two million before."),
)


def test_who_speaks_into_a_long_utterance_does_not_part_it() -> None:
    clip, whole = made(cues=PANEL, duration=22.0)
    assert clip.text.split("\n\n") == [c.text for c in PANEL]
    spoken = clip.text.index("BOB:")
    assert (clip.locate(0, spoken - 2)["start"], clip.locate(0, spoken - 2)["end"]) == (1.0, 18.0)
    copper = clip.text.index("copper")
    assert 6.0 < clip.locate(copper, copper + 6)["start"] < clip.locate(copper, copper + 6)["end"] == 18.0
    assert (clip.locate(spoken, spoken + 4)["start"], clip.locate(spoken, spoken + 4)["end"]) == (6.0, 10.0)
    assert "winter BOB" not in whole.text and PANEL[0].text in whole.text


def test_speakers_that_are_named_beside_their_words_speak_one_after_the_other() -> None:
    text = "The ferret show begins at nine in the market hall, and whoever comes late waits."
    cues = (Cue(1.0, 20.0, text, "Maude"), Cue(5.0, 8.0, "Entries cost four pounds.", "Tomas"))
    clip, _ = made(cues=cues, duration=22.0)
    assert clip.text == f"Maude: {text}\n\nTomas: Entries cost four pounds."


def test_chunks_hold_consecutive_clips_with_absolute_times_and_links() -> None:
    clips = made()
    (whole,) = chunks_of(clips)
    assert whole.clips == (clips[0].id, clips[1].id)
    assert whole.source == "src"
    assert "[0:00-" in whole.text and "Bernoulli" in whole.text
    assert [c.clips for c in chunks_of(clips, tokens=28)] == [(clips[0].id,), (clips[1].id,)]


def test_chunks_share_no_clip() -> None:
    cues = tuple(Cue(n * 30.0, n * 30.0 + 20, f"Clip number {n} speaks of something. " * 4) for n in range(6))
    clips = items_of("s", "/f", Recording("x", 180.0, cues, "subtitles"))
    plain = chunks_of(clips, tokens=100)
    assert all(set(a.clips).isdisjoint(b.clips) for a, b in itertools.pairwise(plain))


@given(st.lists(st.text("ab .", min_size=1, max_size=400), min_size=1, max_size=6), st.integers(20, 80))
def test_chunks_never_lose_a_word_and_never_pass_the_limit(texts: list[str], tokens: int) -> None:
    cues = tuple(Cue(n * 30.0 + 1, n * 30.0 + 11, " ".join(t.split())) for n, t in enumerate(texts))
    clips = items_of("s", "/f", Recording("x", 30.0 * len(texts), cues, "subtitles"))
    found = chunks_of(clips, tokens)
    assert all(tokens_of(c.text) <= tokens for c in found)
    told = "".join("".join(c.text.split()) for c in found)
    assert sum(told.count(x) for x in "ab") == sum("".join(i.text for i in clips[:-1]).count(x) for x in "ab")


def test_of_a_clip_at_the_border_of_a_time_range_what_overlaps_it_stays_where_it_was() -> None:
    frames = tuple(Frame(float(t), f"f{t}") for t in range(0, 60, 2))
    cues = tuple(replace(cue, confidence=0.4 + n / 10) for n, cue in enumerate(CUES))
    clip = made(cues=cues, frames=frames, shown=(Shown(0, 2, "Note F"), Shown(4, 20, "Note G")))[0]
    cut = clip.between(3.1, 5.5)
    assert cut is not None and cut.id == clip.id
    assert cut.text.split() == ["It", "counts", "by", "punched", "cards.", "Note", "G"]
    at = clip.text.index("It counts")
    assert cut.text.index("It counts") == at and cut.locate(at, at + 9) == clip.locate(at, at + 9)
    assert (cut.locator["start"], cut.locator["end"], cut.locator["image"]) == (3.2, 20.0, "f4")
    assert cut.frames == [(4.0, "f4")] and cut.meta["pictures"] == []
    assert cut.sureness(at, len(cut.text)) == clip.sureness(at, len(clip.text)) == 0.5


def test_outside_of_a_time_range_and_of_a_whole_recording_nothing_is_left_and_inside_all_is() -> None:
    first, second, whole = made()
    assert first.between(None, None) is first.between(0, 40) is first.between(None, 100) is first
    assert whole.between(0, 60) is whole and whole.between(1, None) is None is whole.between(None, 59)
    assert first.between(41, None) is None and second.between(None, 10) is None
    assert first.between(10, 20) is None, "nobody speaks in the part of it that overlaps"
    silent = made(cues=(), frames=(Frame(12.0, "f12"), Frame(22.0, "f22")))[0].between(20, 25)
    assert silent is not None and not silent.text and silent.frames == [(22.0, "f22")]
    assert (silent.locator["start"], silent.locator["end"], silent.locator["image"]) == (20, 25, "f22")


@given(st.floats(0, 70), st.floats(0, 70))
def test_every_place_in_what_a_time_range_leaves_overlaps_it(low: float, high: float) -> None:
    for item in made(shown=(Shown(2, 20, "Note G"),)):
        cut = item.between(low, high)
        assert cut is None or all(s.time and s.time[1] > low and s.time[0] < high for s in cut.spans)
        assert cut is None or len(cut.text) == len(item.text)
