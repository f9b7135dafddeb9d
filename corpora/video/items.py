"""Recordings to items: a clip for every half minute, and one item for the whole."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from ragweave.corpora.types import SURE, Corpus, Item, Locator, Span, digest
from ragweave.corpora.video.recording import Cue, Frame, Recording
from ragweave.corpora.video.summary import summary
from ragweave.models.text import STOP, sentences, words

CLIP_SECONDS = 30.0
"""Length of a clip (VideoRAG, section 4.1)."""
LONGEST_UTTERANCE = 12.0
"""Seconds; a longer one is parted at its sentences, then at its words, so that a citation says where to listen."""
ROUGH = 5
"""Frames of a clip that are read, captioned and seen by an image encoder (VideoRAG, section 4.1)."""
WHOLE = 32
"""Frames of a whole recording that an image encoder and a writer that sees are shown (UniversalRAG, appendix B)."""
_PAUSE = 2.0
"""Seconds of silence after which a new paragraph begins."""
TAIL = 5.0
"""Seconds; a shorter last clip is joined to the one before."""
REACH = 0.25
"""Share of a clip's length that a border may move either way."""
GOES_ON = STOP | {"like"}
"""Last words of an utterance that the next one completes."""
Part = tuple[str, Sequence[Span]]
"""A part of a clip's text and the places in it."""


def items_of(source: str, file: str, recording: Recording, first: int = 0) -> list[Item]:
    """Return the clips of a recording, numbered from `first`, then the item of the whole."""
    recording = replace(recording, cues=utterances(recording.cues))
    spans = spans_of(recording)
    duration = max(recording.duration, spans[-1][1] if spans else 0.0)
    found = recording.chapters
    out = []
    for n, span in enumerate(spans):
        text, places, meta = _clip(recording, n, span, last=n == len(spans) - 1)
        inside = [c for c in found if c[0] < span[1] and c[1] > span[0] and c[2]]
        # A clip of several chapters is found by all of them; each of its sentences stands under one.
        heading = (" / ".join(dict.fromkeys(c[2] for c in inside)),) if inside else ()
        if len(inside) > 1 or any(start > span[0] or end < span[1] for start, end, _ in inside):
            meta["chapters"] = _chapters(inside)
        frames = [f for f in recording.frames if span[0] <= f.time < span[1]]
        if not text.strip() and not frames:
            continue  # nothing to read or to see
        if frames:
            meta["frames"] = [[round(f.time, 3), f.image] for f in frames]
        out.append(
            _item(
                "clip", source, file, recording, first + n, text, places, span, frames, ROUGH, heading, meta
            )
        )
    text, places = summary(recording)
    meta = {
        "duration": round(duration, 3),
        "chapters": _chapters(found),
        "speech": recording.speech if recording.cues else "",
    }
    heard = [c for c in recording.cues if c.confidence < 1]
    if heard:
        mean = sum(c.confidence for c in heard) / len(heard)
        # A sentence is as sure as the utterances it stands in, what is made of all that was heard as their
        # mean.
        each = [
            [c.confidence for c in heard if text[s.start : s.end] in c.text] if s.time else [mean]
            for s in places
        ]
        meta["sure"] = [round(min(one, default=1.0), 3) for one in each]
    if recording.heard_by:
        meta["heard_by"] = recording.heard_by
    span = (0.0, duration)
    whole = _item(
        "video", source, file, recording, first, text, places, span, recording.frames, WHOLE, (), meta
    )
    return [*out, whole]


def _chapters(found: Sequence[tuple[float, float, str]]) -> list[list[object]]:
    return [[round(start, 3), round(end, 3), title] for start, end, title in found]


