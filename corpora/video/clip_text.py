"""Write the text of a clip: transcript, text on the screen, caption and further languages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ragweave.corpora.types import Span
from ragweave.corpora.video.recording import Cue, Recording
from ragweave.models.text import STOP, words

_PAUSE = 2.0
"""Seconds of silence after which a new paragraph begins."""
_SHORT_PAUSE = 0.1
"""Seconds of silence after which a capital letter may begin a new sentence."""
_INCOMPLETE = STOP | {"like"}
"""If an utterance ends with one of these words, the next utterance completes it."""
_FULL_STOPS = (".", "!", "?", "…", "。")
_ALWAYS_CAPITAL = ("I ", "I'", "I’")

Part = tuple[str, Sequence[Span]]
"""A part of a clip's text and the spans in it."""


def clip_text(
    recording: Recording, n: int, span: tuple[float, float], *, last: bool
) -> tuple[str, Sequence[Span], dict[str, object]]:
    """Return the text of clip number `n`, its spans, and its metadata."""
    said = _cues_in(recording.cues, span, last)
    caption = recording.captions[n] if n < len(recording.captions) else ""
    parts: dict[str, Part] = {
        "transcript": transcript(said),
        "screen": _screen_text(recording, span),
        "caption": (caption, [Span(0, len(caption), time=span)]),
        "also": transcript(_cues_in(recording.also, span, last)),
    }
    text = ""
    places: list[Span] = []
    offsets: dict[str, list[int]] = {}
    for name, (part, spans) in parts.items():
        if not part:
            continue
        if text:
            text += "\n\n"
        for s in spans:
            places.append(replace(s, start=s.start + len(text), end=s.end + len(text)))
        offsets[name] = [len(text), len(text) + len(part)]
        text += part
    meta: dict[str, object] = {"parts": offsets}
    if said:
        meta["speech"] = recording.speech
        meta.update(_confidence(said))
    return text, places, meta


def _cues_in(cues: Sequence[Cue], span: tuple[float, float], last: bool) -> list[Cue]:
    """Return the utterances of a clip: those whose middle lies in it.

    The last clip also takes the utterances that begin after its end.
    """
    start, end = span
    out = []
    for cue in cues:
        middle = (cue.start + cue.end) / 2
        if start <= middle < end or (last and cue.start >= end):
            out.append(cue)
    return out


def _confidence(said: Sequence[Cue]) -> dict[str, object]:
    """Return the mean confidence of utterances and, if one is uncertain, the confidence of each in order."""
    values = []
    rounded = []
    for cue in said:
        values.append(cue.confidence)
        rounded.append(round(cue.confidence, 3))
    out: dict[str, object] = {"confidence": round(sum(values) / len(values), 3)}
    if min(values) < 1:
        out["sure"] = rounded
    return out


def transcript(said: Sequence[Cue]) -> Part:
    """Join utterances to paragraphs; a pause, another speaker or a new sentence begins a paragraph.

    A paragraph names its speaker if the speaker is known and has changed.
    """
    pieces = []
    before: Cue | None = None
    for cue in said:
        text = cue.text
        if before is None or cue.speaker != before.speaker:
            gap = "\n\n"
            if cue.speaker:
                text = f"{cue.speaker}: {text}"
        else:
            gap = "\n\n" if _starts_paragraph(before, cue) else " "
        pieces.append((gap, text, cue.start, cue.end))
        before = cue
    return _join(pieces)


def _starts_paragraph(before: Cue, cue: Cue) -> bool:
    """Return whether an utterance begins a paragraph after another one of the same speaker.

    Speech recognition and many subtitles write no full stops, so a short pause or a capital counts as well.
    """
    if cue.start < before.start:
        return True  # An interruption of a long utterance.
    pause = cue.start - before.end
    if pause > _PAUSE:
        return True
    if before.text.rstrip().endswith(_FULL_STOPS):
        return False
    if cue.confidence < 1:
        return True
    starts_upper = cue.text[:1].isupper() and not cue.text.startswith(_ALWAYS_CAPITAL)
    if pause <= _SHORT_PAUSE or not starts_upper:
        return False
    last_word = words(before.text)[-1:]
    return not last_word or last_word[0] not in _INCOMPLETE


def _screen_text(recording: Recording, span: tuple[float, float]) -> Part:
    """Join the texts on the screen in a stretch of time; texts that appeared together form one paragraph."""
    start, end = span
    pieces = []
    before: float | None = None
    for shown in recording.shown_in(span):
        first = max(shown.start, start)
        last = min(max(shown.end, shown.start), end)
        gap = "\n" if first == before else "\n\n"
        pieces.append((gap, shown.text, first, last))
        before = first
    return _join(pieces)


def _join(pieces: Iterable[tuple[str, str, float, float]]) -> Part:
    """Join (gap before the text, text, start, end) to one text with a span for each piece."""
    text = ""
    spans: list[Span] = []
    for gap, piece, start, end in pieces:
        if text:
            text += gap
        time = (round(start, 3), round(end, 3))
        spans.append(Span(len(text), len(text) + len(piece), time=time))
        text += piece
    return text, spans
