"""Source code and settings files: text with line numbers, cut at blank lines before outermost lines."""

from __future__ import annotations

from pathlib import Path

from ragweave.corpora.blocks import Block, Lines, Parsed
from ragweave.corpora.decode import read_text

_LONGEST_LINE = 2_000
"""Longer lines are generated or packed; their start is kept."""


def parse(path: Path) -> Parsed:
    """Read source code; the title is the file's name."""
    found, shortened = blocks(read_text(path))
    warnings = (
        (f"{shortened} lines are longer than {_LONGEST_LINE} characters and were shortened",)
        if shortened
        else ()
    )
    return Parsed(path.name, found, warnings=warnings)


def blocks(text: str) -> tuple[tuple[Block, ...], int]:
    """Return blocks of code, and the number of lines that were shortened.

    A block ends at a blank line that a line without indentation follows: between functions, not inside them.
    """
    out: list[Block] = []
    lines = Lines()
    blank = False
    shortened = 0
    for number, line in enumerate(text.expandtabs(4).split("\n"), 1):
        line = line.rstrip()
        if not line:
            blank = True
            continue
        if blank and not line[0].isspace() and lines.count:
            out.append(lines.block("code"))
            lines = Lines()
        shortened += len(line) > _LONGEST_LINE
        lines.add(line[:_LONGEST_LINE], number)
        blank = False
    if lines.count:
        out.append(lines.block("code"))
    return tuple(out), shortened
