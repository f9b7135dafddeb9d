"""From pictures to items of the image corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath

from ragweave.corpora.blocks import Block, Figure
from ragweave.corpora.images.reader import Shot
from ragweave.corpora.meta import guess_language
from ragweave.corpora.parts import compose, readable_name
from ragweave.corpora.types import Item, Locator, Span
from ragweave.models.ocr import Line
from ragweave.models.text import fold, sentences

AROUND = 80
"""Words of the text before a picture, and of the text after it, that are kept with it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a picture stands, and what is written there.

    Attributes:
        file: absolute path of the file.
        title: title of the document.
        heading: heading path, outermost first.
        caption: its caption.
        alt: what stands in for it.
        around: text around it.
        name: name of the picture's own file.
        words: text that is known to be part of it, besides what OCR reads.
        page: page or slide, or 0.
        line: line in the file, or 0.
        bbox: box on the page in points, or None.
        date: date of the document, or None.
        language: of the document, or "".
    """

    file: str
    title: str
    heading: tuple[str, ...] = ()
    caption: str = ""
    alt: str = ""
    around: str = ""
    name: str = ""
    words: str = ""
    page: int = 0
    line: int = 0
    bbox: tuple[float, float, float, float] | None = None
    date: datetime | None = None
    language: str = ""


@dataclass(slots=True)
class Items:
    """The image items of one source; equal pictures become one, with all their places.

    Attributes:
        source: id of the source.
    """

    source: str
    _found: list[Item] = field(default_factory=list)
    _at: dict[str, int] = field(default_factory=dict)

    def add(self, shot: Shot | None, place: Place) -> None:
        """Add a picture at a place; one that neither can be shown nor has any text is left out."""
        key = shot.key if shot is not None else ""
        locator = _locator(self.source, shot, place)
        if key and key in self._at:
            first = self._found[self._at[key]]
            also = first.meta.setdefault("also", [])
            assert isinstance(also, list)
            if locator != first.locator and locator not in also:
                also.append(locator)
            return
        item = _item(self.source, len(self._found), shot, place, locator)
        if item is not None:
            if key:
                self._at[key] = len(self._found)
            self._found.append(item)

    def all(self) -> list[Item]:
        """Return the items in their order."""
        return self._found


def _item(source: str, ordinal: int, shot: Shot | None, place: Place, locator: Locator) -> Item | None:
    lines = shot.lines if shot is not None else ()
    read = "\n".join(line.text for line in lines)
    # What a slide or page states as text is exact; OCR stands in for it, or adds what only the picture shows.
    told = " ".join(fold(place.words).split())
    extra = "\n".join(line.text for line in lines if " ".join(fold(line.text).split()) not in told)
    words = "\n".join(filter(None, (place.words, extra)))
    text, parts = compose({"caption": place.caption, "alt": place.alt, "words": words, "around": place.around})
    name = readable_name(place.name)
    if shot is None and not text:
        return None
    meta: dict[str, object] = {"parts": parts, "name": name, "own": PurePath(place.name).stem}
    if shot is not None:
        meta |= {"picture": shot.key, "size": list(shot.size), "stored": list(shot.stored)}
    if lines:
        meta["confidence"] = round(sum(line.confidence for line in lines) / len(lines), 3)
        meta["ocr_language"] = guess_language(read)
    start = parts["words"][0] if "words" in parts else 0
    spans = _spans(text, start, lines) if "words" in parts else ()
    key = "\0".join((source, "image", str(ordinal), shot.key if shot else "", text))
    return Item(
        id=hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:24],
        corpus="image",
        source=source,
        title=place.title,
        text=text,
        locator=locator,
        heading=place.heading,
        spans=spans,
        ordinal=ordinal,
        date=(shot.date if shot else None) or place.date,
        language=place.language or guess_language(text),
        meta=meta,
    )


def _spans(text: str, start: int, lines: Sequence[Line]) -> tuple[Span, ...]:
    """Return where each line that was read stands in the item's text, with its box in pixels of the stored copy."""
    out, at = [], start
    for line in lines:
        found = text.find(line.text, at)
        if found >= 0:
            end = found + len(line.text)
            out.append(Span(found, end, bbox=line.box))
            at = end
    return tuple(out)


def _locator(source: str, shot: Shot | None, place: Place) -> Locator:
    found: Locator = {"kind": "image", "file": place.file}
    if shot is not None and shot.name:
        found["image"] = f"{source}/{shot.name}"
    if place.heading:
        found["heading"] = list(place.heading)
    if place.page:
        found["page"] = place.page
    if place.line:
        found["line"] = place.line
    return found


def heading_at(blocks: Sequence[Block], at: int) -> tuple[str, ...]:
    """Return the heading path above the block of that number."""
    path: list[Block] = []
    for block in blocks[:at]:
        if block.kind == "heading":
            while path and path[-1].level >= block.level:
                path.pop()
            path.append(block)
    return tuple(b.text for b in path)


def told_of(figures: Sequence[Figure]) -> frozenset[str]:
    """Return what is written for the pictures of a file, in the form in which texts are compared."""
    return frozenset(" ".join(fold(text).split()) for f in figures for text in (f.caption, f.alt) if text.strip())


def around_at(blocks: Sequence[Block], at: int, told: Sequence[str], others: Container[str] = ()) -> str:
    """Return the text before and after a place, up to the headings around it.

    Args:
        blocks: blocks of the file.
        at: number of blocks before the picture.
        told: texts that are kept as caption or alt text, and are not repeated.
        others: what is written for the other pictures of the file (`told_of`), which says nothing of this one.
    """
    known = [" ".join(fold(t).split()) for t in told if t.strip()]

    def usable(block: Block) -> bool:
        plain = " ".join(fold(block.text).split())
        return (
            bool(plain)
            and plain not in others
            and not any(plain in k or (len(k) > 20 and k in plain and len(plain) < 2 * len(k)) for k in known)
        )

    before: list[str] = []
    for block in reversed(blocks[:at]):
        if block.kind == "heading" or sum(len(w.split()) for w in before) >= AROUND:
            break
        if block.kind in ("text", "list") and usable(block):
            before.insert(0, block.text)
    after: list[str] = []
    for block in blocks[at:]:
        if block.kind == "heading" or sum(len(w.split()) for w in after) >= AROUND:
            break
        if block.kind in ("text", "list") and usable(block):
            after.append(block.text)
    head, tail = _whole(" ".join(before), last=True), _whole(" ".join(after), last=False)
    return "\n\n".join(filter(None, (head, tail)))


def _whole(text: str, last: bool) -> str:
    """Return the first or the last sentences of a text, AROUND words of them at most but for the first one taken."""
    text = " ".join(text.split())
    kept: list[str] = []
    parts = [text[a:b] for a, b in sentences(text)]
    for sentence in reversed(parts) if last else parts:
        if kept and len(" ".join([*kept, sentence]).split()) > AROUND:
            break
        kept.append(" ".join(sentence.split()[: 2 * AROUND]))
    return " ".join(reversed(kept) if last else kept)
