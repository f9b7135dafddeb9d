"""What a run would take, said before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ragweave.corpora.ingest.estimate import estimate
from ragweave.corpora.knowledge.facts import Extractor, Found
from ragweave.corpora.video.estimate import hearing, spoken_in
from ragweave.corpora.video.streams import examine
from ragweave.models.caption import Captioner
from ragweave.models.settings import model_settings
from ragweave.models.vad import Sound, Stretch
from tests.corpora.video.conftest import Ffmpeg, Film, Hears, ScriptedAsr
from tests.corpora.video.test_captions import Eye


async def test_recordings_texts_and_what_cannot_be_read_are_told_apart(film: Film, home: Path) -> None:
    path = film(seconds=40)
    path.with_suffix(".vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nHello.\n")
    film("sound.mp3", 20, picture=False)
    path.with_name("note.txt").write_text("x" * 1000)
    path.with_name("broken.mkv").write_bytes(b"\x1aE\xdf\xa3 and nothing more")
    found = estimate([path.parent], "default")
    assert (found.texts, found.text_bytes, found.asked) == (1, 1000, [])
    assert {(Path(r.path).name, round(r.seconds), r.picture, r.speech) for r in found.recordings} == {
        ("film.mp4", 40, True, "subtitles"),
        ("sound.mp3", 20, False, ""),
    }
    assert [Path(p).name for p, _ in found.unreadable] == ["broken.mkv"]
    assert 3 < found.seconds < 10
    assert not (home / "perceived").exists()


async def test_calls_tokens_and_cost_of_the_vision_model(film: Film, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_RATES", '{"gpt-x": [1.0, 2.0]}')
    model_settings.cache_clear()
    path = film(seconds=70)
    eye = Eye()
    [priced] = estimate([path.parent], "default", Captioner("gpt-x at api.example", eye.ask, eye.check)).asked
    assert (priced.calls, priced.tokens) == (3, 3 * (5 * 1000 + 500) + 3 * 120)
    assert priced.cost == pytest.approx((16_500 * 1.0 + 360 * 2.0) / 1e6)
    assert estimate([path.parent], "default", eye.captioner).asked[0].cost is None
    assert eye.asked == []


async def test_entities_are_counted_by_the_hours_that_are_heard_and_what_captions_add(film: Film) -> None:
    path = film(seconds=300)
    path.with_suffix(".vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\nHello.\n")
    eye, reader = Eye(), Extractor("reader", by_list)
    [entities] = estimate([path.parent], "default", extractor=reader).asked
    assert (entities.what, entities.calls, entities.tokens) == ("entities", 2, 2 * (1200 + 400 + 400))
    both = estimate([path.parent], "default", eye.captioner, reader).asked
    assert [a.what for a in both] == ["captions", "entities"] and both[1].calls == 3


async def test_entities_of_a_transcript_that_stands_alone_are_counted_by_its_words(tmp_path: Path, home: Path) -> None:
    (tmp_path / "talk.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\n" + "four " * 4_000)
    (tmp_path / "note.txt").write_text("four " * 4_000)
    [entities] = estimate([tmp_path], "default", extractor=Extractor("reader", by_list)).asked
    assert entities.calls == 5  # of 1,200 tokens of four bytes


def loud(blocks: Iterator[Sound], longest: float) -> Iterator[Stretch]:
    """Take every tenth of a second that is not silent for speech."""
    whole = np.concatenate(list(blocks))
    for start in range(0, len(whole), 1600):
        if (part := whole[start : start + 1600]).any():
            yield Stretch(start, part, 0.9)


async def test_speech_is_told_from_parts_of_a_recording_and_the_silence_around_it_costs_little(
    film: Film, ffmpeg: Ffmpeg, hears: Hears, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragweave.corpora.video.estimate.stretches", loud)
    path, engine = tmp_path / "speech.wav", ScriptedAsr("a word")
    ffmpeg("-i", str(film("tone.wav", 50, picture=False)), "-af", "apad=whole_dur=200", str(path))
    container = examine(str(path), "wav")
    for most, near in ((600.0, 0.5), (100.0, 10.0), (40.0, 10.0)):
        assert spoken_in(str(path), "wav", container, most) == pytest.approx(50, abs=near)
    hears(engine)
    found = estimate([path], "default")
    [recorded] = found.recordings
    assert (recorded.speech, round(recorded.spoken), engine.heard) == ("whisper", 50, [])
    assert found.work == pytest.approx(1 + 0.5 * 50 + 0.01 * 200, rel=0.02)


@pytest.mark.parametrize(
    "seconds, spoken, took",
    [
        *((155.5, 146.7, 80.0), (231.5, 27.8, 47.3), (122.7, 114.0, 63.9), (13.1, 11.6, 8.7), (52.2, 3.7, 7.3)),
        *((155.5, 146.7, 63.2), (231.5, 27.8, 34.0), (122.7, 114.0, 45.0), (13.1, 11.6, 7.9), (52.2, 3.7, 3.8)),
    ],
)
def test_hearing_is_estimated_within_half_of_what_was_measured(seconds: float, spoken: float, took: float) -> None:
    """Processor seconds of pocketsphinx on a lecture, a film, a talk, a report and a trailer, at two loads."""
    assert 1 / 1.5 < hearing("pocketsphinx", seconds, spoken) / took < 1.5
    assert hearing("subtitles", 100.0, 100.0) == hearing("", 100.0, 0.0) == 0.0


async def by_list(text: str) -> Found:
    raise AssertionError("an estimate asks nobody")
