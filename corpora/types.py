"""The nouns that every room shares: corpora, locators, items, hits."""

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
"""What a router may answer: a corpus, or no retrieval."""

LABELS: tuple[Label, ...] = get_args(Label)

MEANINGS: dict[Label, str] = {
    "none": "no search is needed; anybody knows it, it is small talk, or it only asks to reason or compute.",
    "paragraph": "one fact that stands in one paragraph of text.",
    "document": "several facts from a longer text, a comparison, a chain of facts, or an overview.",
    "image": "what a picture, chart, diagram, slide or screenshot shows.",
    "clip": "one moment or a short stretch of a recording.",
    "video": "a recording as a whole, or something that runs through all of it.",
}
"""What each label stands for, as a language model is told."""

Recency = Literal["auto", "on", "off"]
"""When newer documents are preferred: where a question asks for it, always, or never."""

MAX_HALF_LIFE = 36_500
"""Days; a century."""


class Locator(TypedDict, total=False):
    """Where evidence lies, precise enough to open it. Only the keys that apply are present."""

    kind: Literal["heading", "page", "image", "time", "url", "model"]
    """How to open it."""
    file: str
    """Path of the source, absolute, as indexed; of an item of a list, the file that the list names for it."""
    beside: str
    """Path of that file, relative to the folder of the list."""
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
    """Speech that a recogniser was not sure of: it may be quoted, marked as that."""


SURE = 0.7
"""Mean confidence of a recogniser's words below which what it heard is searched, and quoted only as heard."""


Box = tuple[float, float, float, float]
"""Two corners: those of the smaller and of the larger coordinates."""


