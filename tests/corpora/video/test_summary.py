"""What a recording is about, in its own words."""

from __future__ import annotations

from ragweave.corpora.phrases import key_phrases
from ragweave.corpora.video.recording import Cue, Recording
from ragweave.corpora.video.summary import summary, telling
from ragweave.models.text import clock


def test_times_read_as_people_write_them() -> None:
    assert [clock(t) for t in (0, 61.9, 751, 3723)] == ["0:00", "1:01", "12:31", "1:02:03"]


def test_names_and_repeated_phrases_are_key_and_sentence_openers_are_not() -> None:
    text = (
        "That is why Ada Lovelace wrote notes. It was Ada Lovelace again. That punched cards work. "
        "We saw punched cards in looms, and punched cards in engines. It was so. That was so."
    )
    found = key_phrases(text)
    assert found[0] == "Ada Lovelace"
    assert "punched cards" in found
    assert not {"That", "It", "We"} & set(found)


def test_chapters_of_the_container_and_telling_sentences_stand_in_the_summary_with_their_times() -> None:
    cues = tuple(
        Cue(n * 20.0, n * 20.0 + 10, f"The engine number {n} weaves patterns from cards and cards.") for n in range(20)
    )
    recording = Recording(
        "Looms", 400.0, cues, "subtitles", chapters=((0.0, 200.0, "Threads"), (200.0, 400.0, "Cards"))
    )
    text, spans = summary(recording)
    assert text.startswith("Looms\n\nChapters:\n0:00 Threads\n3:20 Cards")
    placed = {text[s.start : s.end]: s.time for s in spans}
    assert placed["3:20 Cards"] == (200.0, 400.0)
    assert any(t.startswith("The engine number") for t in placed)
    assert len(telling(recording)) == 1  # nothing is told twice


def test_a_recording_without_words_is_its_title() -> None:
    assert summary(Recording("quiet", 30.0)) == ("quiet", ())


def test_words_of_talk_are_no_key_phrases() -> None:
    told = "We've got a little bit of time. I don't know, it's like a little bit of a drum machine. "
    assert key_phrases(told * 3) == ["drum machine"]
