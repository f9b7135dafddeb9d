"""Blocks to items: paragraphs of 100 to 200 words under their heading, documents of related sections.

Granularities of UniversalRAG (section 3.2): `paragraph` for facts, `document` for questions that need a long
context. Cuts are chosen for a whole section at once, by dynamic programming over its smallest pieces
(sentences, list lines, table rows, code lines), so that no tiny tail is left and cuts fall between blocks
wherever the sizes allow it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, takewhile
from pathlib import Path

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.dates import of_heading
from ragweave.corpora.pieces import Piece, cut, place, size
from ragweave.corpora.types import Corpus, Item, Locator, Span, digest, union, whole_of

PARAGRAPH_WORDS = 200
"""Most words of a paragraph item."""
DOCUMENT_WORDS = 4_000
"""Most words of a document item; a file that fits is one document."""


def split(source: str, file: str, parsed: Parsed) -> list[Item]:
    """Return the items of a file: its paragraphs, none across a heading, its documents, and those it states itself.

    A document is consecutive sections; one of a single paragraph names it as `meta["paragraph"]`. Where a
    file is of parts or entries, `meta["part"]` numbers the one that an item is of.
    """
    # Where parts are dated, the file is of the day of the last of them, and one without a date is of none.
    of_file = None if parsed.parted and any(b.date for b in parsed.blocks) else parsed.date

    def item(
        corpus: Corpus,
        n: int,
        heading: tuple[str, ...],
        date: datetime | None,
        text: str,
        spans: tuple[Span, ...],
    ) -> Item:
        return Item(
            id=digest(source, corpus, str(n), text),
            corpus=corpus,
            source=source,
            title=parsed.title or Path(file).stem,
            text=text,
            locator=_locator(file, heading, spans),
            heading=heading,
            spans=spans,
            ordinal=n,
            date=date or of_file,
            language=parsed.language,
        )

    parts = list(_parts(parsed.blocks))
    small = [
        item("paragraph", n, p.heading, p.date, p.piece.text, p.piece.spans) for n, p in enumerate(parts)
    ]
    if parsed.parted or parsed.listed:
        number: dict[int, int] = {}
        rows = [(i, number.setdefault(id(p.top), len(number))) for i, p in zip(small, parts, strict=True)]
        small = [replace(i, meta={"part": part}) for i, part in rows]
    out, at = list(small), 0
    # A workbook parts at its sheets, a mailbox at its mails: in a document of several none would have its
    # place.
    apart = (list(own) for _, own in groupby(parts, key=lambda p: p.top if parsed.parted else None))
    for n, group in enumerate(g for own in apart for g in _groups(own)):
        first, last = min(p.heading for p in group), max(p.heading for p in group)
        shared = tuple(a for a, _ in takewhile(lambda ab: ab[0] == ab[1], zip(first, last, strict=False)))
        date = (group[0].top.date if parsed.parted and group[0].top else None) or of_heading(shared)
        whole = item("document", n, shared, date, *_joined(group))
        own = small[at : at + len(group)]
        meta = own[0].meta if parsed.parted else {}
        if len(own) == 1:
            whole, meta = replace(whole, id=whole_of(own[0].id)), {**meta, "paragraph": own[0].id}
        out.append(replace(whole, meta=meta))
        at += len(own)
    return [*out, *_stated(source, parsed)]


def _stated(source: str, parsed: Parsed) -> Iterator[Item]:
    counts: Counter[Corpus] = Counter()
    for r in parsed.records:
        n = counts[r.corpus]
        counts[r.corpus] += 1
        yield replace(r, id=digest(source, r.corpus, str(n), r.text), source=source, ordinal=n)


@dataclass(frozen=True, slots=True)
class _Part:
    """A paragraph on its way into a document.

    `date` is that of the innermost heading that has one, `top` the outermost.
    """

    heading: tuple[str, ...]
    opened: tuple[Block, ...]
    piece: Piece
    date: datetime | None
    top: Block | None


def _parts(blocks: Iterable[Block]) -> Iterator[_Part]:
    """Cut the blocks that stand directly under each heading."""
    path: list[Block] = []
    opened: list[Block] = []
    body: list[Block] = []

    def close() -> Iterator[_Part]:
        if body:
            heading = tuple(b.text for b in path)
            date = next((d for b in reversed(path) if (d := b.date or of_heading([b.text]))), None)
            for n, piece in enumerate(cut(body, PARAGRAPH_WORDS)):
                yield _Part(heading, () if n else tuple(opened), piece, date, path[0] if path else None)
            opened.clear()
            body.clear()

    for block in _bare_as_text([b for b in blocks if b.text.strip()]):
        if block.kind != "heading":
            body.append(block)
            continue
        yield from close()
        while path and path[-1].level >= block.level:
            path.pop()
        path.append(block)
        opened.append(block)
    yield from close()


def _bare_as_text(blocks: list[Block]) -> list[Block]:
    """Turn headings that nothing stands under into text of the section they stand in: their words would be lost.

    Done from the end, so that a heading over nothing but such text counts as filled if that text came from
    below it.
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
    """Fill documents of at most DOCUMENT_WORDS, about equally long, opening a new one at a section where possible."""
    sizes = [size(p.piece.text) + sum(size(b.text) for b in p.opened) for p in parts]
    total = sum(sizes)
    aim = total / max(1.0, -(-total // DOCUMENT_WORDS))
    groups: list[list[_Part]] = []
    held = 0.0
    for part, words in zip(parts, sizes, strict=True):
        level = min((b.level for b in part.opened), default=0)
        ready = (level and held > aim * 0.8) or (level in (1, 2) and held > aim * 0.6)
        if not groups or (held and ((ready and aim < total) or held + words > DOCUMENT_WORDS)):
            groups.append([])
            held = 0.0
        groups[-1].append(part)
        held += words
    return groups


def _joined(group: Sequence[_Part]) -> tuple[str, tuple[Span, ...]]:
    """Join a document's headings and pieces; a piece that continues a block follows without a blank line."""
    text = ""
    spans: list[Span] = []
    for part in group:
        for b in part.opened:
            text += ("\n\n" if text else "") + b.text
            spans += place(b.places(), len(text) - len(b.text))
        text += ((part.piece.glue or "\n\n") if text else "") + part.piece.text
        spans += place(part.piece.spans, len(text) - len(part.piece.text))
    return text, tuple(spans)


def _locator(file: str, heading: tuple[str, ...], spans: tuple[Span, ...]) -> Locator:
    """Open the first place of an item: page and box where the format has pages, heading and line elsewhere."""
    first = spans[0] if spans else None
    if first is None or not first.page:
        found: Locator = {"kind": "heading", "file": file, "heading": list(heading)}
        if first is not None and first.line:
            found["line"] = first.line
        return found
    paged: Locator = {"kind": "page", "file": file, "page": first.page}
    if heading:
        paged["heading"] = list(heading)
    boxes = [s.bbox for s in spans if s.bbox and s.page == first.page]
    if boxes:
        paged["bbox"] = list(union(boxes))
    return paged
