"""Measure which words of recordings are heard, and which are marked as doubtful."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from video_cost import measured

WRONG = ((0.0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 1.0))
"""Ranges of the share of wrong words in a sentence."""


def _windows(heard: Path, longest: float) -> list[Any]:
    from ragweave.corpora.video.intake import demuxer_of
    from ragweave.corpora.video.listen import sound
    from ragweave.corpora.video.streams import examine
    from ragweave.models.vad import stretches, windows

    how = demuxer_of(str(heard))
    stream = examine(str(heard), how).sound()
    assert stream is not None
    return list(windows(stretches(sound(str(heard), how, stream.index), longest), longest))


def words(heard: Path, transcript: Path) -> None:
    """Print the word error rate of the configured engine, its CPU time, and recall and precision of words."""
    from ragweave.corpora.video.cues import read_transcript
    from ragweave.models.asr import asr
    from ragweave.models.text import content_terms

    listens = asr()
    assert listens is not None, "nothing hears: `ragweave setup speech`"
    listens.check()
    said, wall, used = measured(lambda: _windows(heard, listens.longest))
    found, *spent = measured(lambda: [listens.transcribe(s.sound) for s in said])
    text = " ".join([heard.text for heard in found])
    if transcript.suffix in (".vtt", ".srt"):
        reference = " ".join([cue.text for cue in read_transcript(transcript)[0].cues])
    else:
        reference = transcript.read_text(encoding="utf-8")
    a, b = _words(reference), _words(text)
    wanted, got = set(content_terms(reference)), set(content_terms(text))
    print(f"{listens.name}: {len(found)} windows")
    print(f"word error rate {_distance(a, b) / len(a):.3f} ({len(a)} words spoken, {len(b)} heard)")
    print(f"content words: recall {len(wanted & got) / len(wanted):.2f}, ", end="")
    print(f"precision {len(wanted & got) / max(1, len(got)):.2f}")
    print(
        f"processor: {used:.1f} s to find speech, {spent[1]:.1f} s to hear it, {wall + spent[0]:.1f} s wall"
        " in all"
    )


def sure(heard: Path) -> None:
    """Print how many sentences of speech in noise are marked as doubtful, by their share of wrong words.

    Noise of another strength lies over each three seconds, so that clear and drowned speech share a window. A
    sentence is compared with what is heard at its seconds without the noise.
    """
    import numpy as np

    from ragweave.corpora.types import SURE
    from ragweave.corpora.video.listen import _cue
    from ragweave.corpora.video.utterances import utterances
    from ragweave.models.asr import asr
    from ragweave.models.vad import RATE

    listens, rng = asr(), np.random.default_rng(7)
    assert listens is not None, "nothing hears: `ragweave setup speech`"
    counts: Counter[tuple[float, bool]] = Counter()
    """By lower bound of the share of wrong words, and whether the sentence is marked."""
    for window in _windows(heard, listens.longest):
        clean = listens.transcribe(window.sound).words
        power = float(np.mean(window.sound.astype(np.float64) ** 2))
        for _ in range(4):
            ratios = rng.choice([30.0, 10.0, 5.0, 0.0, -5.0, -10.0], size=len(window.sound) // (3 * RATE) + 1)
            scale = np.sqrt(power / 10 ** (np.repeat(ratios, 3 * RATE)[: len(window.sound)] / 10))
            noisy = window.sound + rng.normal(size=len(window.sound)) * scale
            out = listens.transcribe(np.clip(noisy, -32768, 32767).astype(np.int16))
            for cue in utterances([_cue(0.0, len(window.sound) / RATE, out)] if out.text else []):
                said = ""
                for word in clean:
                    if cue.start - 0.3 <= (word.start + word.end) / 2 <= cue.end + 0.3:
                        said += f" {word.text}"
                a, b = _words(said), _words(cue.text)
                wrong = _distance(a, b) / max(1, len(a), len(b))
                low = max([low for low, _ in WRONG if wrong >= low])
                counts[low, cue.confidence < SURE] += 1
    print("words wrong     sentences   marked")
    for low, high in WRONG:
        plain, marked = counts[low, False], counts[low, True]
        print(f"{low:4.1f} to {high:3.1f}     {plain + marked:8}  {marked:8}")


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower().replace("’", "'"))


def _distance(a: list[str], b: list[str]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row = row, [i] + [0] * len(b)
        for j, y in enumerate(b, 1):
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
    return row[-1]
