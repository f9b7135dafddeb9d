"""Read RTF by striprtf, with marks for what it does not give: headings, lists, cells, notes, hidden text.

A first pass over the groups of a file removes hidden text and what is no text (pictures, objects, styles).
This also limits the work of striprtf, which takes a step for each character, to the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from ragweave.corpora.blocks import Block, Parsed, comment, first_heading
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
    """Read an RTF document: headers and footers, headings by outline level, numbered lists, tables and notes.

    Text boxes and comments follow the text; deleted text is left out.
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
    notes = ("\\pard\\par ", *parts["box"], "\\pard\\par ", *parts["note"])
    body = "".join((*parts["text"], *notes, end))
    blocks = [*_edges(plain("edge")), *_Body().read(_plain(body, path)), *_comments(plain("comment"))]
    warnings = not_read(groups.left)
    if groups.is_cut:
        warnings = ("the file is cut off, and was read as far as it goes", *warnings)
    return Parsed(
        title or first_heading(blocks, level=1),
        tuple(blocks),
        _date("".join(parts["creatim"])),
        author,
        warnings=warnings,
        hidden=(hidden,) if hidden else (),
    )


def _one_line(text: str) -> str:
    return " ".join(_MARKS.sub("", text).split())


def _edges(text: str) -> Iterator[Block]:
    """Yield the headers and footers as one block, each line once, without page numbers."""
    lines: list[str] = []
    for written in text.split("\n"):
        line = _one_line(written)
        if line and line not in lines and not PAGE_NUMBER.fullmatch(line):
            lines.append(line)
    if lines:
        yield Block("\n".join(lines), "text")


def _comments(text: str) -> Iterator[Block]:
    for author, written in _COMMENT.findall(text):
        remark = _one_line(written)
        if remark:
            yield Block(comment(remark, _one_line(author)), "text")


def _plain(source: str, path: Path) -> str:
    try:
        text = str(rtf_to_text(source, errors="replace"))  # type: ignore[no-untyped-call]
    except (ValueError, OverflowError, LookupError, TypeError) as exc:  # whatever odd numbers cause
        what = f"{path.name} is damaged RTF ({exc})"
        raise SourceError(what, "open it in a word processor and save it again") from exc
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Body:
    """Turns a text with marks into blocks."""

    def __init__(self) -> None:
        self._items: list[str] = []
        self._rows: list[TableRow] = []
        self._cells: list[str] = []
        self._texts: list[str] = []
        """The texts of the open paragraph or cell."""
        self._in_table = False

    def read(self, text: str) -> Iterator[Block]:
        """Yield the blocks of a text."""
        for piece, sign in (*_PIECE.findall(text), ("", "\n")):
            label, words = _labelled(piece)
            self._in_table = self._in_table or INSIDE in piece
            level = _level_of(piece)
            is_item = bool(label) and not self._in_table and not level
            if not is_item:
                words = f"{label.strip('-')} {words}".strip()
            if words or label.strip("-"):
                self._texts.append(words)
            if sign == CELL:
                self._end_cell()
            elif sign == ROW:
                self._end_row()
            elif not self._in_table and sign and self._texts:
                yield from self._end_paragraph(label if is_item else "", level)
        yield from self._end_list()
        yield from self._end_table()
        if self._texts or self._cells:
            yield Block(" ".join(filter(None, (*self._cells, *self._texts))), "text")

    def _end_cell(self) -> None:
        self._cells.append(" ".join(self._texts))
        self._texts = []

    def _end_row(self) -> None:
        if any(self._cells):
            self._rows.append(TableRow(self._cells))
        self._cells, self._texts = [], []
        self._in_table = False

    def _end_paragraph(self, label: str, level: int) -> Iterator[Block]:
        text = " ".join(self._texts)
        self._texts = []
        if label:
            yield from self._end_table()
            self._items.append(f"{label} {text}")
            return
        yield from self._end_list()
        yield from self._end_table()
        yield Block(text, "heading" if level else "text", level)

    def _end_list(self) -> Iterator[Block]:
        if self._items:
            yield Block("\n".join(self._items), "list")
            self._items = []

    def _end_table(self) -> Iterator[Block]:
        if self._rows:
            yield from MergedTable().blocks(self._rows, first_row)
            self._rows = []


def _level_of(piece: str) -> int:
    """Return the outline level of a paragraph with marks, 0 if it is no heading."""
    levels = re.findall(f"{HEADING}(\\d)", piece)
    return int(levels[-1]) if levels else 0


def _labelled(piece: str) -> tuple[str, str]:
    """Return the number of a paragraph, `-` for a bullet or "" for none, and its text."""
    match = _LABEL.search(piece)
    text = _one_line(_LABEL.sub(" ", piece, count=1))
    if match is None:
        return "", text
    label = _one_line(match[1])
    has_letters = any(map(str.isalpha, label))
    is_number = any(map(str.isdigit, label)) or (has_letters and label[-1] in ".)")
    return label if is_number or label in BOXES else "-", text


def _date(stamp: str) -> datetime | None:
    found = {name: int(number) for name, number in _STAMP.findall(stamp)}
    try:
        return datetime(found["yr"], found["mo"], found["dy"], tzinfo=UTC)
    except (KeyError, ValueError):
        return None
