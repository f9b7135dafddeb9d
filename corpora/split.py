"""Split blocks into items: paragraphs of 100 to 200 words under one heading, documents of related sections.

The granularities are those of UniversalRAG (section 3.2): `paragraph` for facts, `document` for questions
that need a long context. Dynamic programming over the smallest pieces of a section (sentences, list lines,
table rows, code lines) chooses all cuts of the section at once: no tiny tail remains, and cuts lie between
blocks if the sizes allow it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.dates import of_heading
from ragweave.corpora.pieces import Piece, cut, place, size
from ragweave.corpora.types import Corpus, Item, Locator, Span, digest, union, whole_of

PARAGRAPH_WORDS = 200
"""Largest number of words of a paragraph item."""
DOCUMENT_WORDS = 4_000
"""Largest number of words of a document item; a file that fits is one document."""


def split(source: str, file: str, parsed: Parsed) -> list[Item]:
    """Return the items of a file: paragraphs, documents, and the records that the file states itself.

    A paragraph never crosses a heading. A document is consecutive sections; if it is one paragraph,
    `meta["paragraph"]` has the id of that. If a file consists of parts or entries, `meta["part"]` is the
    number of the item's part.
    """
    make = _Maker(source, file, parsed)
    parts = list(_parts(parsed.blocks))
    paragraphs: list[Item] = []
    numbers: dict[int, int] = {}
    for n, part in enumerate(parts):
        paragraph = make.item("paragraph", n, part.heading, part.date, part.piece.text, part.piece.spans)
        if parsed.parted or parsed.listed:
            number = numbers.setdefault(id(part.top), len(numbers))
            paragraph = replace(paragraph, meta={"part": number})
        paragraphs.append(paragraph)
    documents: list[Item] = []
    at = 0
    for n, group in enumerate(_documents(parts, parsed.parted)):
        documents.append(make.document(n, group, paragraphs[at : at + len(group)]))
        at += len(group)
    return [*paragraphs, *documents, *_stated(source, parsed)]


class _Maker:
    """Makes the items of one file."""

    def __init__(self, source: str, file: str, parsed: Parsed) -> None:
        self._source, self._file, self._parsed = source, file, parsed
        self._date = parsed.date
        if parsed.parted and any(block.date for block in parsed.blocks):
            # The date of the file is that of its last dated part: a part without a date has none.
            self._date = None

    def item(
        self,
        corpus: Corpus,
        n: int,
        heading: tuple[str, ...],
        date: datetime | None,
        text: str,
        spans: tuple[Span, ...],
    ) -> Item:
        """Return an item of the file."""
        return Item(
            id=digest(self._source, corpus, str(n), text),
            corpus=corpus,
            source=self._source,
            title=self._parsed.title or Path(self._file).stem,
            text=text,
            locator=_locator(self._file, heading, spans),
            heading=heading,
            spans=spans,
            ordinal=n,
            date=date or self._date,
            language=self._parsed.language,
        )

    def document(self, n: int, group: Sequence[_Part], paragraphs: Sequence[Item]) -> Item:
        """Return the document of some parts, whose paragraphs are items already."""
        heading = _shared_heading(group)
        top = group[0].top
        date = top.date if self._parsed.parted and top else None
        whole = self.item("document", n, heading, date or of_heading(heading), *_joined(group))
        meta = dict(paragraphs[0].meta) if self._parsed.parted else {}
        if len(paragraphs) == 1:
            meta["paragraph"] = paragraphs[0].id
            whole = replace(whole, id=whole_of(paragraphs[0].id))
        return replace(whole, meta=meta)


def _shared_heading(group: Sequence[_Part]) -> tuple[str, ...]:
    """Return the outer headings that all parts share."""
    headings = [part.heading for part in group]
    shared: list[str] = []
    for one, other in zip(min(headings), max(headings), strict=False):
        if one != other:
            break
        shared.append(one)
    return tuple(shared)


def _documents(parts: Sequence[_Part], parted: bool) -> Iterator[list[_Part]]:
    """Yield the parts of each document.

    A document never crosses the sheets of a workbook or the mails of a mailbox: several in one document would
    have no place of their own.
    """
    for _, own in groupby(parts, key=lambda part: part.top if parted else None):
        yield from _groups(list(own))


def _stated(source: str, parsed: Parsed) -> Iterator[Item]:
    """Yield the records that a file states itself, numbered by corpus."""
    counts: Counter[Corpus] = Counter()
    for record in parsed.records:
        n = counts[record.corpus]
        counts[record.corpus] += 1
        yield replace(record, id=digest(source, record.corpus, str(n), record.text), source=source, ordinal=n)


@dataclass(frozen=True, slots=True)
class _Part:
    """A paragraph with its place among the headings.

    `opened` are the headings right before it, `date` is the innermost date of its headings, `top` is the
    outermost heading.
    """

    heading: tuple[str, ...]
    opened: tuple[Block, ...]
    piece: Piece
    date: datetime | None
    top: Block | None


def _parts(blocks: Iterable[Block]) -> Iterator[_Part]:
    """Cut the blocks directly under each heading into paragraphs."""
    path: list[Block] = []
    opened: list[Block] = []
    body: list[Block] = []
    written = [block for block in blocks if block.text.strip()]
    for block in _bare_as_text(written):
        if block.kind != "heading":
            body.append(block)
            continue
        if body:
            yield from _section(path, opened, body)
            opened, body = [], []
        while path and path[-1].level >= block.level:
            path.pop()
        path.append(block)
        opened.append(block)
    if body:
        yield from _section(path, opened, body)


def _section(path: Sequence[Block], opened: Sequence[Block], body: Sequence[Block]) -> Iterator[_Part]:
    """Cut the blocks under one heading; `opened` are the headings since the section before."""
    heading = tuple(block.text for block in path)
    date = _innermost_date(path)
    top = path[0] if path else None
    for n, piece in enumerate(cut(body, PARAGRAPH_WORDS)):
        yield _Part(heading, () if n else tuple(opened), piece, date, top)


def _innermost_date(path: Sequence[Block]) -> datetime | None:
    """Return the date of the innermost heading that has one."""
    for block in reversed(path):
        date = block.date or of_heading([block.text])
        if date:
            return date
    return None


def _bare_as_text(blocks: list[Block]) -> list[Block]:
    """Turn headings without text into text of the section around them, so that their words are not lost.

    The loop runs from the end: a heading over nothing but such text keeps its kind if the text was below it.
    """
    kept: list[Block] = []
    after = 0  # level of the next block if it is a heading, 7 for all others, 0 at the end of the file
    for block in reversed(blocks):
        is_heading = block.kind == "heading"
        bare = is_heading and after <= block.level
        after = block.level if is_heading else 7
        kept.append(replace(block, kind="text", level=0, spans=block.places()) if bare else block)
    return kept[::-1]


def _groups(parts: Sequence[_Part]) -> list[list[_Part]]:
    """Fill documents of about equal length, at most DOCUMENT_WORDS; each starts at a section if possible."""
    sizes = list(map(_size, parts))
    total = sum(sizes)
    aim = total / max(1.0, -(-total // DOCUMENT_WORDS))
    groups: list[list[_Part]] = []
    held = 0.0
    for part, words in zip(parts, sizes, strict=True):
        level = min((block.level for block in part.opened), default=0)
        ready = (level and held > aim * 0.8) or (level in (1, 2) and held > aim * 0.6)
        full = held + words > DOCUMENT_WORDS or (ready and aim < total)
        if not groups or (held and full):
            groups.append([])
            held = 0.0
        groups[-1].append(part)
        held += words
    return groups


def _size(part: _Part) -> float:
    """Return the length of a part with the headings before it, in words."""
    words = 0.0
    for block in part.opened:
        words += size(block.text)
    return size(part.piece.text) + words


def _joined(group: Sequence[_Part]) -> tuple[str, tuple[Span, ...]]:
    """Join a document's headings and pieces; a piece that continues a block follows without a blank line."""
    text = ""
    spans: list[Span] = []
    for part in group:
        for block in part.opened:
            text += ("\n\n" if text else "") + block.text
            spans += place(block.places(), len(text) - len(block.text))
        text += ((part.piece.glue or "\n\n") if text else "") + part.piece.text
        spans += place(part.piece.spans, len(text) - len(part.piece.text))
    return text, tuple(spans)


def _locator(file: str, heading: tuple[str, ...], spans: tuple[Span, ...]) -> Locator:
    """Return where an item starts: page and box if the format has pages, else heading and line."""
    first = spans[0] if spans else None
    if first is None or not first.page:
        found: Locator = {"kind": "heading", "file": file, "heading": list(heading)}
        if first is not None and first.line:
            found["line"] = first.line
        return found
    paged: Locator = {"kind": "page", "file": file, "page": first.page}
    if heading:
        paged["heading"] = list(heading)
    boxes = [span.bbox for span in spans if span.bbox and span.page == first.page]
    if boxes:
        paged["bbox"] = list(union(boxes))
    return paged
