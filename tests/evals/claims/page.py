"""What docs/papers.md shows of a claim."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "papers.md"


def block_of(paper: str) -> str:
    """Return the block of figures of a claim."""
    command = f"<!-- figures: python -m ragweave.app.cli bench {paper} --claim --short -->"
    (found,) = re.findall(
        re.escape(command) + r"\n+```\n(.*?)\n```$", PAGE.read_text(encoding="utf-8"), re.M | re.S
    )
    return str(found)


def without_line(text: str, left_out: tuple[str, ...]) -> list[str]:
    """Return the words of `left_out` that begin no line of a report."""
    lines = text.splitlines()
    return [words for words in left_out if not any(line.startswith(words) for line in lines)]
