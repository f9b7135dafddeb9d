"""What a whole recording is about, taken from its own words: chapters, key phrases, telling sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ragweave.corpora.phrases import clock, key_phrases
from ragweave.corpora.types import Span
from ragweave.corpora.video.recording import Cue, Recording
from ragweave.models.text import STOP, content_terms, sentences, stem, words

CHAPTERS_FROM = 300.0
"""Seconds; a shorter recording has no chapters but those its container names."""
_SHORTEST_CHAPTER = 90.0
_SIDE = 3
"""Clips compared on either side of a possible chapter border."""
_SENTENCES = (3, 20)
"""Fewest and most sentences of a summary."""
_SECONDS_PER_SENTENCE = 150.0


def chapters(recording: Recording, spans: Sequence[tuple[float, float]]) -> list[tuple[float, float, str]]:
    """Return (start, end, title): those of the container, or where a long recording changes its subject.

    Borders are the deepest valleys of the likeness between the words on either side (TextTiling, Hearst 1997).
    """
    if recording.chapters:
        return list(recording.chapters)
    if recording.duration < CHAPTERS_FROM or len(spans) < 2 * _SIDE:
        return []
    texts = [" ".join([recording.said_in(span), *(s.text for s in recording.shown_in(span))]) for span in spans]
    bags = [Counter(stem(w) for w in words(t) if w not in STOP) for t in texts]
    spread = Counter(term for bag in bags for term in bag)
    likeness = [_likeness(bags[max(0, n - _SIDE) : n], bags[n : n + _SIDE], spread) for n in range(1, len(bags))]
    depth = [_depth(likeness, n) for n in range(len(likeness))]
    mean = sum(depth) / len(depth)
    enough = mean + math.sqrt(sum((d - mean) ** 2 for d in depth) / len(depth)) / 2
    borders = [0.0]
    end = spans[-1][1]
    for n in sorted((n for n, d in enumerate(depth) if d > enough), key=lambda n: -depth[n]):
        at = spans[n + 1][0]
        if all(abs(at - b) >= _SHORTEST_CHAPTER for b in [*borders, end]):
            borders.append(at)
    borders.sort()
    out = []
    for start, stop in zip(borders, [*borders[1:], end], strict=True):
        told = " ".join(t for t, s in zip(texts, spans, strict=True) if start <= s[0] < stop)
        out.append((start, stop, ", ".join(key_phrases(told, 2))))
    return out


def _likeness(left: Sequence[Counter[str]], right: Sequence[Counter[str]], spread: Counter[str]) -> float:
    a, b = sum(left, Counter()), sum(right, Counter())
    weigh = {t: math.log(1 + 10 / spread[t]) ** 2 for t in a.keys() | b.keys()}
    dot = sum(a[t] * b[t] * weigh[t] for t in a.keys() & b.keys())
    size = math.sqrt(sum(n * n * weigh[t] for t, n in a.items()) * sum(n * n * weigh[t] for t, n in b.items()))
    return dot / size if size else 1.0


def _depth(values: Sequence[float], n: int) -> float:
    """Return how far a value lies below the peaks on its two sides."""
    left = right = values[n]
    for value in reversed(values[:n]):
        if value < left:
            break
        left = value
    for value in values[n + 1 :]:
        if value < right:
            break
        right = value
    return left + right - 2 * values[n]


def summary(recording: Recording, found: Sequence[tuple[float, float, str]]) -> tuple[str, tuple[Span, ...]]:
    """Return title, chapters, key phrases and the telling sentences of a recording, with the places of the latter."""
    everything = "\n\n".join([*(c.text for c in recording.cues), *(s.text for s in recording.shown)])
    text = "\n\n".join(p for p in (recording.title, recording.about) if p)
    spans: list[Span] = []
    if found:
        text += "\n\nChapters:"
        for start, end, title in found:
            line = f"{clock(start)} {title}".strip()
            spans.append(Span(len(text) + 1, len(text) + 1 + len(line), time=(start, end)))
            text += "\n" + line
    phrases = recording.phrases or key_phrases(everything)
    if phrases:
        text += f"\n\nKey phrases: {', '.join(phrases)}."
    for start, end, sentence in telling(recording):
        text += "\n\n"
        spans.append(Span(len(text), len(text) + len(sentence), time=(start, end)))
        text += sentence
    return text, tuple(spans)


def telling(recording: Recording) -> list[tuple[float, float, str]]:
    """Return (start, end, sentence) of the sentences that say most, one of each stretch of time, in order.

    A sentence weighs the frequency of its words in the whole recording per square root of its length, so that it is
    about what the recording is about, and neither a fragment nor a page.
    """
    candidates = [(c.start, c.end, c.text) for c in _sentences(recording.cues)]
    candidates += [(s.start, s.end, " ".join(s.text.split())) for s in recording.shown]
    candidates = sorted(c for c in candidates if 5 <= len(c[2].split()) <= 60 or (len(c[2]) >= 12 and " " not in c[2]))
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
    frequency = Counter(t for s in sentences for t in content_terms(s))
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
    for cue in cues:
        before = out[-1] if out else None
        if (
            before is not None
            and cue.confidence == 1
            and cue.start - before.end < 1
            and cue.speaker == before.speaker
            and not before.text.rstrip().endswith((".", "!", "?", "…", "。"))
            and len(before.text) < 300
        ):
            out[-1] = Cue(before.start, cue.end, f"{before.text} {cue.text}", cue.speaker)
        else:
            out.append(cue)
    return [Cue(c.start, c.end, c.text[a:b], c.speaker, c.confidence) for c in out for a, b in sentences(c.text)]


def _weight(sentence: str, frequency: Counter[str], used: set[str]) -> float:
    found = content_terms(sentence)
    fresh = sum(math.log(frequency[t]) for t in found if t not in used and frequency[t] > 1)
    return fresh / math.sqrt(len(found)) if found else 0.0
