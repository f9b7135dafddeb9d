"""The data types that all packages share: corpora, locators, items, hits."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, get_args

from typing_extensions import TypedDict

Corpus = Literal["paragraph", "document", "image", "clip", "video"]
"""What can be searched (UniversalRAG, section 3)."""

CORPORA: tuple[Corpus, ...] = get_args(Corpus)

Label = Literal["none", "paragraph", "document", "image", "clip", "video"]
"""What a router returns: a corpus, or no retrieval."""

LABELS: tuple[Label, ...] = get_args(Label)

MEANINGS: dict[Label, str] = {
    "none": "no search is needed; anybody knows it, it is small talk, or it only asks to reason or compute.",
    "paragraph": "one fact that stands in one paragraph of text.",
    "document": "several facts from a longer text, a comparison, a chain of facts, or an overview.",
    "image": "what a picture, chart, diagram, slide or screenshot shows.",
    "clip": "one moment or a short stretch of a recording.",
    "video": "a recording as a whole, or something that runs through all of it.",
}
"""The meaning of each label, in the words of the router's prompt."""

Recency = Literal["auto", "on", "off"]
"""When newer documents are preferred: if a question asks for it, always, or never."""

MAX_HALF_LIFE = 36_500
"""Largest half-life in days: a century."""


class Locator(TypedDict, total=False):
    """Where evidence lies, precise enough to open it. Only the keys that apply are present."""

    kind: Literal["heading", "page", "image", "time", "url", "model"]
    """How to open it."""
    file: str
    """Absolute path of the source as indexed; for an item of a list, the file that the list names."""
    beside: str
    """The same path, relative to the folder of the list."""
    heading: list[str]
    """Heading path, outermost first."""
    line: int
    """First line in the source file, 1-based."""
    page: int
    """PDF page, 1-based."""
    bbox: list[float]
    """Box [left, bottom, right, top] on the page in points, or [x0, y0, x1, y1] in pixels of an image."""
    image: str
    """Media id of a stored picture (thumbnail, page or frame): `ragweave.corpora.store.media` opens it."""
    start: float
    """Seconds from the start of the recording."""
    end: float
    """Seconds from the start of the recording."""
    url: str
    """Web page."""
    fetched: str
    """ISO time at which the page was fetched."""
    chars: list[int]
    """[start, end) inside the item's text, when the locator is narrower than the item."""
    doubtful: bool
    """Whether a recogniser was unsure of this speech: an answer may quote it, marked as unsure."""


SURE = 0.7
"""Mean confidence of a recogniser's words, below which a quote of them is marked as unsure."""

Box = tuple[float, float, float, float]
"""The two corners of a box: smaller coordinates first."""


def digest(*parts: str) -> str:
    """Return the id of some parts: 24 hexadecimal digits."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def whole_of(paragraph: str) -> str:
    """Return the id of a document that is one paragraph, from the paragraph's id."""
    return digest(paragraph, "document")


def union(boxes: Sequence[Box]) -> Box:
    """Return the smallest box around boxes."""
    lows_x, lows_y, highs_x, highs_y = zip(*boxes, strict=True)
    return min(lows_x), min(lows_y), max(highs_x), max(highs_y)


