"""What a recording costs before it is taken in, and how much of it is speech."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from ragweave.corpora.ingest.estimate import estimate
from ragweave.corpora.video.estimate import hearing, spoken_in
from ragweave.corpora.video.intake import demuxer_of
from ragweave.corpora.video.streams import examine
from ragweave.models.vad import Sound, Stretch
from tests.corpora.video.conftest import Film, ScriptedAsr


def loud(blocks: Iterator[Sound], longest: float) -> Iterator[Stretch]:
    """Take every tenth of a second that is not silent for speech."""
    whole = np.concatenate(list(blocks))
    for start in range(0, len(whole), 1600):
        if (part := whole[start : start + 1600]).any():
            yield Stretch(start, part, 0.9)


@pytest.fixture
def half_silent(film: Film, ffmpeg: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording of 200 seconds, of which the first 50 are a tone and the rest is silence."""
    monkeypatch.setattr("ragweave.corpora.video.estimate.stretches", loud)
    tone = film("tone.wav", 50, picture=False)
    path = tone.with_name("speech.wav")
    ffmpeg("-i", str(tone), "-af", "apad=whole_dur=200", str(path))
    tone.unlink()
    return path


@pytest.mark.parametrize("most", [600.0, 100.0, 40.0])
def test_the_speech_of_a_recording_is_told_from_parts_spread_over_it(half_silent: Path, most: float) -> None:
    how = demuxer_of(str(half_silent))
    found = spoken_in(str(half_silent), how, examine(str(half_silent), how), most)
    assert found == pytest.approx(50, abs=0.5 if most > 200 else 10)


async def test_the_estimate_counts_the_speech_and_not_the_silence_around_it(
    half_silent: Path, hears: Callable[[ScriptedAsr | None], None]
) -> None:
    engine = ScriptedAsr("a word")
    hears(engine)
    found = estimate([half_silent], "default")
    [recorded] = found.recordings
    assert (recorded.speech, round(recorded.spoken)) == ("whisper", 50)
    assert found.work == pytest.approx(1 + 0.5 * 50 + 0.01 * 200, rel=0.02)
    assert engine.heard == []


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


def test_subtitles_cost_no_hearing() -> None:
    assert hearing("subtitles", 100.0, 100.0) == hearing("", 100.0, 0.0) == 0.0
