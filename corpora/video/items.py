"""Cut a recording into items: a clip for every half minute, and one item for the whole."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragweave.corpora.types import SURE, Corpus, Item, Locator, Span, digest
from ragweave.corpora.video.clip_text import clip_text
from ragweave.corpora.video.recording import Cue, Frame, Recording, last_end
from ragweave.corpora.video.summary import summary
from ragweave.corpora.video.utterances import utterances

CLIP_SECONDS = 30.0
"""Length of a clip (VideoRAG, section 4.1)."""
ROUGH = 5
"""Frames of a clip that are read, captioned and seen by an image encoder (VideoRAG, section 4.1)."""
WHOLE = 32
"""Frames of a whole recording for an image encoder and a vision model (UniversalRAG, appendix B)."""
TAIL = 5.0
"""Seconds; a shorter last clip is joined to the one before."""
REACH = 0.25
"""Share of a clip's length that a border may move either way."""

Chapter = tuple[float, float, str]
"""Start, end and title."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Where items come from: the id of the source, its file and the recording read from it."""

    id: str
    file: str
    recording: Recording


@dataclass(frozen=True, slots=True)
class _Draft:
    """What distinguishes one item of a recording from the others."""

    corpus: Corpus
    ordinal: int
    span: tuple[float, float]
    text: str
    places: Sequence[Span]
    frames: Sequence[Frame]
    most_pictures: int
    heading: tuple[str, ...]
    meta: dict[str, object]


def items_of(source: str, file: str, recording: Recording, first: int = 0) -> list[Item]:
    """Return the clips of a recording, numbered from `first`, then the item of the whole recording."""
    recording = replace(recording, cues=utterances(recording.cues))
    origin = _Source(source, file, recording)
    spans = spans_of(recording)
    items = []
    for n, span in enumerate(spans):
        clip = _clip_item(origin, n, span, first + n, last=n == len(spans) - 1)
        if clip is not None:
            items.append(clip)
    duration = max(recording.duration, spans[-1][1] if spans else 0.0)
    items.append(_whole_item(origin, duration, first))
    return items


def _clip_item(
    origin: _Source, n: int, span: tuple[float, float], ordinal: int, *, last: bool
) -> Item | None:
    """Return the item of clip number `n`, or None if it has neither text nor frames."""
    start, end = span
    recording = origin.recording
    text, places, meta = clip_text(recording, n, span, last=last)
    chapters = _chapters_in(recording, span)
    heading: tuple[str, ...] = ()
    if chapters:
        # A search for any chapter of a clip finds the clip. `meta` says which sentence belongs to which.
        titles = [title for _, _, title in chapters]
        heading = (" / ".join(dict.fromkeys(titles)),)
    if chapters and not _covered_by_one(chapters, span):
        meta["chapters"] = _rounded(chapters)
    frames = []
    for f in recording.frames:
        if start <= f.time < end:
            frames.append(f)
    if not text.strip() and not frames:
        return None
    if frames:
        meta["frames"] = [[round(f.time, 3), f.image] for f in frames]
    return _item(origin, _Draft("clip", ordinal, span, text, places, frames, ROUGH, heading, meta))


def _chapters_in(recording: Recording, span: tuple[float, float]) -> list[Chapter]:
    """Return the chapters with a title that overlap a stretch of time."""
    start, end = span
    found = []
    for chapter in recording.chapters:
        chapter_start, chapter_end, title = chapter
        if title and chapter_start < end and chapter_end > start:
            found.append(chapter)
    return found


def _covered_by_one(chapters: Sequence[Chapter], span: tuple[float, float]) -> bool:
    """Return whether a single chapter covers a whole clip."""
    if len(chapters) > 1:
        return False
    start, end, _ = chapters[0]
    return start <= span[0] and end >= span[1]


def _whole_item(origin: _Source, duration: float, ordinal: int) -> Item:
    """Return the item of the whole recording: its summary, chapters and a selection of frames."""
    recording = origin.recording
    text, places = summary(recording)
    meta: dict[str, object] = {
        "duration": round(duration, 3),
        "chapters": _rounded(recording.chapters),
        "speech": recording.speech if recording.cues else "",
    }
    uncertain = []
    for c in recording.cues:
        if c.confidence < 1:
            uncertain.append(c)
    if uncertain:
        meta["sure"] = _confidence_by_span(text, places, uncertain)
    if recording.heard_by:
        meta["heard_by"] = recording.heard_by
    span = (0.0, duration)
    return _item(origin, _Draft("video", ordinal, span, text, places, recording.frames, WHOLE, (), meta))


