"""Split long utterances of a recording, so that a citation points to a few seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragweave.corpora.video.recording import Cue
from ragweave.models.text import sentences

LONGEST_UTTERANCE = 12.0
"""Seconds. A longer utterance is split at its sentences, and a long sentence at its words."""
_SHORTEST_PART = 40
"""Characters that a part may always have, however slowly somebody speaks."""
_ROUNDING = 1e-6
"""Seconds by which the times of words may differ because of rounding."""


def utterances(cues: Sequence[Cue]) -> tuple[Cue, ...]:
    """Split long utterances at their sentences and give each part its own time.

    The parts of one utterance stay next to each other, even if another speaker interrupts. Otherwise a
    quotation would mix the two speakers.
    """
    out: list[Cue] = []
    for cue in sorted(cues, key=lambda c: (c.start, c.end)):
        if cue.end - cue.start <= LONGEST_UTTERANCE:
            out.append(cue)
            continue
        for start, end in _part_bounds(cue):
            out.append(_part(cue, start, end))
    return tuple(out)


def _part(cue: Cue, start: int, end: int) -> Cue:
    """Return text[start:end] of an utterance as an utterance with its own time, words and confidence."""
    # The space after the part counts too: it is not a pause.
    begins, ends = _time_of(cue, start, min(end + 1, len(cue.text)))
    words = []
    confidences = []
    for n, word in enumerate(cue.words):
        if word[0] < begins - _ROUNDING or word[1] > ends + _ROUNDING:
            continue
        words.append(word)
        if n < len(cue.sure):
            confidences.append(cue.sure[n])
    mean = sum(confidences) / len(confidences) if confidences else cue.confidence
    return replace(
        cue,
        start=begins,
        end=ends,
        text=cue.text[start:end],
        words=tuple(words),
        sure=tuple(confidences),
        confidence=mean,
    )


def _part_bounds(cue: Cue) -> list[tuple[int, int]]:
    """Return [start, end) of each sentence of an utterance, or of its parts if it lasts too long."""
    characters_per_second = len(cue.text) / max(cue.end - cue.start, 1e-6)
    most = max(_SHORTEST_PART, int(characters_per_second * LONGEST_UTTERANCE))
    out = []
    for start, end in sentences(cue.text):
        while end - start > most:
            border = cue.text.rfind(" ", start + most // 2, start + most)
            if border <= 0:
                border = start + most
            out.append((start, border))
            is_space = cue.text[border : border + 1] == " "
            start = border + 1 if is_space else border
        out.append((start, end))
    return out


def _time_of(cue: Cue, start: int, end: int) -> tuple[float, float]:
    """Return the seconds of text[start:end], from its words' times or else in proportion to its length."""
    if cue.words and len(cue.words) == len(cue.text.split()):
        before = len(cue.text[:start].split())
        count = len(cue.text[start:end].split())
        inside = cue.words[before : before + count]
        if inside:
            return inside[0][0], inside[-1][1]
    length = max(1, len(cue.text))
    duration = cue.end - cue.start
    return cue.start + duration * start / length, cue.start + duration * end / length
