"""Markdown: CommonMark with tables and front matter, made HTML whose elements know their source line."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from ragweave.corpora.blocks import Block, Figure, Parsed, first_heading
from ragweave.corpora.decode import read_text
from ragweave.corpora.formats.flow import LINE, flow
from ragweave.corpora.formats.html import tree
from ragweave.corpora.meta import first_date, front_matter, language_code

_DEEPEST = 60
"""Nesting of quotes and lists that is read; what lies deeper is taken as plain text."""
_KEPT = re.compile(r"<(?:br|img|/?(?:su[bp]|del|s|strike))(?![\w-])", re.I)
"""HTML inside a line that is kept; all other tags there are left out, and their text stays."""
_CELLS = re.compile(r"[^\S\n]*\|[^\n]*(?:\n[^\S\n]*\|[^\n]*)*")
"""Lines that all begin with a bar."""


def parse(path: Path) -> Parsed:
    """Read a Markdown file; the title is that of the front matter, else the first heading of level 1."""
    front, text, first = front_matter(read_text(path))
    found, figures, warnings = content(text, first)
    top = first_heading(found, level=1)
    author = front.get("author") or front.get("authors") or ""
    return Parsed(
        title=front.get("title") or top,
        blocks=found,
        date=first_date(front),
        author=author.strip("[]"),
        language=language_code(front.get("lang") or front.get("language")),
        warnings=warnings,
        figures=figures,
        url=front.get("url") or front.get("source") or "",
    )


def content(text: str, first: int = 0) -> tuple[tuple[Block, ...], tuple[Figure, ...], tuple[str, ...]]:
    """Return the blocks of Markdown text, its pictures, and warnings.

    Links and pictures count by their text; nothing they point at is opened here.
    """
    md, plain = _parsers()
    tokens = md.parse(text)
    warnings: tuple[str, ...] = ()
    deepest = max([token.level for token in tokens], default=0)
    if deepest >= _DEEPEST - 1:
        warnings = (f"quotes and lists nested deeper than {_DEEPEST // 2} levels were read as plain text",)
        tokens = plain.parse(text)
    for token in tokens:
        if token.map and token.nesting >= 0:
            _mark(token, first + token.map[0] + 1)
    root, _ = tree(
        f"<html><body>{md.renderer.render(tokens, md.options, {})}</body></html>", Path("Markdown")
    )
    found, figures = flow(root, lambda element: element.tag in ("script", "style"), made=True)
    return tuple(found), tuple(figures), warnings


@cache
def _parsers() -> tuple[Any, Any]:
    """Return two parsers, for Markdown and for paragraphs alone; making one takes as long as a short file."""
    md = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    return md, MarkdownIt("zero")


def _mark(token: Any, line: int) -> None:
    """Render a token with its line; lines of cells without a delimiter row become a table."""
    token.attrSet(LINE, str(line + (token.type == "fence")))
    if token.type == "html_block":
        token.content = f'<div {LINE}="{line}">{token.content}</div>'
    elif token.type == "inline":
        for child in token.children or []:
            if child.type == "html_inline" and not _KEPT.match(child.content):
                child.content = ""
        if token.level == 1 and _CELLS.fullmatch(token.content):
            rows = ""
            for n, row in enumerate(token.content.split("\n")):
                rows += _row(row, line + n)
            token.type = "html_block"
            token.content = f"<table>{rows}</table>"


def _row(row: str, line: int) -> str:
    cells = [f"<td>{escape(cell)}</td>" for cell in row.strip().strip("|").split("|")]
    return f'<tr {LINE}="{line}">{"".join(cells)}</tr>'
