"""Check boxes and radio buttons of a PDF: the sign of each is put into the line that it is set in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragweave.corpora.columns import Cell
from ragweave.corpora.grid import PageLine
from ragweave.corpora.types import Box

ON, OFF = "☒", "☐"
_FAR = 4.0
"""A button belongs to a line if it is at most so many font sizes away."""
_ABOVE = 0.3
"""Share of its own height by which the middle of a button may lie above or below a line."""


@dataclass(frozen=True, slots=True)
class Button:
    """A button of a form: whether it is on, its name, its label, and its box on the page."""

    on: bool
    name: str
    value: str
    box: Box

    @property
    def sign(self) -> str:
        """Return the sign of its state."""
        return ON if self.on else OFF

    @property
    def said(self) -> str:
        """Return the text of a button that is near no line."""
        text = f"{self.sign} {self.value}".strip()
        return f"{self.name.rstrip(':')}: {text}" if self.name else text


@dataclass(frozen=True, slots=True)
class SetLine:
    """A line with the right ends of its characters but white space, in points."""

    line: PageLine
    ends: tuple[float, ...]


def with_buttons(lines: Sequence[SetLine], buttons: Sequence[Button]) -> tuple[list[PageLine], list[Button]]:
    """Return lines with the signs of the buttons in them, and the buttons that no line is near."""
    by_line: dict[int, list[Button]] = {}
    apart = []
    for button in buttons:
        near = _nearest(lines, button.box)
        if near is None:
            apart.append(button)
        else:
            by_line.setdefault(near, []).append(button)
    out = []
    for n, each in enumerate(lines):
        line = each.line
        for button in sorted(by_line.get(n, ()), key=lambda b: -b.box[0]):
            line = _signed(line, each.ends, button)
        out.append(line)
    return out, apart


def _nearest(lines: Sequence[SetLine], box: Box) -> int | None:
    """Return the line of the height of a box that is nearest to it, of two as near the one on its right."""
    middle, slack = (box[1] + box[3]) / 2, _ABOVE * (box[3] - box[1])
    found = []
    for n, each in enumerate(lines):
        left, bottom, right, top = each.line.bbox
        apart = max(left - box[2], box[0] - right, 0.0)
        if bottom - slack <= middle <= top + slack and apart <= _FAR * each.line.size:
            found.append((apart, box[0] > right, n))
    return min(found)[2] if found else None


def _signed(line: PageLine, ends: Sequence[float], button: Button) -> PageLine:
    """Return a line with the sign of a button before the first character behind the button's middle."""
    middle = (button.box[0] + button.box[2]) / 2
    before = sum(end <= middle for end in ends)
    return replace(line, text=_put(line.text, before, button.sign), cells=_in_cells(line.cells, ends, button))


def _in_cells(cells: tuple[Cell, ...], ends: Sequence[float], button: Button) -> tuple[Cell, ...]:
    """Return the cells of a line with the sign of a button in the one that is nearest to it."""
    if not cells:
        return ()
    left, _, right, _ = button.box
    middle = (left + right) / 2
    _, _, at = min((max(c.left - right, left - c.right, 0.0), left > c.right, n) for n, c in enumerate(cells))
    cell = cells[at]
    before = sum(cell.left < end <= min(middle, cell.right + 0.1) for end in ends)
    text = _put(cell.text, before, button.sign)
    signed = Cell(min(cell.left, left), max(cell.right, right), text)
    return (*cells[:at], signed, *cells[at + 1 :])


def _put(text: str, before: int, sign: str) -> str:
    """Put a sign behind so many characters but white space, never into a word that it would part."""
    seen = at = 0
    while at < len(text) and seen < before:
        seen += not text[at].isspace()
        at += 1
    if 0 < at < len(text) and not text[at - 1].isspace() and not text[at].isspace():
        start, end = text.rfind(" ", 0, at) + 1, text.find(" ", at) % (len(text) + 1)
        at = start if at - start < end - at else end
    return " ".join(f"{text[:at]} {sign} {text[at:]}".split())