def _item(
    corpus: Corpus,
    source: str,
    file: str,
    recording: Recording,
    ordinal: int,
    text: str,
    places: Sequence[Span],
    span: tuple[float, float],
    frames: Sequence[Frame],
    pictures: int,
    heading: tuple[str, ...],
    meta: dict[str, object],
) -> Item:
    locator: Locator = {"kind": "time", "file": file, "start": round(span[0], 3), "end": round(span[1], 3)}
    sure = meta.get("sure")
    if isinstance(sure, list) and min(sure, default=1.0) < SURE:
        locator["doubtful"] = True
    if frames:
        middle = (span[0] + span[1]) / 2
        locator["image"] = min(frames, key=lambda f: abs(f.time - middle)).image
        meta["pictures"] = spread(list(dict.fromkeys(f.image for f in frames)), pictures)
    if recording.language:
        meta["language"] = recording.language
    return Item(
        id=digest(source, corpus, str(ordinal), text),
        corpus=corpus,
        source=source,
        title=recording.title,
        text=text,
        locator=locator,
        heading=heading,
        spans=tuple(places),
        ordinal=ordinal,
        date=recording.date,
        language=recording.language,
        meta=meta,
    )


def spans_of(recording: Recording) -> list[tuple[float, float]]:
    """Return the [start, end) seconds of the clips of a recording: of one without pictures, where somebody speaks."""
    said = utterances(recording.cues)
    duration = max([recording.duration, *(c.end for c in said)])
    spans = cut(duration, CLIP_SECONDS, [c.start for c in said])
    if not said or recording.frames or recording.shown:
        return spans
    ends = list(accumulate((c.end for c in said), max))
    starts = [c.start for c in said]
    spoken = []
    for start, end in spans:
        before = bisect_left(starts, end)  # utterances that begin before the clip ends
        if before and (ends[before - 1] > start or starts[before - 1] >= start):
            spoken.append((start, end))
    return spoken


def utterances(cues: Sequence[Cue]) -> tuple[Cue, ...]:
    """Part long utterances at their sentences, each with its own time.

    The parts of one stand together, also where somebody else speaks meanwhile: it would be quoted spliced
    otherwise.
    """
    out: list[Cue] = []
    for cue in sorted(cues, key=lambda c: (c.start, c.end)):
        if cue.end - cue.start <= LONGEST_UTTERANCE:
            out.append(cue)
            continue
        for start, end in _stretches(cue):
            times = _when(
                cue, start, min(end + 1, len(cue.text))
            )  # with the space behind it, which is no pause
            inside = [
                n for n, w in enumerate(cue.words) if times[0] - 1e-6 <= w[0] and w[1] <= times[1] + 1e-6
            ]
            words = tuple(cue.words[n] for n in inside)
            sure = tuple(cue.sure[n] for n in inside if n < len(cue.sure))
            mean = sum(sure) / len(sure) if sure else cue.confidence
            said = cue.text[start:end]
            out.append(
                replace(cue, start=times[0], end=times[1], text=said, words=words, sure=sure, confidence=mean)
            )
    return tuple(out)