def digest(*parts: str) -> str:
    """Return the id that parts give together: 24 hexadecimal digits."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def whole_of(paragraph: str) -> str:
    """Return the id of a document that is one paragraph, by the id of that."""
    return digest(paragraph, "document")


def union(boxes: Sequence[Box]) -> Box:
    """Return the box around boxes."""
    lows_x, lows_y, highs_x, highs_y = zip(*boxes, strict=True)
    return min(lows_x), min(lows_y), max(highs_x), max(highs_y)


@dataclass(frozen=True, slots=True)
class Span:
    """Where a stretch of an item's text lies in its source.

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
        title: title of the document it comes from (file name where the document has none).
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
        """Narrow the item's locator to text[start:end], by the spans that overlap it."""
        found: Locator = {**self.locator, "chars": [start, end]}
        over = [s for s in self.spans if s.start < end and s.end > start]
        if over:
            if over[0].line:
                found["line"] = over[0].line
            page = over[0].page
            if page:
                found["page"] = page
            pages = self.meta.get("pages")
            if page and isinstance(pages, list):  # pictures of the pages of one file
                found["image"] = str(pages[page - 1])
            boxes = [s.bbox for s in over if s.bbox and s.page == page]
            if boxes:
                found["bbox"] = list(union(boxes))
            times = [s.time for s in over if s.time]
            if times:
                found |= self.during(min(a for a, _ in times), max(b for _, b in times))
        found.pop("doubtful", None)
        if self.sureness(start, end) < SURE:
            found["doubtful"] = True
        return found

    @property
    def place(self) -> Locator:
        """Where the item lies; a clip in which somebody speaks begins and ends with what is said."""
        opens, closes = self.part("transcript")
        times = [s.time for s in self.spans if s.time and opens <= s.start < closes]
        if self.corpus != "clip" or not times:
            return self.locator
        first, last = min(a for a, _ in times), max(b for _, b in times)
        return Locator(**{**self.locator, **self.during(first, last)})

    def part(self, name: str) -> tuple[int, int]:
        """Return [start, end) of a part of a clip's text; an item that names no parts is all speech."""
        parts = self.meta.get("parts")
        if not isinstance(parts, dict):
            return (0, len(self.text)) if name == "transcript" else (0, 0)
        low, high = parts.get(name, (0, 0))
        return int(low), int(high)

    def sureness(self, start: int, end: int) -> float:
        """Return how sure a recogniser was of text[start:end], by its least sure utterance; 1 for other text."""
        told = self.meta.get("sure")
        if self.locator.get("kind") != "time" or not (isinstance(told, list) or "confidence" in self.meta):
            return 1.0
        low, high = self.part("transcript")
        said = [s for s in self.spans if low <= s.start < high]
        whole = self.meta.get("confidence", 1.0)
        each = told if isinstance(told, list) and len(told) == len(said) else [whole] * len(said)
        over = (float(str(c)) for s, c in zip(said, each, strict=True) if s.start < end and s.end > start)
        return min(over, default=1.0)

    def between(self, start: float | None, end: float | None) -> Item | None:
        """Return what of this overlaps these seconds, or None; a whole recording only where all of it lies in them.

        Of a clip at the border its utterances, lines and frames in the range are left. What is cut away is
        blank, so that every character stays where it is. What has no time is returned as it is.
        """
        if self.locator.get("kind") != "time" or (start is None and end is None):
            return self
        low, high = start or 0.0, math.inf if end is None else end
        first, last = self.locator.get("start", 0.0), self.locator.get("end", 0.0)
        if low <= first and last <= high:
            return self
        spans = [s for s in self.spans if s.time is None or (s.time[1] > low and s.time[0] < high)]
        frames = [(t, name) for t, name in self.frames if low <= t < high]
        if (
            self.corpus == "video"
            or last <= low
            or first >= high
            or (self.spans and not spans and not frames)
        ):
            return None
        text = re.sub(r"[^\n]", " ", self.text) if self.spans else self.text
        for s in spans:
            text = text[: s.start] + self.text[s.start : s.end] + text[s.end :]
        meta, told, pictures = {**self.meta}, self.meta.get("sure"), self.meta.get("pictures")
        opens, closes = self.part("transcript")
        said = [s for s in self.spans if opens <= s.start < closes]
        if isinstance(told, list) and len(told) == len(said):
            meta["sure"] = [sure for sure, s in zip(told, said, strict=True) if s in spans]
        if self.frames:
            meta["frames"] = [[t, name] for t, name in frames]
        if self.frames and isinstance(pictures, list):
            meta["pictures"] = [name for name in pictures if name in {name for _, name in frames}]
        times = [s.time for s in spans if s.time] or [(max(first, low), min(last, high))]
        cut = replace(self, text=text if text.strip() else "", spans=tuple(spans), meta=meta)
        place = cut.during(min(a for a, _ in times), max(b for _, b in times))
        if self.frames and not frames:
            place.pop("image", None)
        if cut.sureness(0, len(text)) < SURE:
            place["doubtful"] = True
        return replace(cut, locator=place)

    @property
    def frames(self) -> list[tuple[float, str]]:
        """The stored frames of a clip as (seconds, media id), in order."""
        stored = self.meta.get("frames")
        rows = (
            [r for r in stored if isinstance(r, list | tuple) and len(r) == 2]
            if isinstance(stored, list)
            else []
        )
        # Older catalogs have rows of item lists that note anything.
        return [(float(t), str(name)) for t, name in rows if isinstance(t, int | float)]

    @property
    def chapters(self) -> list[tuple[float, float, str]]:
        """The chapters of a recording, or of a clip of several, as (start, end, title), in seconds and in order."""
        held = self.meta.get("chapters")
        rows = [r for r in held if isinstance(r, list) and len(r) == 3] if isinstance(held, list) else []
        # The row of an item list may note anything.
        return [
            (a, b, t)
            for a, b, t in rows
            if isinstance(t, str) and all(isinstance(x, int | float) for x in (a, b))
        ]

    def during(self, start: float, end: float) -> Locator:
        """Narrow the item's locator to what is seen in these seconds, with the stored frame nearest to their middle."""
        found: Locator = {**self.locator, "start": start, "end": end}
        found.pop("doubtful", None)
        if frames := self.frames:
            found["image"] = min(frames, key=lambda row: abs(row[0] - (start + end) / 2))[1]
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

    `visual` is by the image-text encoder: empty where none is set, or the corpus holds no pictures it has
    seen; `note` says in words why it is empty although one is set.
    """

    dense: tuple[Hit, ...] = ()
    lexical: tuple[Hit, ...] = ()
    visual: tuple[Hit, ...] = ()
    note: str = ""
