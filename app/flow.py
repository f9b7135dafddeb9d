"""Running text on a terminal: sentences and quotes, wrapped as they arrive."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ragweave.app.citations import INDENT, print_source
from ragweave.app.places import clean
from ragweave.components.phrases import SIGNS, counted_marks, mark
from ragweave.models.text import UNSPACED_LETTER

if TYPE_CHECKING:
    from ragweave.components.evidence import Citation, Support

_PIECE = re.compile(r"\s+|\S+")
_WIDEST = 100
"""Columns beyond which running text is hard to read."""
_MARK_STYLES = {
    "verified": "green",
    "computed": "green",
    "follows": "green",
    "contradicted": "red",
    "disputed": "red",
}
"""Styles of marks; every other mark is yellow."""
_TEXT_STYLES = {"model": "italic", "contradicted": "strike"}
"""Styles of sentences; every other sentence is plain."""
_UNSPACED_ENDS = "。！？」”"
"""Characters that end a sentence of a script without spaces."""

Marks = Sequence[Sequence[int]]
"""[start, end) of each stretch of a text that matches a question."""


class Flow:
    """Writes sentences as they arrive, wrapped at word ends to the width of the terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._width = min(console.width, _WIDEST)
        self._indent = 0
        self._column = 0
        self._last = ""
        """The last character of the last sentence of this paragraph."""
        self._sign = ""
        """What opened the last sentence: see `sentence`."""
        self._quoted = False

    def sentence(
        self,
        text: str,
        numbers: Sequence[int],
        support: Support,
        sign: str = "",
        says: str = "",
        against: Sequence[int] = (),
    ) -> None:
        """Write one sentence with its citation numbers and its mark.

        Args:
            text: the sentence.
            numbers: its citation numbers.
            support: its label.
            sign: what opens it: "|" for a table row, "-" or "1." for a list item, "```" for code, two line
                breaks for a paragraph. Rows, items and code start on a line of their own.
            says: the words of the source that contradict it.
            against: the citation numbers of the sources that contradict it.
        """
        is_code = sign.startswith("```")
        self._open(sign)
        if is_code:
            self._code(text)
        else:
            self._words(text, _TEXT_STYLES.get(support, ""))
        for n in numbers:
            gap = " " if n == numbers[0] and not is_code else ""
            self._write(f"{gap}[{n}]", "cyan")
        label = mark(support, clean(says), against)
        if label:
            self._write(f" {label}", _MARK_STYLES.get(support, "yellow"))
        if sign == "|":
            self._write(" |", "")
        if numbers or support == "model":
            self._last = "]"
        else:
            self._last = "" if is_code else text.rstrip()[-1:]

    def mark(
        self, text: str, numbers: Sequence[int], support: Support, says: str = "", against: Sequence[int] = ()
    ) -> None:
        """Write the mark of an earlier sentence below the sentences.

        A mark that is only a sign is not written: `tally` counts those.
        """
        label = mark(support, clean(says), against)
        if not label or support in SIGNS:
            return
        self.end()
        cited = ""
        for n in numbers:
            if support != "contradicted" or n in against:
                cited += f"[{n}]"
        parts = (f"“{clean(text)}”", cited, label)
        self._write(" ".join(filter(None, parts)), _MARK_STYLES.get(support, "yellow"))
        self.end()

    def tally(self, supports: Sequence[Support]) -> None:
        """Write below the sentences how many of them have each mark."""
        counts = counted_marks(supports)
        if not counts:
            return
        has_sign = not SIGNS.keys().isdisjoint(supports)
        self.end()
        self._write(f"✓ {counts}" if has_sign else counts, "dim")
        self.end()

    def quote(self, text: str, marked: Marks, citation: Citation) -> None:
        """Write a quote below the title, place and id of its source."""
        self.end()
        if self._quoted:
            self._console.print()
        self._quoted = True
        print_source(self._console, citation)
        self.lines(text, marked)

    def lines(self, text: str, marked: Marks) -> None:
        """Write the lines of a source, indented and wrapped, with the marked stretches in bold."""
        self.end()
        self._indent = INDENT
        gap = ""
        for found in _PIECE.finditer(text):
            if not found[0].isspace():
                self._word(list(_styled(text, *found.span(), marked)), gap)
                gap = ""
            elif "\n" in found[0]:
                self._newline()
                gap = ""
            else:
                gap = " "
        self.end()
        self._indent = 0

    def end(self) -> None:
        """Finish the paragraph."""
        self._newline()
        self._last = ""

    def _open(self, sign: str) -> None:
        """Start a new line or paragraph if the sign of a sentence requires it; write the sign of an item."""
        is_inside_line = bool(self._column)
        if sign or self._sign.strip():
            self.end()
        if is_inside_line and sign == "\n\n":
            self._console.print()
        self._sign = sign
        if sign.strip() and not sign.startswith("```"):
            self._put(f"{clean(sign)} ", "")

    def _code(self, text: str) -> None:
        for line in text.splitlines():
            self._console.print(Text("    " + clean(line.expandtabs(4))), soft_wrap=True)

    def _words(self, text: str, style: str) -> None:
        words = clean(text).split()
        self._separate(words)
        for i, word in enumerate(words):
            self._write(f" {word}" if i else word, style)

    def _separate(self, words: Sequence[str]) -> None:
        """Write the space between two sentences; scripts without spaces have none."""
        is_unspaced = bool(words) and bool(UNSPACED_LETTER.match(words[0])) and self._last in _UNSPACED_ENDS
        if self._last and not is_unspaced:
            self._write(" ", "")

    def _word(self, parts: Sequence[tuple[str, str]], gap: str) -> None:
        """Write a word of several styles after a gap, unbroken unless its script allows a break."""
        word = ""
        for text, _ in parts:
            word += text
        is_narrow = cell_len(word) == len(word)
        if is_narrow and max(self._column, self._indent) + len(gap + word) > self._width:
            self._newline()
        if not self._column:
            gap = ""
        for text, style in parts:
            if text:
                self._write(gap + text, style)
                gap = ""

    def _write(self, piece: str, style: str) -> None:
        """Write a piece of text, on a new line if it does not fit on this one."""
        if max(self._column, self._indent) + cell_len(piece) <= self._width:
            self._put(piece, style)
        elif cell_len(piece) > len(piece):
            # Scripts with wide letters may be broken between any two of them.
            for letter in piece:
                if self._column + cell_len(letter) > self._width:
                    self._newline()
                self._put(letter, style)
        elif piece.strip():
            self._newline()
            self._put(piece.lstrip(), style)

    def _newline(self) -> None:
        if self._column:
            self._console.print()
            self._column = 0

    def _put(self, piece: str, style: str) -> None:
        """Write a piece of text on this line; a line never begins with a space."""
        if not piece or (self._column == 0 and piece.isspace()):
            return
        if self._column == 0 and self._indent:
            self._console.print(" " * self._indent, end="", soft_wrap=True)
            self._column = self._indent
        self._console.print(Text(piece, style=style), end="", soft_wrap=True)
        self._column += cell_len(piece)


def _styled(text: str, start: int, end: int, marked: Marks) -> Iterator[tuple[str, str]]:
    """Yield the parts of text[start:end] with their styles: bold if they are marked."""
    at = start
    for low, high in marked:
        if low < end and at < high:
            yield clean(text[at : max(low, at)]), ""
            yield clean(text[max(low, at) : min(high, end)]), "bold"
            at = min(high, end)
    yield clean(text[at:end]), ""