@dataclass(frozen=True, slots=True)
class Span:
    """Where a part of an item's text lies in its source.

    Attributes:
        start: first character in the item's text.
        end: one past the last character.
        line: line in the source file, 1-based, or 0 when unknown.
        page: page, 1-based, or 0 when the format has no pages.
        bbox: [left, bottom, right, top] in points, or None.
        time: [start, end) in seconds of a recording, or None.
    """

    start: int
    end: int
    line: int = 0
    page: int = 0
    bbox: Box | None = None
    time: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One retrievable unit of a corpus, as the catalog stores it.

    Attributes:
        id: stable id, derived from the source's content, parameters and position.
        corpus: corpus it belongs to.
        source: id of its source.
        title: title of its document, or the file name if the document has no title.
        text: the whole text; may be long for `document`.
        locator: opens the item.
        heading: heading path, outermost first.
        spans: finer locators inside `text`, in order; may be empty.
        ordinal: position among the items of one corpus and source, 0-based.
        date: the date that the document states, or None.
        language: ISO 639-1 code or "".
        meta: anything else, JSON-serialisable.
    """

    id: str
    corpus: Corpus
    source: str
    title: str
    text: str
    locator: Locator
    heading: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    ordinal: int = 0
    date: datetime | None = None
    language: str = ""
    meta: dict[str, object] = field(default_factory=dict)

    def locate(self, start: int, end: int) -> Locator:
        """Return the item's locator, narrowed to text[start:end] by the spans that overlap it."""
        found: Locator = {**self.locator, "chars": [start, end]}
        over = [span for span in self.spans if span.start < end and span.end > start]
        if over:
            found |= self._lines_and_pages(over)
            times = _times(over)
            if times:
                found |= self.during(*_around(times))
        found.pop("doubtful", None)
        if self.sureness(start, end) < SURE:
            found["doubtful"] = True
        return found

    def _lines_and_pages(self, spans: Sequence[Span]) -> Locator:
        """Return the line, the page, the picture of the page and the box at which spans lie."""
        found: Locator = {}
        if spans[0].line:
            found["line"] = spans[0].line
        page = spans[0].page
        if page:
            found["page"] = page
        pages = self.meta.get("pages")
        if page and isinstance(pages, list):  # pictures of the pages of one file
            found["image"] = str(pages[page - 1])
        boxes = [span.bbox for span in spans if span.bbox and span.page == page]
        if boxes:
            found["bbox"] = list(union(boxes))
        return found

    @property
    def place(self) -> Locator:
        """The item's locator; a clip with speech starts and ends with the speech."""
        times = _times(self._utterances())
        if self.corpus != "clip" or not times:
            return self.locator
        return Locator(**{**self.locator, **self.during(*_around(times))})

    def part(self, name: str) -> tuple[int, int]:
        """Return [start, end) of a part of a clip's text; an item without named parts is all speech."""
        parts = self.meta.get("parts")
        if not isinstance(parts, dict):
            return (0, len(self.text)) if name == "transcript" else (0, 0)
        low, high = parts.get(name, (0, 0))
        return int(low), int(high)

    def _utterances(self) -> list[Span]:
        """Return the spans that start in the transcript."""
        low, high = self.part("transcript")
        return [span for span in self.spans if low <= span.start < high]

    def sureness(self, start: int, end: int) -> float:
        """Return a recogniser's lowest confidence in text[start:end], by utterance; 1 for other text."""
        each = self.meta.get("sure")
        if self.locator.get("kind") != "time" or not (isinstance(each, list) or "confidence" in self.meta):
            return 1.0
        utterances = self._utterances()
        if not isinstance(each, list) or len(each) != len(utterances):
            each = [self.meta.get("confidence", 1.0)] * len(utterances)
        least = 1.0
        for span, confidence in zip(utterances, each, strict=True):
            if span.start < end and span.end > start:
                least = min(least, float(str(confidence)))
        return least

    def between(self, start: float | None, end: float | None) -> Item | None:
        """Return the part of this item between two times in seconds, or None if nothing overlaps them.

        A clip at the border keeps its utterances, lines and frames in the range. Blanks replace the text that
        is cut away, so every other character keeps its position. A recording is returned only if all of it
        lies in the range. An item without times is returned unchanged.
        """
        low, high = -math.inf if start is None else start, math.inf if end is None else end
        first, last = self.locator.get("start", 0.0), self.locator.get("end", 0.0)
        if self.locator.get("kind") != "time" or (low <= first and last <= high):
            return self
        if self.corpus == "video" or last <= low or first >= high:
            return None
        spans = _spans_between(self.spans, low, high)
        frames = [(t, name) for t, name in self.frames if low <= t < high]
        if self.spans and not spans and not frames:
            return None
        times = _times(spans) or [(max(first, low), min(last, high))]
        return self._reduced(spans, frames, _around(times))

    def _reduced(
        self, spans: Sequence[Span], frames: Sequence[tuple[float, str]], time: tuple[float, float]
    ) -> Item:
        """Return the item with some of its spans and frames, located at a time range in seconds."""
        text = self._blanked(spans) if self.spans else self.text
        meta = self._meta_of(spans, frames)
        cut = replace(self, text=text if text.strip() else "", spans=tuple(spans), meta=meta)
        place = cut.during(*time)
        if self.frames and not frames:
            place.pop("image", None)
        if cut.sureness(0, len(text)) < SURE:
            place["doubtful"] = True
        return replace(cut, locator=place)

    def _blanked(self, spans: Sequence[Span]) -> str:
        """Return the text with blanks for all characters outside spans; line ends stay."""
        text = re.sub(r"[^\n]", " ", self.text)
        for span in spans:
            text = text[: span.start] + self.text[span.start : span.end] + text[span.end :]
        return text

    def _meta_of(self, spans: Sequence[Span], frames: Sequence[tuple[float, str]]) -> dict[str, object]:
        """Return `meta` reduced to some spans and frames of the item."""
        meta = dict(self.meta)
        each, utterances = meta.get("sure"), self._utterances()
        if isinstance(each, list) and len(each) == len(utterances):
            pairs = zip(each, utterances, strict=True)
            meta["sure"] = [confidence for confidence, span in pairs if span in spans]
        pictures = meta.get("pictures")
        if self.frames:
            meta["frames"] = list(map(list, frames))
        if self.frames and isinstance(pictures, list):
            names = {name for _, name in frames}
            meta["pictures"] = [name for name in pictures if name in names]
        return meta

    @property
    def frames(self) -> list[tuple[float, str]]:
        """The stored frames of a clip as (seconds, media id), in order."""
        stored = self.meta.get("frames")
        found: list[tuple[float, str]] = []
        # Item lists may put any value here, and older catalogs hold such values: skip malformed rows.
        for row in stored if isinstance(stored, list) else []:
            if isinstance(row, list | tuple) and len(row) == 2 and isinstance(row[0], int | float):
                found.append((float(row[0]), str(row[1])))
        return found

    @property
    def chapters(self) -> list[tuple[float, float, str]]:
        """The chapters of a recording or of a clip of it as (start, end, title), in seconds and in order."""
        stored = self.meta.get("chapters")
        found: list[tuple[float, float, str]] = []
        # Item lists may put any value here: skip malformed rows.
        for row in stored if isinstance(stored, list) else []:
            if not isinstance(row, list) or len(row) != 3:
                continue
            start, end, title = row
            if isinstance(title, str) and isinstance(start, int | float) and isinstance(end, int | float):
                found.append((start, end, title))
        return found

    def during(self, start: float, end: float) -> Locator:
        """Return the item's locator, narrowed to seconds, with the frame nearest to their middle."""
        found: Locator = {**self.locator, "start": start, "end": end}
        found.pop("doubtful", None)
        frames = self.frames
        if frames:
            middle = (start + end) / 2
            _, found["image"] = min(frames, key=lambda row: abs(row[0] - middle))
        return found


def _times(spans: Sequence[Span]) -> list[tuple[float, float]]:
    """Return the time ranges of the spans that have one."""
    return [span.time for span in spans if span.time]


def _around(times: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the earliest start and the latest end."""
    starts, ends = zip(*times, strict=True)
    return min(starts), max(ends)


def _spans_between(spans: Sequence[Span], low: float, high: float) -> list[Span]:
    """Return the spans that overlap a time range in seconds, and those without a time."""
    found: list[Span] = []
    for span in spans:
        if span.time is None or (span.time[1] > low and span.time[0] < high):
            found.append(span)
    return found


@dataclass(frozen=True, slots=True)
class Hit:
    """One row of a ranked list.

    The score is the cosine similarity in dense lists, BM25 (higher is better, > 0) in lexical ones.
    """

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class Lists:
    """The ranked lists of one query in one corpus, each best first. Any may be empty.

    `visual` comes from the image-text encoder. It is empty if no encoder is set or if the corpus has no
    pictures that it has embedded; `note` says why it is empty although an encoder is set.
    """

    dense: tuple[Hit, ...] = ()
    lexical: tuple[Hit, ...] = ()
    visual: tuple[Hit, ...] = ()
    note: str = ""
