"""How sure a recogniser was: kept for each utterance, told after indexing, and rude words only where it was certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragweave.corpora.types import Item
from ragweave.corpora.video.items import items_of
from ragweave.corpora.video.listen import _cue
from ragweave.corpora.video.profanity import LEFT_OUT, decent
from ragweave.corpora.video.quality import understood
from ragweave.corpora.video.recording import Cue, Recording, Shown
from ragweave.models.asr import Transcript, Word


def clip_of(*cues: Cue, shown: tuple[Shown, ...] = ()) -> Item:
    recording = Recording("Talk", 40.0, cues, "pocketsphinx", shown)
    return next(i for i in items_of("s", "talk.mp4", recording) if i.corpus == "clip")


@pytest.mark.parametrize(
    ("text", "sure", "whole", "shown"),
    [
        ("the shit hit the fan", (0.9, 0.5, 0.9, 0.9, 0.9), 0.95, f"the {LEFT_OUT} hit the fan"),
        ("the shit hit the fan", (0.9, 0.95, 0.9, 0.9, 0.9), 0.95, "the shit hit the fan"),
        ("the shit hit the fan", (0.9, 0.95, 0.9, 0.9, 0.9), 0.5, f"the {LEFT_OUT} hit the fan"),
        ("Shit, no!", (), 0.4, f"{LEFT_OUT} no!"),
        ("a cocktail in Scunthorpe with Dickens", (), 0.1, "a cocktail in Scunthorpe with Dickens"),
    ],
)
def test_a_rude_word_is_shown_only_where_it_was_certainly_heard(
    text: str, sure: tuple[float, ...], whole: float, shown: str
) -> None:
    assert decent(text, sure, whole) == shown


def test_what_is_heard_keeps_how_sure_each_word_was() -> None:
    words = (Word(0, 1, "bloody", 0.8), Word(1, 2, "bastard", 0.4))
    cue = _cue(10.0, 12.0, Transcript("bloody bastard", words, 0.6))
    assert cue.text == f"bloody {LEFT_OUT}" and cue.sure == (0.8, 0.4)
    assert [w[:2] for w in cue.words] == [(10.0, 11.0), (11.0, 12.0)]


def test_a_year_that_was_said_is_one_word_of_digits_with_its_time() -> None:
    said = "in nineteen sixty eight we met"
    words = tuple(Word(float(n), n + 0.5, w, 0.9 - 0.1 * n) for n, w in enumerate(said.split()))
    cue = _cue(10.0, 20.0, Transcript(said, words, 0.8))
    assert cue.text == "in 1968 we met"
    assert [w for *_, w in cue.words or ()] == ["in", "1968", "we", "met"]
    assert cue.words is not None and cue.words[1][:2] == (11.0, 13.5)
    assert [round(s, 1) for s in cue.sure] == [0.9, 0.6, 0.5, 0.4]


def test_a_year_is_read_where_only_whole_sentences_have_times() -> None:
    said = ("Good morning to you.", "It began in nineteen eighty four.")
    words = (Word(0, 2, said[0], 0.85), Word(2, 5.3, said[1], 0.85))
    cue = _cue(10.0, 15.3, Transcript(" ".join(said), words, 0.9))
    assert cue.text == "Good morning to you. It began in 1984."
    assert " ".join(w for *_, w in cue.words) == "Good morning to you. It began in 1984"
    assert cue.words[0][:2] == (10.0, 10.4) and cue.words[4][:2] == (12.0, 12.2) and cue.words[-1][:2] == (13.2, 15.3)
    assert len(cue.sure) == len(cue.words)


def test_each_utterance_of_a_clip_has_its_own_confidence() -> None:
    clip = clip_of(Cue(0, 5, "It was clear.", confidence=0.9), Cue(5, 9, "it was mumbled", confidence=0.4))
    clear, mumbled = (clip.text.index(t) for t in ("It was clear.", "it was mumbled"))
    assert clip.sureness(clear, clear + 13) == 0.9
    assert clip.sureness(mumbled, mumbled + 14) == 0.4
    assert clip.sureness(clear, mumbled + 14) == 0.4


def test_what_stood_on_the_screen_or_was_written_by_people_is_sure() -> None:
    clip = clip_of(Cue(0, 5, "it was mumbled", confidence=0.4), shown=(Shown(1, 9, "What it is"),))
    start = clip.text.index("What")
    assert clip.sureness(start, start + 10) == 1.0
    assert clip_of(Cue(0, 5, "It was written.")).sureness(0, 15) == 1.0


def test_a_long_stretch_is_parted_with_the_confidence_of_its_own_words() -> None:
    said = "One two three four five six. " * 2
    words = tuple((float(n), n + 1.0, w) for n, w in enumerate(said.split()))
    sure = tuple(0.9 if n < 6 else 0.3 for n in range(12))
    clip = clip_of(Cue(0, 14, said.strip(), confidence=0.6, words=words, sure=sure))
    assert clip.meta["sure"] == [0.9, 0.3]


@pytest.mark.parametrize(
    ("recording", "told"),
    [
        (Recording("T", 9, (Cue(0, 2, "word", confidence=0.5),), "pocketsphinx"), "50% sure"),
        (Recording("T", 9, (Cue(0, 2, "word", confidence=0.5),), "pocketsphinx"), "talk.srt"),
        (Recording("T", 9, (Cue(0, 2, "word"),), "subtitles", (Shown(0, 1, "A"),)), "its subtitles, 1 line read"),
        (Recording("T", 9), "no speech was understood"),
    ],
)
def test_one_sentence_says_how_well_a_recording_was_understood(recording: Recording, told: str) -> None:
    said = understood(recording, str(Path("/films/talk.mp4")))
    assert told in said and "\n" not in said


def test_nothing_is_to_be_mended_where_the_recogniser_was_sure() -> None:
    recording = Recording("T", 9, (Cue(0, 2, "word", confidence=0.9),), "whisper")
    assert "mend" not in understood(recording, "talk.mp4")
