"""RTF: text by striprtf, with marks of our own for what it does not tell: headings, lists, cells, notes, hidden words.

The groups of a file are gone through once before. What no reader sees and what is no text (pictures, objects,
styles) is taken out there, which also keeps the work of striprtf, a step for each character, within the
length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from ragweave.corpora.blocks import Block, Parsed, comment
from ragweave.corpora.decode import read_bytes
from ragweave.corpora.formats.merged import MergedTable, TableRow, first_row
from ragweave.corpora.formats.ooxml import not_read
from ragweave.corpora.formats.rtf_groups import (
    AUTHOR,
    CELL,
    HEADING,
    INSIDE,
    ITEM,
    LABELLED,
    ROW,
    SAID,
    Groups,
)
from ragweave.corpora.formats.symbols import BOXES
from ragweave.corpora.pages import PAGE_NUMBER
from ragweave.models.errors import SourceError

_PIECE = re.compile(f"([^\n{CELL}{ROW}]*)([\n{CELL}{ROW}]?)")
_MARKS = re.compile(f"{HEADING}\\d|[{HEADING}{ITEM}{INSIDE}{CELL}{ROW}{LABELLED}{AUTHOR}{SAID}]")
_LABEL = re.compile(f"{ITEM}([^{LABELLED}]*){LABELLED}")
_COMMENT = re.compile(f"(?:{AUTHOR}([^{AUTHOR}{SAID}]*))?{SAID}([^{AUTHOR}{SAID}]*)")
_STAMP = re.compile(r"\\(yr|mo|dy)(\d{1,4})")


def parse(path: Path) -> Parsed:
    """Read an RTF document: headings by their outline levels, numbers of lists, tables, edges of its pages, notes.

    Text boxes and comments come behind; deleted text is left out.
    """
    data = read_bytes(path)
    if not data.startswith(b"{\\rtf"):
        raise SourceError(f"{path.name} is not RTF", "open it in a word processor and save it again")
    groups = Groups(data.decode("latin-1"), path)
    parts = groups.parts
    page = re.search(r"\\ansicpg\d+", "".join(parts["text"][:50]))
    begin = f"{{\\rtf1\\ansi{page[0] if page else ''} {{{''.join(parts['fonts'])}}} "

    def plain(name: str) -> str:
        return _plain(f"{begin}{''.join(parts[name])}}}", path)

    title, author, hidden = (_one_line(plain(name)) for name in ("title", "author", "hidden"))
    end = parts["text"].pop() if parts["text"] and not groups.is_cut else ""
    behind = ("\\pard\\par ", *parts["box"], "\\pard\\par ", *parts["note"])
    body = "".join((*parts["text"], *behind, end))
    blocks = [*_edges(plain("edge")), *_blocks(_plain(body, path)), *_comments(plain("comment"))]
    top = next((b.text for b in blocks if b.kind == "heading" and b.level == 1), "")
    cut = ("the file is cut off, and was read as far as it goes",) if groups.is_cut else ()
    date = _date("".join(parts["creatim"]))
    warnings = (*cut, *not_read(groups.left))
    return Parsed(
        title or top, tuple(blocks), date, author, warnings=warnings, hidden=(hidden,) if hidden else ()
    )


def _one_line(text: str) -> str:
    return " ".join(_MARKS.sub("", text).split())


def _edges(text: str) -> Iterator[Block]:
    """Yield the headers and footers as one block, each line once, without page numbers."""
    lines = (_one_line(line) for line in text.split("\n"))
    kept = dict.fromkeys(line for line in lines if line and not PAGE_NUMBER.fullmatch(line))
    if kept:
        yield Block("\n".join(kept), "text")


def _comments(text: str) -> Iterator[Block]:
    for author, said in _COMMENT.findall(text):
        if told := _one_line(said):
            yield Block(comment(told, _one_line(author)), "text")


def _plain(source: str, path: Path) -> str:
    try:
        text = str(rtf_to_text(source, errors="replace"))  # type: ignore[no-untyped-call]
    except (ValueError, OverflowError, LookupError, TypeError) as exc:  # whatever odd numbers cause
        what = f"{path.name} is damaged RTF ({exc})"
        raise SourceError(what, "open it in a word processor and save it again") from exc
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a text with marks."""
    items: list[str] = []
    rows: list[TableRow] = []
    cells: list[str] = []
    held: list[str] = []
    inside = False
    for piece, sign in (*_PIECE.findall(text), ("", "\n")):
        label, said = _labelled(piece)
        inside = inside or INSIDE in piece
        is_head = _level_of(piece) > 0
        is_item = bool(label) and not inside and not is_head
        held += (
            [said if is_item else f"{label.strip('-')} {said}".strip()] if said or label.strip("-") else []
        )
        if sign == CELL:
            cells, held = [*cells, " ".join(held)], []
        elif sign == ROW:
            rows += [TableRow(cells)] if any(cells) else []
            cells, held, inside = [], [], False
        elif not inside and sign and held:
            yield from _closed(rows, [] if is_item else items)
            rows = []
            if is_item:
                items.append(f"{label} {' '.join(held)}")
            else:
                items = []
                yield Block(" ".join(held), "heading" if is_head else "text", _level_of(piece))
            held = []
    yield from _closed(rows, items)
    if held or cells:
        yield Block(" ".join(filter(None, (*cells, *held))), "text")


def _level_of(piece: str) -> int:
    """Return the outline level of a paragraph with marks, 0 where it is no heading."""
    return int((re.findall(f"{HEADING}(\\d)", piece) or ["0"])[-1])


def _labelled(piece: str) -> tuple[str, str]:
    """Return the number of a paragraph, `-` for a bullet and "" where it has none, and its text."""
    m = _LABEL.search(piece)
    text = _one_line(_LABEL.sub(" ", piece, count=1))
    if m is None:
        return "", text
    label = _one_line(m[1])
    is_number = any(c.isdigit() for c in label) or (any(map(str.isalpha, label)) and label[-1] in ".)")
    return label if is_number or label in BOXES else "-", text


def _closed(rows: list[TableRow], items: list[str]) -> Iterator[Block]:
    if items:
        yield Block("\n".join(items), "list")
    yield from MergedTable().blocks(rows, first_row) if rows else ()


def _date(said: str) -> datetime | None:
    found = {name: int(n) for name, n in _STAMP.findall(said)}
    try:
        return datetime(found["yr"], found["mo"], found["dy"], tzinfo=UTC)
    except (KeyError, ValueError):
        return None
