"""The flow of an HTML page: start and end of elements in, blocks out."""

from __future__ import annotations

from typing import Any

from ragweave.corpora.blocks import Block, Figure, Lines

_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr output q rp rt ruby s "
    "samp small span strike strong sub sup time tt u var wbr".split()
)
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_LISTS = ("ul", "ol", "dl", "menu")
_CELL_CHARACTERS = 400
"""Tables with longer cells on average are layout, not data."""


class Flow:
    """Collects the text of elements in reading order.

    Text of one block gathers in `_parts` until a block element begins or ends; it then becomes a paragraph, a heading,
    a line of the open list or a cell of the open table.
    """

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._parts: list[tuple[int, str, bool]] = []
        self._line = 0
        self._heading = 0
        self._pre = 0
        self._list = Lines()
        self._depth = 0
        self._mark = ""
        self._counters: list[int] = []
        self._table: Lines | None = None
        self._cells: list[str] = []
        self._cell = Lines()
        self._header_rows = 0
        self._all_header = True
        self._row_line = 0
        self.figures: list[Figure] = []

    def start(self, element: Any) -> None:
        """Open an element and take the text right after its tag."""
        tag = element.tag
        self._line = element.sourceline or self._line
        if tag == "br":
            self._break()
        elif tag == "img" and not self._pre:
            self._text(f" {element.get('alt') or ''} ")
            self._picture(element)
        elif tag not in _INLINE:
            self._flush()
            self._open(element)
        self._text(element.text or "")

    def end(self, element: Any) -> None:
        """Close an element."""
        tag = element.tag
        if tag in _INLINE or tag == "br":
            return
        self._flush()
        if tag in _HEADINGS:
            self._heading = 0
        elif tag == "pre":
            self._pre = max(0, self._pre - 1)
        elif tag in _LISTS:
            self._depth = max(0, self._depth - 1)
            if tag == "ol" and self._counters:
                self._counters.pop()
            if not self._depth:
                self._close_list()
        elif self._table is not None:
            self._end_in_table(tag, self._table)

    def tail(self, element: Any) -> None:
        """Take the text right after an element."""
        self._text(element.tail or "")

    def finish(self) -> list[Block]:
        """Return the blocks."""
        self._flush()
        self._close_list()
        return self._blocks

    def _picture(self, element: Any) -> None:
        src = (element.get("src") or "").strip()
        if not src:
            return
        around = next((e for e in element.iterancestors() if e.tag == "figure"), None)
        found = around.find(".//figcaption") if around is not None else None
        caption = " ".join(" ".join(found.itertext()).split()) if found is not None else ""
        alt, title = (" ".join((element.get(name) or "").split()) for name in ("alt", "title"))
        self.figures.append(Figure(src, len(self._blocks), caption or title, alt, line=self._line))

    def _open(self, element: Any) -> None:
        tag = element.tag
        if tag in _HEADINGS:
            self._close_list()
            self._heading = _HEADINGS[tag]
        elif tag == "pre":
            self._pre += 1
        elif tag in _LISTS:
            self._depth += 1
            if tag == "ol":
                self._counters.append(0)
        elif tag == "li" and self._depth:
            self._mark = "- "
            if self._counters and element.getparent().tag == "ol":
                self._counters[-1] += 1
                self._mark = f"{self._counters[-1]}. "
        elif tag == "dt" and self._depth:
            self._mark = "- "
        elif tag == "table" and self._table is None and _is_data(element):
            self._close_list()
            self._table, self._header_rows = Lines(), 0
        elif tag == "tr":
            self._cells, self._all_header, self._row_line = [], True, self._line
        elif tag == "td":
            self._all_header = False

    def _text(self, text: str) -> None:
        if not text:
            return
        for n, part in enumerate(text.split("\n")):
            if n:
                self._line += 1
                if self._pre:
                    self._break()
            if self._parts and (n == 0 or self._pre) and not self._parts[-1][2]:
                line, before, _ = self._parts[-1]
                self._parts[-1] = (line if before.strip() else self._line, before + part, False)
            else:
                self._parts.append((self._line, part, False))

    def _break(self) -> None:
        """End the line here, as <br> does."""
        if self._parts:
            line, before, _ = self._parts[-1]
            self._parts[-1] = (line, before, True)
        self._parts.append((self._line, "", False))

    def _flush(self) -> None:
        """Turn the gathered text into what is open: heading, code, cell, list line or paragraph."""
        lines = Lines()
        for line, text, hard in self._parts:
            lines.add(text.rstrip() if self._pre else " ".join(text.split()), line, wrapped=not hard and not self._pre)
        self._parts = []
        if not lines.text.strip():
            return
        if self._heading:
            title = lines.text.replace("\n", " ").strip("¶§# ")
            self._blocks.append(Block(title, "heading", self._heading, lines.block("text").line))
        elif self._table is not None:
            self._cell.extend(lines)
        elif self._depth:
            indent = "  " * (self._depth - 1)
            self._list.extend(lines, indent + (self._mark or "  "), indent + "  ")
            self._mark = ""
        else:
            self._blocks.append(lines.block("code" if self._pre else "text"))

    def _close_list(self) -> None:
        if self._list.text:
            self._blocks.append(self._list.block("list"))
            self._list = Lines()

    def _end_in_table(self, tag: str, table: Lines) -> None:
        if tag in ("td", "th"):
            self._cells.append(self._cell.text.replace("\n", " ").strip())
            self._cell = Lines()
        elif tag == "tr" and any(self._cells):
            if self._all_header and self._header_rows == table.count:
                self._header_rows += 1
            table.add(" | ".join(self._cells), self._row_line)
            self._cells = []
        elif tag == "caption" and self._cell.text:
            self._blocks.append(self._cell.block("text"))
            self._cell = Lines()
        elif tag == "table":
            if table.text:
                self._blocks.append(table.block("table", self._header_rows))
            self._table = None


def _is_data(table: Any) -> bool:
    """Tell a table of data from one that lays out a page."""
    if any(next(table.iter(tag), table) is not table for tag in ("h1", "h2", "h3", "h4", "pre", "ul", "ol")):
        return False
    inner = table.iter("table")
    next(inner)
    if next(inner, None) is not None:
        return False
    cells = [c for tag in ("td", "th") for c in table.iter(tag)]
    rows = sum(1 for _ in table.iter("tr"))
    length = sum(len(t.strip()) for t in table.itertext())
    return len(cells) > rows >= 1 and length <= _CELL_CHARACTERS * len(cells)
