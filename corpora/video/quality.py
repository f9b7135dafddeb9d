"""Write one sentence about how well a recording was understood, and how to improve that."""

from __future__ import annotations

from pathlib import PurePath

from ragweave.corpora.types import SURE
from ragweave.corpora.video.recording import Recording


def understood(recording: Recording, path: str) -> str:
    """Return where the words of a recording come from, how certain they are, and how to improve them."""
    screen = ""
    lines = len(recording.shown)
    if lines:
        screen = f"{lines:,} line{'s' * (lines != 1)} read on its screen"
    if not recording.cues:
        return f"no speech was understood, {screen or 'and nothing was read on its screen'}"
    if recording.speech in ("subtitles", "transcript"):
        return _joined(f"its words are taken from its {recording.speech}", screen)
    sure = _mean_confidence(recording)
    heard = _joined(f"heard by {recording.speech}, which was {sure:.0%} sure of its words", screen)
    if sure >= SURE:
        return heard
    return (
        f"{heard}; what was heard is searched and quoted as heard, perhaps wrongly: a subtitle file next to"
        f" it ({PurePath(path).stem}.srt) or another RAGWEAVE_ASR (`ragweave setup speech`) would improve it"
    )


def _joined(speech: str, screen: str) -> str:
    return f"{speech}, {screen}" if screen else speech


def _mean_confidence(recording: Recording) -> float:
    """Return the mean confidence of the characters of all utterances."""
    characters = 0
    weighted = []
    for cue in recording.cues:
        characters += len(cue.text)
        weighted.append(cue.confidence * len(cue.text))
    return sum(weighted) / (characters or 1)
