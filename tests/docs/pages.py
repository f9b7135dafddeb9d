"""The pages of the documentation, and the code and commands in their fenced blocks."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.M | re.S)
_VARIABLE = re.compile(r"[A-Z_]+=")


class Command(NamedTuple):
    """A command line of a page: the program's words, and the variables that are set before it."""

    page: str
    variables: tuple[str, ...]
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: {shlex.join(self.words)}"


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of a language; the empty one has the blocks that name none."""
    fences = _FENCE.findall(page.read_text(encoding="utf-8"))
    return [re.sub(f"^{indent}", "", body, flags=re.M) for indent, name, body in fences if name == language]


def commands(program: str) -> list[Command]:
    """Return every line of the fenced blocks that starts a program, its comment left out."""
    return [
        Command(page.name, tuple(words[:at]), tuple(words[at + 1 :]))
        for page in PAGES
        for block in blocks(page, "")
        for line in re.sub(r"\\\n\s*", "", block).splitlines()
        for words in [_words(line)]
        for at in [next((n for n, word in enumerate(words) if not _VARIABLE.match(word)), len(words))]
        if words[at : at + 1] == [program]
    ]


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line.removeprefix("$ "), comments=True)
    except ValueError:  # no command: output with an apostrophe
        return []