def _stretches(cue: Cue) -> list[tuple[int, int]]:
    """Return the sentences of an utterance; one that takes too long is parted at its words."""
    pace = len(cue.text) / max(cue.end - cue.start, 1e-6)
    most = max(40, int(pace * LONGEST_UTTERANCE))
    out = []
    for start, end in sentences(cue.text):
        while end - start > most:
            at = cue.text.rfind(" ", start + most // 2, start + most)
            at = at if at > 0 else start + most
            out.append((start, at))
            start = at + (cue.text[at : at + 1] == " ")
        out.append((start, end))
    return out


def _when(cue: Cue, start: int, end: int) -> tuple[float, float]:
    """Return the seconds of text[start:end]: those of its words, or in proportion to its place."""
    if cue.words and len(cue.words) == len(cue.text.split()):
        before = len(cue.text[:start].split())
        count = len(cue.text[start:end].split())
        inside = cue.words[before : before + count]
        if inside:
            return inside[0][0], inside[-1][1]
    length = max(1, len(cue.text))
    lasts = cue.end - cue.start
    return cue.start + lasts * start / length, cue.start + lasts * end / length


def _clip(
    recording: Recording, n: int, span: tuple[float, float], *, last: bool
) -> tuple[str, Sequence[Span], dict[str, object]]:
    """Return the text of a clip, the places in it, and what is noted of it."""
    start, end = span

    # An utterance belongs whole to the clip in which its middle lies.
    def inside(cues: Sequence[Cue]) -> list[Cue]:
        return [c for c in cues if start <= (c.start + c.end) / 2 < end or (last and c.start >= end)]

    said = inside(recording.cues)
    shown = recording.shown_in(span)
    caption = recording.captions[n] if n < len(recording.captions) else ""
    parts: dict[str, Part] = {
        "transcript": transcript(said),
        "screen": _screen([(s.text, max(s.start, start), min(max(s.end, s.start), end)) for s in shown]),
        "caption": (caption, [Span(0, len(caption), time=span)]),
        "also": transcript(inside(recording.also)),
    }
    text, places = "", list[Span]()
    offsets: dict[str, list[int]] = {}
    for name, (part, found) in parts.items():
        if part:
            text += "\n\n" if text else ""
            places += [replace(s, start=s.start + len(text), end=s.end + len(text)) for s in found]
            offsets[name] = [len(text), len(text) + len(part)]
            text += part
    meta: dict[str, object] = {"parts": offsets}
    if said:
        meta["speech"] = recording.speech
        meta["confidence"] = round(sum(c.confidence for c in said) / len(said), 3)
        if any(c.confidence < 1 for c in said):
            # One number for each utterance, in the order of the transcript's spans.
            meta["sure"] = [round(c.confidence, 3) for c in said]
    return text, places, meta


def _joined(pieces: Iterable[tuple[str, str, float, float]]) -> Part:
    """Join (what stands before it, text, start, end)."""
    text, spans = "", list[Span]()
    for gap, said, start, end in pieces:
        text += gap if text else ""
        spans.append(Span(len(text), len(text) + len(said), time=(round(start, 3), round(end, 3))))
        text += said
    return text, spans


def transcript(said: Sequence[Cue]) -> Part:
    """Join utterances: a new paragraph after a pause, for another speaker, and where nobody wrote full stops."""
    pieces = []
    for before, cue in zip([None, *said], said, strict=False):
        opens = before is None or cue.speaker != before.speaker
        gap = "\n\n" if before is None or opens or _parted(before, cue) else " "
        pieces.append(
            (gap, f"{cue.speaker}: {cue.text}" if opens and cue.speaker else cue.text, cue.start, cue.end)
        )
    return _joined(pieces)


def _parted(before: Cue, cue: Cue) -> bool:
    """Tell whether a new sentence begins, where the text before does not say so itself."""
    gap = cue.start - before.end
    if cue.start < before.start:
        return True  # somebody who spoke into a long utterance
    if gap > _PAUSE or before.text.rstrip().endswith((".", "!", "?", "…", "。")):
        return gap > _PAUSE
    begins = cue.text[:1].isupper() and not cue.text.startswith(("I ", "I'", "I’"))
    return cue.confidence < 1 or (gap > 0.1 and begins and not {*words(before.text)[-1:]} & GOES_ON)


def _screen(texts: Sequence[tuple[str, float, float]]) -> Part:
    """Join lines of the screen: those that came together stand together."""
    came = [None, *(start for _, start, _ in texts)]
    return _joined(
        ("\n" if start == before else "\n\n", shown, start, end)
        for before, (shown, start, end) in zip(came, texts, strict=False)
    )


def spread(names: Sequence[str], most: int) -> list[str]:
    """Return at most that many, at equal steps from the first."""
    if len(names) <= most:
        return list(names)
    return [names[n * len(names) // most] for n in range(most)]


def cut(
    duration: float, length: float = CLIP_SECONDS, opens: Sequence[float] = ()
) -> list[tuple[float, float]]:
    """Return the [start, end) seconds of each clip; together they cover the recording.

    A border moves to where the nearest utterance begins (`opens`), so that none lies in two clips.
    """
    if duration <= 0:
        return []
    borders = [0.0]
    opens = sorted(opens)
    for n in range(1, int(duration / length) + 1):
        mark = n * length
        near = opens[bisect_left(opens, mark - length * REACH) : bisect_right(opens, mark + length * REACH)]
        at = min(near, key=lambda at: abs(at - mark), default=mark)
        if duration - max(at, mark) >= TAIL:
            borders.append(at)
    return list(zip(borders, [*borders[1:], duration], strict=True))
