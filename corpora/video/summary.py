"""What a whole recording is about, taken from its own words: chapters, key phrases, telling sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ragweave.corpora.phrases import EMPTY, key_phrases
from ragweave.corpora.types import Span
from ragweave.corpora.video.recording import Cue, Recording
from ragweave.models.text import clock, content_terms, sentences, stem

_SENTENCES = (3, 20)
"""Fewest and most sentences of a summary."""
_SECONDS_PER_SENTENCE = 150.0
_KEY = 2
"""Power of the frequency of a word of a key phrase: its weight, the logarithm, is twice that of another word."""
_TALK = frozenset(stem(word) for word in EMPTY)


def summary(recording: Recording) -> tuple[str, tuple[Span, ...]]:
    """Return title, chapters, key phrases and telling sentences of a recording, with places of all but the title."""
    everything = "\n\n".join([*(c.text for c in recording.cues), *(s.text for s in recording.shown)])
    text = "\n\n".join(p for p in (recording.title, recording.about) if p)
    spans: list[Span] = []
    if recording.chapters:
        text += "\n\nChapters:"
        for start, end, title in recording.chapters:
            line = f"{clock(start)} {title}".strip()
            spans.append(Span(len(text) + 1, len(text) + 1 + len(line), time=(start, end)))
            text += "\n" + line
    if phrases := key_phrases(everything):
        line = f"Key phrases: {', '.join(phrases)}."
        spans.append(Span(len(text) + 2, len(text) + 2 + len(line)))
        text += f"\n\n{line}"
    for start, end, sentence in telling(recording):
        text += "\n\n"
        spans.append(Span(len(text), len(text) + len(sentence), time=(start, end)))
        text += sentence
    return text, tuple(spans)


def telling(recording: Recording) -> list[tuple[float, float, str]]:
    """Return (start, end, sentence) of the sentences that say most, one of each stretch of time, in order.

    A sentence weighs the frequency of its words in the whole recording per square root of its length, so that
    it is about what the recording is about, and neither a fragment nor a page.
    """
    candidates = [(c.start, c.end, c.text) for c in _sentences(recording.cues)]
    candidates += [(s.start, s.end, " ".join(s.text.split())) for s in recording.shown]
    candidates = sorted(
        c for c in candidates if 5 <= len(c[2].split()) <= 60 or (len(c[2]) >= 12 and " " not in c[2])
    )
    if not candidates:
        return []
    wanted = int(min(max(recording.duration / _SECONDS_PER_SENTENCE, _SENTENCES[0]), _SENTENCES[1]))
    lows = [recording.duration * n / wanted for n in range(wanted)]
    opens = [sum(c[0] < low for c in candidates) for low in lows]
    ends = sum(c[0] < recording.duration for c in candidates)
    return [candidates[n] for n in most_telling([c[2] for c in candidates[:ends]], opens)]


def most_telling(sentences: Sequence[str], opens: Sequence[int]) -> list[int]:
    """Return the number of the sentence that says most of each stretch, none of a stretch where nothing does.

    `opens` has the number of the first sentence of each stretch.
    """
    frequency = Counter(t for s in sentences for t in content_terms(s) if t not in _TALK)
    for phrase in key_phrases("\n\n".join(sentences)):
        for t in content_terms(phrase):
            frequency[t] **= _KEY
    out: list[int] = []
    used: set[str] = set()
    for low, high in zip(opens, [*opens[1:], len(sentences)], strict=True):
        best = max(range(low, high), key=lambda n: _weight(sentences[n], frequency, used), default=None)
        if best is not None and _weight(sentences[best], frequency, used) > 0:
            out.append(best)
            used.update(content_terms(sentences[best]))
    return out


def _sentences(cues: Sequence[Cue]) -> list[Cue]:
    """Join utterances that belong to one sentence."""
    out: list[Cue] = []
    for last, cue in zip([None, *cues], cues, strict=False):
        before = out[-1] if out else None
        if (
            last is not None
            and before is not None
            and cue.confidence == 1
            and last.start <= cue.start < before.end + 1
            and cue.speaker == before.speaker
            and not before.text.rstrip().endswith((".", "!", "?", "…", "。"))
            and len(before.text) < 300
        ):
            out[-1] = Cue(before.start, cue.end, f"{before.text} {cue.text}", cue.speaker)
        else:
            out.append(cue)
    return [
        Cue(c.start, c.end, c.text[a:b], c.speaker, c.confidence) for c in out for a, b in sentences(c.text)
    ]


def _weight(sentence: str, frequency: Counter[str], used: set[str]) -> float:
    found = content_terms(sentence)
    fresh = sum(math.log(frequency[t]) for t in found if t not in used and frequency[t] > 1)
    return fresh / math.sqrt(len(found)) if found else 0.0
