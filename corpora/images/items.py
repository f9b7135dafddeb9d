"""Turn pictures into items of the image corpus."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from pathlib import Path, PurePath

from ragweave.corpora.blocks import Block, Figure, Parsed
from ragweave.corpora.images.reader import Shot
from ragweave.corpora.meta import guess_language
from ragweave.corpora.parts import compose, readable_name
from ragweave.corpora.types import Item, Locator, Span, digest
from ragweave.models.ocr import TextLine
from ragweave.models.text import fold, sentences

AROUND = 80
"""Words of the text before a picture, and of the text after it, that are kept with it."""
_FILE = re.compile(r".*\.(?:png|jpe?g|webp|gif|tiff?|bmp|svg|emf|wmf)", re.I | re.S)
"""Some programs write the name of the file as the alternative text of a picture."""


class Items:
    """The image items of one file; equal pictures become one, with all their places."""

    def __init__(self, source: str, path: Path, parsed: Parsed) -> None:
        self._source = source
        self._path = path
        self._parsed = parsed
        self._written: set[str] = set()
        """Captions and alternative texts of all pictures, in plain form."""
        for figure in parsed.figures:
            self._written.update((_plain(figure.caption), _plain(figure.alt)))
        self._written.discard("")
        self.found: list[Item] = []
        """The items in their order."""
        self._at: dict[str, int] = {}

    def add(self, shot: Shot | None, figure: Figure, name: str = "") -> None:
        """Add a picture at its place, unless it has no text and cannot be shown.

        `name` is the name of the picture's own file, if it has one.
        """
        heading = heading_at(self._parsed.blocks, figure.at + bool(figure.whole))
        locator = self._locator(shot, figure, heading)
        if shot is not None and shot.key in self._at:
            self._add_place(self.found[self._at[shot.key]], locator)
            return
        lines = shot.lines if shot is not None else ()
        text, parts = self._text(figure, lines)
        if shot is None and not text:
            return
        meta: dict[str, object] = {"parts": parts, "name": readable_name(name), "own": PurePath(name).stem}
        if shot is not None:
            meta |= {"picture": shot.key, "size": list(shot.size), "stored": list(shot.stored)}
            self._at[shot.key] = len(self.found)
        if lines:
            meta["confidence"] = round(sum([line.confidence for line in lines]) / len(lines), 3)
            meta["ocr_language"] = guess_language("\n".join([line.text for line in lines]))
        item = Item(
            id=digest(self._source, "image", str(len(self.found)), shot.key if shot else "", text),
            corpus="image",
            source=self._source,
            title=self._parsed.title or self._path.stem,
            text=text,
            locator=locator,
            heading=heading,
            spans=_spans(text, parts["words"][0], lines) if "words" in parts else (),
            ordinal=len(self.found),
            date=(shot.date if shot else None) or self._parsed.date,
            language=self._parsed.language or guess_language(text),
            meta=meta,
        )
        self.found.append(item)

    def _add_place(self, item: Item, locator: Locator) -> None:
        """Add one more place of a picture that already has an item."""
        also = item.meta.setdefault("also", [])
        assert isinstance(also, list)
        if locator != item.locator and locator not in also:
            also.append(locator)

    def _text(self, figure: Figure, lines: Sequence[TextLine]) -> tuple[str, dict[str, list[int]]]:
        """Return the text of an item, and where its parts are in it."""
        alt = "" if _FILE.fullmatch(figure.alt) else figure.alt
        around = ""
        if not figure.whole:
            around = around_at(self._parsed.blocks, figure.at, (figure.caption, alt), self._written)
        # The text that a slide or page states is exact. OCR only adds what it does not contain.
        stated = _plain(figure.text)
        words = [figure.text] if figure.text else []
        read = [line.text for line in lines if _plain(line.text) not in stated]
        if any(read):
            words.append("\n".join(read))
        return compose({"caption": figure.caption, "alt": alt, "words": "\n".join(words), "around": around})

    def _locator(self, shot: Shot | None, figure: Figure, heading: tuple[str, ...]) -> Locator:
        found: Locator = {"kind": "image", "file": str(self._path)}
        if shot is not None and shot.name:
            found["image"] = f"{self._source}/{shot.name}"
        if heading:
            found["heading"] = list(heading)
        if figure.page:
            found["page"] = figure.page
        if figure.line:
            found["line"] = figure.line
        return found


def _spans(text: str, start: int, lines: Sequence[TextLine]) -> tuple[Span, ...]:
    """Return the place of each OCR line in the item's text, with its box in pixels of the stored copy."""
    spans, at = [], start
    for line in lines:
        found = text.find(line.text, at)
        if found >= 0:
            at = found + len(line.text)
            spans.append(Span(found, at, bbox=line.box))
    return tuple(spans)


def says_something(figure: Figure) -> bool:
    """Return whether a picture that cannot be opened has text that is worth an item."""
    has_alt = len(figure.alt.split()) > 1 and not _FILE.fullmatch(figure.alt)
    return bool(figure.caption or figure.text or has_alt)


def heading_at(blocks: Sequence[Block], at: int) -> tuple[str, ...]:
    """Return the heading path above the block of that number."""
    path: list[Block] = []
    for block in blocks[:at]:
        if block.kind == "heading":
            while path and path[-1].level >= block.level:
                path.pop()
            path.append(block)
    return tuple([block.text for block in path])


def around_at(blocks: Sequence[Block], at: int, own: Sequence[str], others: Container[str] = ()) -> str:
    """Return the text before and after a place, up to the headings around it.

    Captions and alternative texts are left out: those of the picture (`own`) would be repeated, and those of
    the other pictures of the file (`others`, in plain form) do not describe this one.
    """
    known = [_plain(text) for text in own if text.strip()]
    before = _near(reversed(blocks[:at]), known, others)
    before.reverse()
    head = _whole(" ".join(before), last=True)
    tail = _whole(" ".join(_near(blocks[at:], known, others)), last=False)
    return "\n\n".join(filter(None, (head, tail)))


def _near(blocks: Iterable[Block], known: Sequence[str], others: Container[str]) -> list[str]:
    """Return the first usable texts of blocks, up to a heading or AROUND words."""
    kept: list[str] = []
    words = 0
    for block in blocks:
        if block.kind == "heading" or words >= AROUND:
            break
        if block.kind in ("text", "list") and _is_usable(block, known, others):
            kept.append(block.text)
            words += len(block.text.split())
    return kept


def _is_usable(block: Block, known: Sequence[str], others: Container[str]) -> bool:
    """Return whether a block says more than the captions and alternative texts."""
    plain = _plain(block.text)
    if not plain or plain in others:
        return False
    for text in known:
        repeats = len(text) > 20 and text in plain and len(plain) < 2 * len(text)
        if plain in text or repeats:
            return False
    return True


def _plain(text: str) -> str:
    """Return a text in the form in which texts are compared."""
    return " ".join(fold(text).split())


def _whole(text: str, last: bool) -> str:
    """Return the first or last whole sentences of a text, AROUND words at most, but at least one."""
    text = " ".join(text.split())
    parts = [text[start:end] for start, end in sentences(text)]
    if last:
        parts.reverse()
    kept: list[str] = []
    for sentence in parts:
        if kept and len(" ".join([*kept, sentence]).split()) > AROUND:
            break
        kept.append(" ".join(sentence.split()[: 2 * AROUND]))
    if last:
        kept.reverse()
    return " ".join(kept)
