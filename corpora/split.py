"""Blocks to items: paragraphs of 100 to 200 words under their heading, documents of related sections.

Granularities of UniversalRAG (section 3.2): `paragraph` for facts, `document` for questions that need a long context.
Cuts are chosen for a whole section at once, by dynamic programming over its smallest pieces (sentences, list lines,
table rows, code lines), so that no tiny tail is left and cuts fall between blocks wherever the sizes allow it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.pieces import Piece, cut, place, size
from ragweave.corpora.types import Corpus, Item, Locator, Span

PARAGRAPH_WORDS = 200
"""Most words of a paragraph item."""
DOCUMENT_WORDS = 4_000
"""Most words of a document item; a file that fits is one document."""


def paragraphs(source_id: str, file: str, parsed: Parsed) -> list[Item]:
    """Cut a file into paragraph items, none across a heading.

    Args:
        source_id: id of the source; part of every item's id.
        file: absolute path, kept in the locators.
        parsed: the file's blocks.
    """
    make = partial(_item, "paragraph", source_id, file, parsed)
    found = [(s, piece) for s, pieces in _cut(parsed.blocks) for piece in pieces]
    return [make(n, s.heading, piece.text, piece.spans, {}) for n, (s, piece) in enumerate(found)]


def documents(source_id: str, file: str, parsed: Parsed, paragraphs: Sequence[Item]) -> list[Item]:
    """Group consecutive sections into document items; `meta["paragraphs"]` lists the ids of their paragraph items.

    Args:
        source_id: id of the source.
        file: absolute path, kept in the locators.
        parsed: the file's blocks.
        paragraphs: what `paragraphs` made of the same blocks.
    """
    pieces = [(s, piece, n == 0) for s, found in _cut(parsed.blocks) for n, piece in enumerate(found)]
    parts = [
        _Part(s, s.opened if first else (), piece, item.id)
        for (s, piece, first), item in zip(pieces, paragraphs, strict=True)
    ]
    out: list[Item] = []
    for group in _groups(parts):
        text, spans = _joined(group)
        heading = _shared([p.section for p in group])
        meta: dict[str, object] = {"paragraphs": [p.id for p in group]}
        out.append(_item("document", source_id, file, parsed, len(out), heading, text, spans, meta))
    return out


def stated(source_id: str, parsed: Parsed) -> list[Item]:
    """Return the items that a file states itself, in its order."""
    out: list[Item] = []
    counts: Counter[Corpus] = Counter()
    for r in parsed.records:
        ordinal = counts[r.corpus]
        counts[r.corpus] += 1
        out.append(
            Item(
                id=_id(source_id, r.corpus, ordinal, r.text),
                corpus=r.corpus,
                source=source_id,
                title=r.title,
                text=r.text,
                locator=r.locator,
                heading=r.heading,
                ordinal=ordinal,
                date=r.date,
                language=r.language,
                meta=r.meta,
            )
        )
    return out


@lru_cache(maxsize=1)
def _cut(blocks: tuple[Block, ...]) -> tuple[tuple[Section, tuple[Piece, ...]], ...]:
    """Cut every section; kept for one file, because paragraphs and documents are made of the same pieces."""
    return tuple((s, tuple(cut(s.blocks, PARAGRAPH_WORDS))) for s in sections(blocks))


@dataclass(frozen=True, slots=True)
class _Part:
    """A paragraph item on its way into a document."""

    section: Section
    opened: tuple[Block, ...]
    """Headings that begin right before it."""
    piece: Piece
    id: str

    def words(self) -> float:
        return size(self.piece.text) + sum(size(b.text) for b in self.opened)


def _groups(parts: list[_Part]) -> list[list[_Part]]:
    """Fill documents of at most DOCUMENT_WORDS, about equally long, opening a new one at a section where possible."""
    sizes = [p.words() for p in parts]
    total = sum(sizes)
    if total <= DOCUMENT_WORDS:
        return [parts] if parts else []
    aim = total / -(-total // DOCUMENT_WORDS)
    groups: list[list[_Part]] = [[]]
    held = 0.0
    for part, words in zip(parts, sizes, strict=True):
        level = min((b.level for b in part.opened), default=0)
        ready = (level and held > aim * 0.8) or (level in (1, 2) and held > aim * 0.6)
        if held and (ready or held + words > DOCUMENT_WORDS):
            groups.append([])
            held = 0.0
        groups[-1].append(part)
        held += words
    return groups


def _joined(group: list[_Part]) -> tuple[str, tuple[Span, ...]]:
    """Join a document's headings and pieces; a piece that continues a block follows without a blank line."""
    text = ""
    spans: list[Span] = []
    for part in group:
        for b in part.opened:
            text += ("\n\n" if text else "") + b.text
            spans += place(b.places(), len(text) - len(b.text))
        piece = part.piece
        text += ((piece.glue or "\n\n") if text else "") + piece.text
        spans += place(piece.spans, len(text) - len(piece.text))
    return text, tuple(spans)


