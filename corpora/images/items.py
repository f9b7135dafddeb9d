"""From pictures to items of the image corpus."""

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
"""Some programs write the name of the file where the words that stand in for the picture belong."""


class Items:
    """The image items of one file; equal pictures become one, with all their places."""

    def __init__(self, source: str, path: Path, parsed: Parsed) -> None:
        self._source = source
        self._path = path
        self._parsed = parsed
        self._told = {_plain(text) for f in parsed.figures for text in (f.caption, f.alt) if text.strip()}
        self.found: list[Item] = []
        """The items in their order."""
        self._at: dict[str, int] = {}

    def add(self, shot: Shot | None, figure: Figure, name: str = "") -> None:
        """Add a picture at its place; one that neither can be shown nor has any text is left out.

        The name is that of the picture's own file, where it has one.
        """
        heading = heading_at(self._parsed.blocks, figure.at + bool(figure.whole))
        locator = self._locator(shot, figure, heading)
        if shot is not None and shot.key in self._at:
            first = self.found[self._at[shot.key]]
            also = first.meta.setdefault("also", [])
            assert isinstance(also, list)
            if locator != first.locator and locator not in also:
                also.append(locator)
            return
        alt = "" if _FILE.fullmatch(figure.alt) else figure.alt
        around = (
            ""
            if figure.whole
            else around_at(self._parsed.blocks, figure.at, (figure.caption, alt), self._told)
        )
        lines = shot.lines if shot is not None else ()
        # What a slide or page states as text is exact; OCR stands in for it, or adds what only the picture
        # shows.
        extra = "\n".join(line.text for line in lines if _plain(line.text) not in _plain(figure.text))
        words = "\n".join(filter(None, (figure.text, extra)))
        text, parts = compose({"caption": figure.caption, "alt": alt, "words": words, "around": around})
        if shot is None and not text:
            return
        meta: dict[str, object] = {"parts": parts, "name": readable_name(name), "own": PurePath(name).stem}
        if shot is not None:
            meta |= {"picture": shot.key, "size": list(shot.size), "stored": list(shot.stored)}
            self._at[shot.key] = len(self.found)
        if lines:
            meta["confidence"] = round(sum(line.confidence for line in lines) / len(lines), 3)
            meta["ocr_language"] = guess_language("\n".join(line.text for line in lines))
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
    """Return where each line that was read stands in the item's text, with its box in pixels of the stored copy."""
    out, at = [], start
    for line in lines:
        found = text.find(line.text, at)
        if found >= 0:
            end = found + len(line.text)
            out.append(Span(found, end, bbox=line.box))
            at = end
    return tuple(out)


def says_something(figure: Figure) -> bool:
    """Tell whether a picture that cannot be opened is worth an item for what is written of it."""
    stands_in = len(figure.alt.split()) > 1 and not _FILE.fullmatch(figure.alt)
    return bool(figure.caption or figure.text or stands_in)


def heading_at(blocks: Sequence[Block], at: int) -> tuple[str, ...]:
    """Return the heading path above the block of that number."""
    path: list[Block] = []
    for block in blocks[:at]:
        if block.kind == "heading":
            while path and path[-1].level >= block.level:
                path.pop()
            path.append(block)
    return tuple(b.text for b in path)


def around_at(blocks: Sequence[Block], at: int, told: Sequence[str], others: Container[str] = ()) -> str:
    """Return the text before and after a place, up to the headings around it.

    What is told of the picture itself is not repeated, and what is written for the other pictures of the file
    (`others`, in plain form) says nothing of this one.
    """
    known = [_plain(t) for t in told if t.strip()]

    def usable(block: Block) -> bool:
        plain = _plain(block.text)
        return (
            bool(plain)
            and plain not in others
            and not any(plain in k or (len(k) > 20 and k in plain and len(plain) < 2 * len(k)) for k in known)
        )

    def near(some: Iterable[Block]) -> list[str]:
        kept: list[str] = []
        for block in some:
            if block.kind == "heading" or sum(len(w.split()) for w in kept) >= AROUND:
                break
            if block.kind in ("text", "list") and usable(block):
                kept.append(block.text)
        return kept

    head = _whole(" ".join(reversed(near(reversed(blocks[:at])))), last=True)
    tail = _whole(" ".join(near(blocks[at:])), last=False)
    return "\n\n".join(filter(None, (head, tail)))


def _plain(text: str) -> str:
    """Return a text in the form in which texts are compared."""
    return " ".join(fold(text).split())


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
