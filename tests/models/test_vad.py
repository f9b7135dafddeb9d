"""Speech told from silence: the network on real and made sound, and the cutting of stretches on scripted odds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragweave.models import vad
from ragweave.models.vad import FRAME, PAUSE, RATE, Stretch, stretches, windows


class ScriptedVad:
    """Says of each frame what its first sample is, in hundredths."""

    def __call__(self, sound: np.ndarray) -> np.ndarray:
        return sound.reshape(-1, FRAME)[:, 0] * 32768 / 100


def told(*runs: tuple[float, int]) -> vad.Sound:
    """Return sound whose frames have these odds: (seconds, hundredths)."""
    return np.concatenate([np.full(int(s * RATE) // FRAME * FRAME, odds, np.int16) for s, odds in runs])


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faster_whisper.vad.get_vad_model", ScriptedVad)


def seconds(found: list[vad.Stretch]) -> list[tuple[float, float]]:
    return [(round(s.start / RATE, 1), round(s.end / RATE, 1)) for s in found]


def test_stretches_are_speech_with_a_margin_and_short_pauses_inside(scripted: None) -> None:
    sound = told((1, 0), (2, 90), (0.2, 0), (1, 90), (2, 0), (1.5, 80), (1, 0))
    found = list(stretches([sound], 15))
    assert [t for s in seconds(found) for t in s] == pytest.approx([0.8, 4.4, 6.0, 7.8], abs=0.11)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.floats(0.1, 4), st.sampled_from([0, 20, 45, 60, 95])), min_size=1, max_size=8),
    st.integers(200, 40_000),
)
def test_how_the_sound_comes_in_blocks_changes_nothing(runs: list[tuple[float, int]], block: int) -> None:
    sound = told(*runs)

    def blocks() -> Iterator[vad.Sound]:
        for at in range(0, len(sound), block):
            yield sound[at : at + block]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("faster_whisper.vad.get_vad_model", ScriptedVad)
        patch.setattr(vad, "_PORTION", 12 * RATE)
        whole, parts = list(stretches([sound], 5)), list(stretches(blocks(), 5))
    assert [(s.start, len(s.sound)) for s in parts] == [(s.start, len(s.sound)) for s in whole]
    assert all(np.array_equal(a.sound, b.sound) for a, b in zip(parts, whole, strict=True))
    assert all(np.array_equal(s.sound, sound[s.start : s.end]) for s in whole)
    assert all(len(s.sound) <= (5 + 0.5) * RATE for s in whole)


def test_silence_tones_and_noise_are_no_speech() -> None:
    time = np.arange(4 * RATE) / RATE
    rng = np.random.default_rng(3)
    for sound in (np.zeros(4 * RATE), np.sin(2 * np.pi * 440 * time) * 0.4, rng.normal(0, 0.1, 4 * RATE)):
        assert list(stretches([(sound * 32767).astype(np.int16)], 15)) == []


spoken = st.lists(st.tuples(st.integers(0, 5 * RATE), st.integers(1, 6 * RATE)), max_size=8)


@given(spoken)
def test_windows_hold_every_stretch_at_its_place_and_silence_between_them(
    pieces: list[tuple[int, int]],
) -> None:
    found, at = [], 0
    for gap, length in pieces:
        found.append(Stretch(at + gap, np.full(length, len(found) + 1, np.int16)))
        at += gap + length
    made = list(windows(found, 12.0))
    whole = np.zeros(at, np.int16)
    for window in made:
        assert len(window.sound) <= 12 * RATE
        whole[window.start : window.end] = window.sound
    for stretch in found:
        assert np.array_equal(whole[stretch.start : stretch.end], stretch.sound)
    assert np.count_nonzero(whole) == sum(len(s.sound) for s in found)
    for before, after in pairwise(made):
        joint = after.start + min(len(s.sound) for s in found if s.start == after.start) - before.start
        assert after.start - before.end > PAUSE * RATE or joint > 12 * RATE
    # What comes later changes only the last window.
    shorter = [(w.start, w.end) for w in windows(found[:-1], 12.0)]
    assert [(w.start, w.end) for w in made][: len(shorter) - 1] == shorter[:-1] or not shorter