def _shared(group: list[Section]) -> tuple[str, ...]:
    """Return the heading path that all sections of a document have in common."""
    first, *rest = [s.heading for s in group]
    depth = len(first)
    for path in rest:
        depth = next((n for n, (a, b) in enumerate(zip(first, path, strict=False)) if a != b), min(depth, len(path)))
        first = first[:depth]
    return first


def _item(
    corpus: Corpus,
    source_id: str,
    file: str,
    parsed: Parsed,
    ordinal: int,
    heading: tuple[str, ...],
    text: str,
    spans: tuple[Span, ...],
    meta: dict[str, object],
) -> Item:
    return Item(
        id=_id(source_id, corpus, ordinal, text),
        corpus=corpus,
        source=source_id,
        title=parsed.title or Path(file).stem,
        text=text,
        locator=_locator(file, heading, spans),
        heading=heading,
        spans=spans,
        ordinal=ordinal,
        date=parsed.date,
        language=parsed.language,
        meta=meta,
    )


def _id(source_id: str, corpus: Corpus, ordinal: int, text: str) -> str:
    key = "\0".join((source_id, corpus, str(ordinal), text))
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:24]


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
        left, bottom, right, top = zip(*boxes, strict=True)
        paged["bbox"] = [min(left), min(bottom), max(right), max(top)]
    return paged


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks that stand directly under one heading.

    Attributes:
        heading: heading path, outermost first; empty before the first heading.
        opened: heading blocks that begin here, outermost first (those without text of their own come along).
        blocks: blocks that are not headings, never empty.
    """

    heading: tuple[str, ...]
    opened: tuple[Block, ...]
    blocks: tuple[Block, ...]


def sections(blocks: Iterable[Block]) -> list[Section]:
    """Group blocks by heading.

    A heading with nothing under it would be lost with its words: it counts as text of the section it stands in.
    """
    out: list[Section] = []
    path: list[Block] = []
    opened: list[Block] = []
    body: list[Block] = []

    def close() -> None:
        if body:
            out.append(Section(tuple(b.text for b in path), tuple(opened), tuple(body)))
            opened.clear()
            body.clear()

    for block in _bare_as_text([b for b in blocks if b.text.strip()]):
        if block.kind != "heading":
            body.append(block)
            continue
        close()
        while path and path[-1].level >= block.level:
            path.pop()
        path.append(block)
        opened.append(block)
    close()
    return out


def _bare_as_text(blocks: list[Block]) -> list[Block]:
    """Turn headings that nothing stands under into text.

    Done from the end, so that a heading over nothing but such text counts as filled if that text came from below it.
    """
    kept: list[Block] = []
    after = 0  # level of the next block if it is a heading, 7 for all others, 0 at the end of the file
    for block in reversed(blocks):
        is_heading = block.kind == "heading"
        bare = is_heading and after <= block.level
        after = block.level if is_heading else 7
        kept.append(replace(block, kind="text", level=0, spans=block.places()) if bare else block)
    return kept[::-1]
