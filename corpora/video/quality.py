"""One sentence on how well a recording was understood, and what would mend it."""

from __future__ import annotations

from pathlib import PurePath

from ragweave.corpora.types import SURE
from ragweave.corpora.video.recording import Recording


def understood(recording: Recording, path: str) -> str:
    """Return where the words of a recording come from, how sure the recogniser was, and what would make that better."""
    lines = len(recording.shown)
    screen = f"{lines:,} line{'s' * (lines != 1)} read on its screen" if lines else ""
    if not recording.cues:
        return f"no speech was understood, {screen or 'and nothing was read on its screen'}"
    if recording.speech in ("subtitles", "transcript"):
        return ", ".join(filter(None, (f"what is said is taken from its {recording.speech}", screen)))
    count = sum(len(c.text) for c in recording.cues) or 1
    sure = sum(c.confidence * len(c.text) for c in recording.cues) / count
    told = ", ".join(
        filter(None, (f"heard by {recording.speech}, which was {sure:.0%} sure of its words", screen))
    )
    if sure >= SURE:
        return told
    return (
        f"{told}; what was heard is searched and quoted as heard, perhaps wrongly: subtitles beside it "
        f"({PurePath(path).stem}.srt) or another RAGWEAVE_ASR (`ragweave setup speech`) would mend that"
    )
