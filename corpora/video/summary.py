"""Summarise a whole recording in its own words: chapters, key phrases and its most informative sentences."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from ragweave.corpora.phrases import EMPTY, key_phrases
from ragweave.corpora.types import Span
from ragweave.corpora.video.recording import Cue, Recording
from ragweave.models.text import clock, content_terms, sentences, stem

_SENTENCES = (3, 20)
"""Fewest and most sentences of a summary."""
_SECONDS_PER_SENTENCE = 150.0
_WORDS = (5, 60)
"""Fewest and most words of a sentence in a summary."""
_UNSPACED = 12
"""Fewest characters of a sentence without spaces, as in Chinese."""
_LONGEST_JOINED = 300
"""Characters after which utterances are no longer joined to one sentence."""
_FULL_STOPS = (".", "!", "?", "…", "。")
_KEY = 2
"""Exponent for the frequency of words in key phrases: their weight, a logarithm, doubles."""
_TALK = frozenset(map(stem, EMPTY))
"""Words of speech without content."""


def summary(recording: Recording) -> tuple[str, tuple[Span, ...]]:
    """Return the summary of a recording and its spans.

    It consists of title, chapters, key phrases and informative sentences. All but the title have spans.
    """
    text = "\n\n".join(filter(None, (recording.title, recording.about)))
    spans: list[Span] = []
    if recording.chapters:
        text += "\n\nChapters:"
        for start, end, title in recording.chapters:
            text += "\n"
            line = f"{clock(start)} {title}".strip()
            spans.append(Span(len(text), len(text) + len(line), time=(start, end)))
            text += line
    phrases = key_phrases(_all_text(recording))
    if phrases:
        text += "\n\n"
        line = f"Key phrases: {', '.join(phrases)}."
        spans.append(Span(len(text), len(text) + len(line)))
        text += line
    for start, end, sentence in telling(recording):
        text += "\n\n"
        spans.append(Span(len(text), len(text) + len(sentence), time=(start, end)))
        text += sentence
    return text, tuple(spans)


def _all_text(recording: Recording) -> str:
    """Return all speech and all text on the screen, one paragraph each."""
    paragraphs = []
    for cue in recording.cues:
        paragraphs.append(cue.text)
    for shown in recording.shown:
        paragraphs.append(shown.text)
    return "\n\n".join(paragraphs)


def telling(recording: Recording) -> list[tuple[float, float, str]]:
    """Return (start, end, sentence) of the most informative sentence in each stretch of time, in order.

    The weight of a sentence is the frequency of its words in the whole recording, divided by the square root
    of its length. So it fits the topic of the recording and is neither too short nor too long.
    """
    candidates = _candidates(recording)
    if not candidates:
        return []
    fewest, most = _SENTENCES
    wanted = int(min(max(recording.duration / _SECONDS_PER_SENTENCE, fewest), most))
    starts = [start for start, _, _ in candidates]
    opens = []  # The number of the first candidate of each stretch of time.
    for n in range(wanted):
        opens.append(bisect_left(starts, recording.duration * n / wanted))
    end = bisect_left(starts, recording.duration)
    chosen = most_telling([text for _, _, text in candidates[:end]], opens)
    return [candidates[n] for n in chosen]


def _candidates(recording: Recording) -> list[tuple[float, float, str]]:
    """Return (start, end, sentence) of all sentences and texts of a suitable length, in order of time."""
    rows = []
    for cue in _sentence_cues(recording.cues):
        if _has_suitable_length(cue.text):
            rows.append((cue.start, cue.end, cue.text))
    for shown in recording.shown:
        text = " ".join(shown.text.split())
        if _has_suitable_length(text):
            rows.append((shown.start, shown.end, text))
    return sorted(rows)


def _has_suitable_length(text: str) -> bool:
    fewest, most = _WORDS
    if fewest <= len(text.split()) <= most:
        return True
    return len(text) >= _UNSPACED and " " not in text


def most_telling(sentences: Sequence[str], opens: Sequence[int]) -> list[int]:
    """Return the number of the most informative sentence of each stretch; none if no sentence has a weight.

    `opens` has the number of the first sentence of each stretch.
    """
    frequency = _frequencies(sentences)
    out: list[int] = []
    used: set[str] = set()
    for low, high in zip(opens, [*opens[1:], len(sentences)], strict=True):
        best = None
        best_weight = 0.0
        for n in range(low, high):
            weight = _weight(sentences[n], frequency, used)
            if weight > best_weight:
                best, best_weight = n, weight
        if best is not None:
            out.append(best)
            used.update(content_terms(sentences[best]))
    return out


def _frequencies(sentences: Sequence[str]) -> Counter[str]:
    """Return how often each content word occurs; words of key phrases count more."""
    frequency: Counter[str] = Counter()
    for sentence in sentences:
        frequency.update(content_terms(sentence))
    for word in _TALK:
        frequency.pop(word, None)
    for phrase in key_phrases("\n\n".join(sentences)):
        for term in content_terms(phrase):
            frequency[term] **= _KEY
    return frequency


def _weight(sentence: str, frequency: Counter[str], used: set[str]) -> float:
    """Return the weight of the words of a sentence that no chosen sentence has used."""
    terms = content_terms(sentence)
    if not terms:
        return 0.0
    weights = []
    for term in terms:
        if term not in used and frequency[term] > 1:
            weights.append(math.log(frequency[term]))
    return sum(weights) / math.sqrt(len(terms))


def _sentence_cues(cues: Sequence[Cue]) -> list[Cue]:
    """Join utterances that form one sentence, then split them at their sentences."""
    joined: list[Cue] = []
    last: Cue | None = None
    for cue in cues:
        if last is not None and _continues(joined[-1], last, cue):
            before = joined[-1]
            joined[-1] = Cue(before.start, cue.end, f"{before.text} {cue.text}", cue.speaker)
        else:
            joined.append(cue)
        last = cue
    out = []
    for cue in joined:
        for start, end in sentences(cue.text):
            out.append(Cue(cue.start, cue.end, cue.text[start:end], cue.speaker, cue.confidence))
    return out


def _continues(before: Cue, last: Cue, cue: Cue) -> bool:
    """Return whether an utterance continues the sentence in `before`, whose last utterance is `last`."""
    if cue.confidence != 1 or cue.speaker != before.speaker:
        return False
    if cue.start < last.start or cue.start >= before.end + 1:
        return False
    if len(before.text) >= _LONGEST_JOINED:
        return False
    return not before.text.rstrip().endswith(_FULL_STOPS)
