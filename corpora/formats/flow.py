"""Elements of HTML in, blocks out: what HTML pages, e-books, Markdown and reStructuredText are read through.

Trafilatura finds the content of a page too, but gives neither its lines nor the pages that are only links or
a table, and docutils' own writer drops the lines of reStructuredText: so the elements are read here, each
with its line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from lxml import etree

from ragweave.corpora.blocks import Block, Figure, Lines
from ragweave.corpora.formats import elements
from ragweave.corpora.formats.elements import caption, is_data, value
from ragweave.corpora.formats.looks import Weights, ends_page, headed, running
from ragweave.corpora.formats.merged import Cell, MergedTable, TableRow, spanned
from ragweave.corpora.formats.spaced import closed_up, head_rows, signed
from ragweave.corpora.formats.superscript import around

LINE = "data-line"
"""Attribute with the line of an element that was made from another format."""
MARK = "data-mark"
"""Attribute with the mark of a list item that was made from another format."""


def flow(
    start: Any, is_out: Callable[[Any], bool], *, made: bool = False
) -> tuple[list[Block], list[Figure]]:
    """Return the blocks and pictures of an element in reading order.

    Elements for which `is_out` is true are left out with all they hold. If the elements were `made` from
    another format, lines are those of LINE, and every table is data.
    """
    found = _Flow(made)
    walker = etree.iterwalk(start, events=("start", "end"))
    skipped = None
    for event, element in walker:
        if skipped is not None:
            if event == "end" and element is skipped:
                found.text(element.tail or "")
                skipped = None
        elif event == "end":
            found.end(element)
            if element is not start:
                found.text(element.tail or "")
        elif element is not start and (not isinstance(element.tag, str) or is_out(element)):
            walker.skip_subtree()
            skipped = element
        else:
            found.start(element)
    return found.finish()


@dataclass(slots=True)
class _Part:
    """The text of an open line: its pieces, the line of its first word, and whether it ends in a break."""

    line: int
    texts: list[str] = field(default_factory=list)
    hard: bool = False

    def has_words(self) -> bool:
        return bool("".join(self.texts).strip())


class _Flow:
    """Collects the text of elements.

    Text of one block gathers in `_parts` until a block element begins or ends; it then becomes a paragraph, a
    heading, a line of the open list or a cell of the open table.
    """

    def __init__(self, made: bool) -> None:
        self._made = made
        self._blocks: list[Block] = []
        self._parts: list[_Part] = []
        self._line = 0
        self._heading = 0
        self._pre = 0
        self._list = Lines()
        self._depth = 0
        self._mark = ""
        self._term: Lines | None = None
        """A term whose meaning is still to come."""
        self._in_term = False
        self._counters: list[int] = []
        self._table: list[TableRow] | None = None
        self._merged = MergedTable()
        self._cells: list[Cell] = []
        self._cell = Lines()
        self._all_header = True
        self._row_line = 0
        self._raised: list[str] = []
        """What goes behind each open element that is raised or lowered."""
        self._struck: list[tuple[int, int]] = []
        """Where in `_parts` each open element that is struck out began: parts, and texts of the last."""
        self._withdrawn: list[_Part] = []
        self._figures: list[Figure] = []
        self._pages: list[int] = []
        """Numbers of blocks before each end of a printed page."""
        self._weights, self._bold = Weights(), set[int]()
        """Which text is bold, and the numbers of the blocks that are bold throughout."""

    def start(self, element: Any) -> None:
        """Open an element and take the text right after its tag."""
        tag = element.tag
        self._weights.start(element)
        self._line = int((element.get(LINE) if self._made else element.sourceline) or self._line)
        if tag == "br":
            self._break()
        elif tag not in elements.INLINE:
            self._flush()
            if ends_page(element, "before"):
                self._pages.append(len(self._blocks))
            self._open(element)
        elif tag == "img" and not self._pre:
            alt = element.get("alt") or ""
            self.text(alt.strip() if self._made else f" {alt} ")
            self._picture(element)
        elif tag in ("sup", "sub"):
            self._raise(element)
        elif tag in elements.STRUCK:
            self._struck.append((len(self._parts), len(self._parts[-1].texts) if self._parts else 0))
        self.text(element.text or "")

    def end(self, element: Any) -> None:
        """Close an element."""
        tag = element.tag
        self._weights.end()
        if tag in ("sup", "sub") and self._raised:
            self.text(self._raised.pop())
        if tag in elements.STRUCK and self._struck:
            place = self._struck.pop()
            if not self._struck:  # struck text inside struck text goes with it
                self._withdraw(*place)
        if tag in elements.INLINE or tag == "br":
            return
        self._flush()
        if ends_page(element, "after"):
            self._pages.append(len(self._blocks))
        self._close(element)

    def _close(self, element: Any) -> None:
        """End the heading, list or table that a block element opened."""
        tag = element.tag
        if tag in elements.HEADINGS:
            self._heading = 0
        elif tag == "pre":
            self._pre = max(0, self._pre - 1)
        elif tag == "dt":
            self._in_term = False
        elif tag in elements.LISTS:
            self._put_term()
            self._depth = max(0, self._depth - 1)
            if tag == "ol" and self._counters:
                self._counters.pop()
            if not self._depth:
                self._close_list()
        elif self._table is not None:
            self._end_in_table(element, self._table)

    def text(self, text: str) -> None:
        """Take text, counting its lines."""
        if not text:
            return
        self._weights.text(text)
        for n, part in enumerate(text.split("\n")):
            if n:
                self._line += 1
                if self._pre:
                    self._break()
            if not self._parts or (n and not self._pre) or self._parts[-1].hard:
                self._parts.append(_Part(self._line))
            elif not self._parts[-1].texts:
                self._parts[-1].line = self._line
            if part.strip() or self._pre or self._parts[-1].texts:
                self._parts[-1].texts.append(part)

    def finish(self) -> tuple[list[Block], list[Figure]]:
        """Return the blocks without running lines, and the pictures."""
        self._flush()
        self._close_list()
        gone = running(self._blocks, self._pages)
        blocks = self._blocks if self._made else headed(self._blocks, self._bold)
        kept: list[Block] = []
        moved: list[int] = []
        for n, block in enumerate(blocks):
            moved.append(len(kept))
            if n not in gone:
                kept.append(block)
        moved.append(len(kept))
        return kept, [replace(figure, at=moved[figure.at]) for figure in self._figures]

    def _open(self, element: Any) -> None:
        """Begin what a block element opens: a heading, code, a list or its item, a table or its row."""
        tag = element.tag
        if tag in elements.HEADINGS:
            self._close_list()
            self._heading = elements.HEADINGS[tag]
        elif tag == "pre":
            self._pre += 1
        elif tag in elements.LISTS:
            self._open_list(element)
        elif tag == "li" and self._depth:
            self._mark = self._item_mark(element)
        elif tag == "dt" and self._depth:
            self._put_term()
            self._mark, self._in_term = "- ", True
        elif tag == "table":
            self._open_table(element)
        elif tag == "tr":
            self._cells, self._all_header, self._row_line = [], True, self._line
        elif tag == "td":
            self._all_header = False

    def _open_list(self, element: Any) -> None:
        self._put_term()
        self._depth += 1
        if element.tag == "ol":
            start = element.get("start") or ""
            self._counters.append(int(start) - 1 if start.isdecimal() else 0)

    def _item_mark(self, element: Any) -> str:
        if self._made and element.get(MARK):
            return f"{element.get(MARK)} "
        if self._counters and element.getparent().tag == "ol":
            self._counters[-1] += 1
            return f"{self._counters[-1]}. "
        return "- "

    def _open_table(self, element: Any) -> None:
        """Begin a table of data; a table inside another one is part of its cell."""
        if self._table is None and (self._made or is_data(element)):
            self._close_list()
            self._table = []
            self._merged.begin()

    def _raise(self, element: Any) -> None:
        """Part what is raised from the number or word before it."""
        before = "".join(self._parts[-1].texts[-40:]) if self._parts and not self._parts[-1].hard else ""
        link = element.getparent().tag == "a" or element.find(".//a") is not None
        lead, behind = around(before, "".join(element.itertext()), below=element.tag == "sub", link=link)
        self.text(lead)
        self._raised.append(behind)

    def _withdraw(self, count: int, length: int) -> None:
        """Remove struck-out words; they count only if their block has no others."""
        if count:
            last = self._parts[count - 1]
            self._withdrawn.append(_Part(last.line, last.texts[length:], last.hard))
            del last.texts[length:]
            last.hard = False
        self._withdrawn += self._parts[count:]
        del self._parts[count:]

    def _picture(self, element: Any) -> None:
        src = (element.get("src") or "").strip()
        if not src:
            return
        title = caption(element) or value(element, "title")
        alt = value(element, "alt")
        self._figures.append(Figure(src, len(self._blocks), title, alt, line=self._line))

    def _break(self) -> None:
        """End the line here, as <br> does."""
        if self._parts:
            self._parts[-1].hard = True
        self._parts.append(_Part(self._line))

    def _gathered(self) -> Lines:
        """Return the gathered text and empty it; struck-out words count if there are no others."""
        if self._withdrawn and not any(map(_Part.has_words, self._parts)):
            self._parts = self._withdrawn
        self._withdrawn, self._struck = [], [(0, 0)] * len(self._struck)
        lines = Lines()
        for part in self._parts:
            text = "".join(part.texts)
            plain = text.rstrip() if self._pre else " ".join(text.split())
            if plain or part.hard:
                lines.add(plain, part.line, wrapped=not part.hard and not self._pre)
        self._parts = []
        return lines

    def _flush(self) -> None:
        """Turn the gathered text into what is open: heading, code, cell, list line or paragraph."""
        lines = self._gathered()
        is_bold = self._weights.all_bold()
        if not lines.text.strip():
            return
        if self._heading:
            title = lines.text.replace("\n", " ").strip("¶§# ")
            self._blocks.append(Block(title, "heading", self._heading, lines.block("text").line))
        elif self._table is not None:
            self._cell.extend(lines)
        elif self._in_term:
            self._term = lines
        elif self._depth:
            self._item(lines)
        else:
            if is_bold:
                self._bold.add(len(self._blocks))
            self._blocks.append(lines.block("code" if self._pre else "text"))

    def _item(self, lines: Lines) -> None:
        """Add a line to the open list; a meaning follows its term."""
        indent = "  " * (self._depth - 1)
        term = self._term.text.replace("\n", " ").rstrip(": ") + ": " if self._term is not None else ""
        self._list.extend(lines, indent + (self._mark or "  ") + term, indent + "  ")
        self._mark, self._term = "", None

    def _put_term(self) -> None:
        """Add a term that has no meaning."""
        term, self._term = self._term, None
        if term is not None:
            self._item(term)

    def _close_list(self) -> None:
        if self._list.text:
            self._blocks.append(self._list.block("list"))
            self._list = Lines()

    def _end_in_table(self, element: Any, table: list[TableRow]) -> None:
        tag = element.tag
        if tag in ("td", "th"):
            text = self._cell.text.replace("\n", " ").strip()
            down, across = spanned(value(element, "rowspan")), spanned(value(element, "colspan"))
            self._cells.append((text, down, across))
            self._cell = Lines()
        elif tag == "tr":
            cells = self._merged.row(signed(self._cells), heads=self._all_header)
            if any(text for text, _, _ in self._cells):
                table.append(TableRow(cells, self._row_line, self._all_header))
            self._cells = []
        elif tag in elements.GROUPS:
            self._merged.close()
        elif tag == "caption" and self._cell.text:
            self._blocks.append(self._cell.block("text"))
            self._cell = Lines()
        elif tag == "table":
            count = head_rows(table)
            if count:
                table = closed_up(table, count)
            self._blocks += self._merged.blocks(table, head_rows)
            self._table = None
