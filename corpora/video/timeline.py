"""Where a recording is cut: clips of about equal length whose borders lie in silence.

VideoRAG (section 4.1) cuts every 30 seconds and joins a tail of less than 5 seconds to the clip before. Here a cut may
move a few seconds, to the longest pause near by, so that no word and, where a pause allows it, no sentence is cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.corpora.video.recording import Cue

TAIL = 5.0
"""Seconds; a shorter last clip is joined to the one before."""
REACH = 0.25
"""Share of a clip's length that a cut may move either way."""
_LONG_PAUSE = 1.5
"""Seconds; a longer pause is no better a place for a cut."""


def pauses(cues: Sequence[Cue], duration: float) -> list[tuple[float, float]]:
    """Return the stretches between utterances, and those between their words where these are known.

    Utterances that touch or overlap are parted by an empty stretch, which is a worse place than a pause and a better
    one than the middle of a word.
    """
    spoken: list[tuple[float, float]] = []
    for cue in cues:
        spoken += [(start, end) for start, end, _ in cue.words] or [(cue.start, cue.end)]
    found: list[tuple[float, float]] = []
    reached = 0.0
    for start, end in sorted(spoken):
        found.append((min(reached, start), start))
        reached = max(reached, end)
    found.append((min(reached, duration), duration))
    # Where one utterance begins before another ends, the start of the later one is the place.
    return [(a, b) if b - a >= 0 else (b, b) for a, b in found]


def cut(duration: float, length: float, quiet: Sequence[tuple[float, float]] = ()) -> list[tuple[float, float]]:
    """Return the [start, end) seconds of each clip; together they cover the recording.

    Args:
        duration: seconds in all.
        length: seconds of one clip.
        quiet: stretches in which a cut hurts nobody, in any order.
    """
    if duration <= 0:
        return []
    borders = [0.0]
    marks = int(duration / length + 1e-9)
    for n in range(1, marks + 1):
        mark = n * length
        if duration - mark < TAIL:
            break
        at = _best(mark, length * REACH, quiet)
        if at - borders[-1] >= TAIL and duration - at >= TAIL:
            borders.append(at)
    return list(zip(borders, [*borders[1:], duration], strict=True))


def _best(mark: float, reach: float, quiet: Sequence[tuple[float, float]]) -> float:
    """Return the place near a mark that lies in the longest and nearest pause; the mark itself where there is none."""
    best, least = mark, 2.0
    for start, end in quiet:
        if end < mark - reach or start > mark + reach:
            continue
        at = min(max(mark, start), end)  # the point of the pause next to the mark ...
        if end - start > 0.4:  # ... but not at the very edge of a word
            at = min(max(at, start + 0.2), end - 0.2)
        elif end > start:
            at = (start + end) / 2
        if abs(at - mark) > reach:
            continue
        cost = abs(at - mark) / reach + (1 - min(end - start, _LONG_PAUSE) / _LONG_PAUSE)
        if cost < least:
            best, least = at, cost
    return best
