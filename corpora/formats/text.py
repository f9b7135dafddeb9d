"""Plain text: paragraphs between blank lines, and headings only where they are sure."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ragweave.corpora.blocks import Block, Lines, Parsed
from ragweave.corpora.decode import read_text
from ragweave.models.list_lines import is_listing

_UNDERLINE = re.compile(r"([=\-~^*#])\1{2,}\s*\Z")
_NUMBERED = re.compile(
    r"(?:\d{1,2}\.)+(?:\d{1,2})?[ \t]+[^\W\d_].*|(?:chapter|part|section|appendix)[ \t]+\w{1,6}\b.*", re.I
)
_ITEM = re.compile(r"[ \t]*(?:[-*+•‣–]|\d{1,3}[.)]|[a-z][.)]|\d{4}-\d\d-\d\d\S*)[ \t]+\S")
"""An item of a list, or an entry of a log under its day."""
_SENTENCE_END = tuple(".!?:;,。！？：；，")
_MANUAL = re.compile(r"[A-Z][A-Z ]{2,40}\n[ \t]+\S")
"""A heading as manual pages have it: in capitals at the margin, over a text that is moved in."""
_CAPITALS, _FEWEST, _LONGEST_TITLE = 0.9, 8, 100
"""A first line is a title if this share of its letters outside brackets are capitals, and by its length.

The other numbers are the fewest letters and the most characters of such a title."""
_WIDE = 0.7
"""A line of at least this share of its paragraph's longest was wrapped; a shorter one ends on purpose."""
_NARROW = 40
"""Paragraphs whose longest line is shorter are verse, addresses or logs: their lines stay."""


def parse(path: Path) -> Parsed:
    """Read plain text in any encoding that can be detected."""
    found = blocks(read_text(path))
    titled = bool(found) and found[0].kind == "heading"
    return Parsed(title=found[0].text if titled else "", blocks=found)


def blocks(text: str) -> tuple[Block, ...]:
    """Return the blocks of plain text.

    Headings are underlined lines, and numbered or `Chapter N` lines that stand alone, when there are at least
    two and
    text follows each: a numbered list is never taken for headings.
    """
    out: list[Block] = []
    held: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        line = line.replace("\f", "").rstrip()
        if line:
            held.append(line)
        elif held:
            out += _paragraph(held, number - len(held), opens=not out)
            held = []
    return _numbered(out)


def _in_capitals(line: str) -> bool:
    """Return whether a line is several words, mostly in capitals, that do not end a sentence."""
    if len(line.split()) < 2 or len(line) > _LONGEST_TITLE or line.endswith(_SENTENCE_END):
        return False
    letters = list(filter(str.isalpha, re.sub(r"\(.*?\)", "", line)))
    capitals = sum(map(str.isupper, letters))
    return len(letters) >= _FEWEST and capitals >= _CAPITALS * len(letters)


def _paragraph(lines: list[str], first: int, opens: bool) -> list[Block]:
    """Turn the lines between two blank lines into blocks: headings on top, then one list or paragraph.

    Where the paragraph `opens` the text, a first line in capitals is the title.
    """
    out: list[Block] = []
    at = 0
    while at < len(lines):
        level = _underlined(lines[at : at + 2])
        manual = _MANUAL.match("\n".join(lines[at : at + 2]))
        title = opens and not at and _in_capitals(lines[0])
        if level or manual or title:
            out.append(Block(lines[at].strip(), "heading", level or (2 if manual else 1), first + at))
        elif not _UNDERLINE.match(lines[at]):
            break
        at += 2 if level else 1
    return [*out, _body(lines[at:], first + at)] if lines[at:] else out


def _underlined(lines: list[str]) -> int:
    """Return the heading level of a line by the line of signs below it, or 0."""
    if len(lines) < 2 or _UNDERLINE.match(lines[0]):
        return 0
    m = _UNDERLINE.match(lines[1])
    title = lines[0].strip()
    if m is None or len(title) > _LONGEST_TITLE or len(lines[1].strip()) < len(title) * 0.6:
        return 0
    return 1 if m[1] == "=" else 2


def _body(lines: list[str], first: int) -> Block:
    """Return a list as it is written, or a paragraph whose wrapped lines are joined."""
    items = list(filter(_ITEM.match, lines))
    listed = len(items) >= max(2, len(lines) // 3)
    widest = max(map(len, lines))
    stays = listed or widest < _NARROW or is_listing(lines)
    out = Lines()
    for number, line in enumerate(lines, first):
        out.add(line if listed else line.strip(), number, wrapped=not stays and len(line) >= widest * _WIDE)
    return out.block("list" if listed else "text")


def _numbered(found: list[Block]) -> tuple[Block, ...]:
    """Promote numbered lines between blank lines to headings, if most of them have text below."""
    candidates = [n for n, b in enumerate(found) if _looks_numbered(b)]
    followed = 0
    for n in candidates:
        has_next = n + 1 < len(found) and n + 1 not in candidates
        if has_next and found[n + 1].kind != "heading":
            followed += 1
    if len(candidates) < 2 or followed < len(candidates) * 0.6:
        return tuple(found)
    for n in candidates:
        depth = found[n].text.split()[0].rstrip(".").count(".") + 1
        found[n] = replace(found[n], kind="heading", level=min(6, depth), spans=())
    return tuple(found)


def _looks_numbered(block: Block) -> bool:
    text = block.text
    return (
        block.kind == "text"
        and "\n" not in text
        and len(text) <= 80
        and bool(_NUMBERED.fullmatch(text))
        and not text.endswith(_SENTENCE_END)
    )