def _confidence_by_span(text: str, places: Sequence[Span], uncertain: Sequence[Cue]) -> list[float]:
    """Return the confidence of each span of a summary.

    A sentence has the lowest confidence of the utterances that contain it. A span without a time is made
    from all utterances and has their mean.
    """
    total = 0.0
    for cue in uncertain:
        total += cue.confidence
    mean = total / len(uncertain)
    out = []
    for place in places:
        lowest = mean
        if place.time:
            lowest = _lowest_confidence(text[place.start : place.end], uncertain)
        out.append(round(lowest, 3))
    return out


def _lowest_confidence(sentence: str, uncertain: Sequence[Cue]) -> float:
    """Return the lowest confidence of the utterances that contain a sentence, 1 if there is none."""
    lowest = 1.0
    for cue in uncertain:
        if sentence in cue.text:
            lowest = min(lowest, cue.confidence)
    return lowest


def _rounded(chapters: Sequence[Chapter]) -> list[list[object]]:
    return [[round(start, 3), round(end, 3), title] for start, end, title in chapters]


def _item(origin: _Source, draft: _Draft) -> Item:
    """Return the item of a draft, with its locator and its pictures."""
    recording = origin.recording
    start, end = draft.span
    meta = draft.meta
    locator: Locator = {"kind": "time", "file": origin.file, "start": round(start, 3), "end": round(end, 3)}
    confidences = meta.get("sure")
    if isinstance(confidences, list) and min(confidences, default=1.0) < SURE:
        locator["doubtful"] = True
    if draft.frames:
        middle = (start + end) / 2
        locator["image"] = min(draft.frames, key=lambda f: abs(f.time - middle)).image
        images = [frame.image for frame in draft.frames]
        meta["pictures"] = spread(list(dict.fromkeys(images)), draft.most_pictures)
    if recording.language:
        meta["language"] = recording.language
    return Item(
        id=digest(origin.id, draft.corpus, str(draft.ordinal), draft.text),
        corpus=draft.corpus,
        source=origin.id,
        title=recording.title,
        text=draft.text,
        locator=locator,
        heading=draft.heading,
        spans=tuple(draft.places),
        ordinal=draft.ordinal,
        date=recording.date,
        language=recording.language,
        meta=meta,
    )


def spans_of(recording: Recording) -> list[tuple[float, float]]:
    """Return the [start, end) seconds of the clips of a recording.

    If the recording has no pictures and no text on the screen, only clips with speech count.
    """
    said = utterances(recording.cues)
    duration = max(recording.duration, last_end(said))
    starts = [c.start for c in said]
    spans = cut(duration, CLIP_SECONDS, starts)
    if not said or recording.frames or recording.shown:
        return spans
    # latest_ends[n] is the latest end of the utterances 0 to n: an earlier one may last longer.
    latest_ends: list[float] = []
    for cue in said:
        latest_ends.append(max(latest_ends[-1], cue.end) if latest_ends else cue.end)
    spoken = []
    for start, end in spans:
        last = bisect_left(starts, end) - 1  # The last utterance that begins before the clip ends.
        if last >= 0 and (latest_ends[last] > start or starts[last] >= start):
            spoken.append((start, end))
    return spoken


def spread(names: Sequence[str], most: int) -> list[str]:
    """Return at most `most` names, at equal steps from the first."""
    if len(names) <= most:
        return list(names)
    return [names[n * len(names) // most] for n in range(most)]


def cut(
    duration: float, length: float = CLIP_SECONDS, opens: Sequence[float] = ()
) -> list[tuple[float, float]]:
    """Return the [start, end) seconds of each clip; together they cover the recording.

    A border moves to the nearest start of an utterance (`opens`), so that no utterance lies in two clips.
    """
    if duration <= 0:
        return []
    borders = [0.0]
    opens = sorted(opens)
    reach = length * REACH
    for n in range(1, int(duration / length) + 1):
        mark = n * length
        near = opens[bisect_left(opens, mark - reach) : bisect_right(opens, mark + reach)]
        border = min(near, key=lambda at: abs(at - mark), default=mark)
        if duration - max(border, mark) >= TAIL:
            borders.append(border)
    return list(zip(borders, [*borders[1:], duration], strict=True))
