"""Markdown: CommonMark with tables, front matter, and the source line of every line of text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragweave.corpora.blocks import Block, Figure, Lines, Parsed
from ragweave.corpora.decode import read_text
from ragweave.corpora.meta import iso_date, language_code

if TYPE_CHECKING:
    from markdown_it.token import Token

_DEEPEST = 60
"""Nesting of quotes and lists that is read; what lies deeper is taken as plain text."""
_FRONT_LINES = 200
_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
_SCALAR = re.compile(r"([A-Za-z][\w-]*)[ \t]*:[ \t]*(.*)")
_TAG = re.compile(r"<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*>", re.S)


def parse(path: Path) -> Parsed:
    """Read a Markdown file; the title is that of the front matter, else the first heading of level 1."""
    front, text, first = front_matter(read_text(path))
    found, figures, warnings = content(text, first)
    top = next((b.text for b in found if b.kind == "heading" and b.level == 1), "")
    author = front.get("author") or front.get("authors") or ""
    return Parsed(
        title=front.get("title") or top,
        blocks=found,
        date=iso_date(front.get("date")),
        author=author.strip("[]"),
        language=language_code(front.get("lang") or front.get("language")),
        warnings=warnings,
        figures=figures,
    )


def front_matter(text: str) -> tuple[dict[str, str], str, int]:
    """Split off the front matter (YAML between `---`, TOML between `+++`).

    Only single-line values are read from YAML.

    Returns:
        the values by lower-cased name, the text after it, and the number of lines taken off.
    """
    lines = text.split("\n", _FRONT_LINES)
    mark = lines[0].rstrip()
    if mark not in _FENCES:
        return {}, text, 0
    end = next((n for n, line in enumerate(lines[1:_FRONT_LINES], 1) if line.rstrip() in _FENCES[mark]), 0)
    if not end or (mark == "---" and not _SCALAR.match(lines[1])):
        return {}, text, 0
    rest = "\n".join(lines[end + 1 :])
    if mark == "---":
        pairs = [m.groups() for line in lines[1:end] if (m := _SCALAR.match(line))]
        return {k.lower(): v.strip().strip("\"'") for k, v in pairs}, rest, end + 1
    try:
        values = tomllib.loads("\n".join(lines[1:end]))
    except (tomllib.TOMLDecodeError, RecursionError):
        values = {}
    return {k.lower(): str(v) for k, v in values.items() if not isinstance(v, dict | list)}, rest, end + 1


def blocks(text: str, first: int = 0) -> tuple[tuple[Block, ...], tuple[str, ...]]:
    """Return the blocks of Markdown text and warnings; arguments as for `content`."""
    found, _, warnings = content(text, first)
    return found, warnings


def content(text: str, first: int = 0) -> tuple[tuple[Block, ...], tuple[Figure, ...], tuple[str, ...]]:
    """Return the blocks of Markdown text, its pictures, and warnings.

    Links and pictures count by their text; nothing they point at is opened here.

    Args:
        text: Markdown without front matter.
        first: lines of the file before it.
    """
    from markdown_it import MarkdownIt

    md = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    tokens = md.parse(text)
    warnings: tuple[str, ...] = ()
    if any(t.level >= _DEEPEST - 1 for t in tokens):
        warnings = (f"quotes and lists nested deeper than {_DEEPEST // 2} levels were read as plain text",)
        tokens = MarkdownIt("zero").parse(text)
    found: list[Block] = []
    figures: list[Figure] = []
    for one in _walk(tokens, first):
        if isinstance(one, Figure):
            figures.append(replace(one, at=len(found)))
        elif one.text.strip():
            found.append(one)
    return tuple(found), tuple(figures), warnings


def _walk(tokens: Sequence[Token], first: int) -> Iterator[Block | Figure]:
    """Turn top-level tokens into blocks, each after its pictures; a list or a table is one block."""
    n = 0
    while n < len(tokens):
        token = tokens[n]
        line = first + (token.map[0] if token.map else 0) + 1
        if token.type in ("bullet_list_open", "ordered_list_open", "table_open"):
            end = _closing(tokens, n)
            inner = tokens[n + 1 : end]
            for within in inner:
                yield from _figures(within, line)
            yield _table(inner, first) if token.type == "table_open" else _list(inner, first)
            n = end
        elif token.type == "heading_open":
            yield Block(_inline(tokens[n + 1], 0).text.replace("\n", " "), "heading", int(token.tag[1]), line)
            n += 1
        elif token.type == "inline" and all(row.lstrip().startswith("|") for row in token.content.split("\n")):
            yield _bare_rows(token, line)
        elif token.type == "inline":
            yield from _figures(token, line)
            yield _inline(token, line).block("text")
        elif token.type in ("fence", "code_block"):
            yield _code(token, line).block("code")
        elif token.type == "html_block":
            yield _stripped(token.content, line).block("text")
        n += 1


def _figures(token: Token, line: int) -> Iterator[Figure]:
    """Yield the pictures of a paragraph; emphasised text that alone follows a picture there is its caption."""
    children = [c for c in token.children or [] if c.type != "softbreak" and (c.type != "text" or c.content.strip())]
    pictures = [n for n, c in enumerate(children) if c.type == "image"]
    for n in pictures:
        alt, title = children[n].content.strip(), str(children[n].attrs.get("title") or "").strip()
        rest = children[n + 1 :]
        alone = n == 0 and len(pictures) == 1 and len(rest) > 2 and rest[0].type == "em_open"
        emphasised = alone and [c.type for c in rest].count("em_open") == 1 and rest[-1].type == "em_close"
        caption = "".join(c.content for c in rest) if emphasised else ""
        yield Figure(str(children[n].attrs.get("src") or ""), 0, caption or title, alt, line=line)


def _closing(tokens: Sequence[Token], start: int) -> int:
    """Return the index of the token that closes tokens[start]."""
    depth = 0
    for n in range(start, len(tokens)):
        depth += tokens[n].nesting
        if depth == 0:
            return n
    return len(tokens) - 1


def _list(tokens: Sequence[Token], first: int) -> Block:
    """One line per item, `- ` or `3. ` before it, two spaces for every level."""
    lines = Lines()
    level = 0
    mark = ""
    for token in tokens:
        line = first + (token.map[0] if token.map else 0) + 1
        if token.type in ("bullet_list_open", "ordered_list_open"):
            level += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            level -= 1
        elif token.type == "list_item_open":
            mark = f"{token.info}{token.markup} " if token.info else "- "
        elif token.type in ("inline", "fence", "code_block", "html_block"):
            if token.type == "inline":
                part = _inline(token, line)
            else:
                part = _stripped(token.content, line) if token.type == "html_block" else _code(token, line)
            lines.extend(part, "  " * level + mark, "  " * (level + bool(mark)))
            mark = ""
    return lines.block("list")


def _table(tokens: Sequence[Token], first: int) -> Block:
    """One line per row, ` | ` between cells; the first line is the header."""
    lines = Lines()
    cells: list[str] = []
    line = 0
    for token in tokens:
        if token.type == "tr_open":
            cells, line = [], first + (token.map[0] if token.map else 0) + 1
        elif token.type == "inline":
            cells.append(_inline(token, 0).text.replace("\n", " "))
        elif token.type == "tr_close" and any(cells):
            lines.add(" | ".join(cells), line)
    return lines.block("table", level=1)


def _bare_rows(token: Token, line: int) -> Block:
    """Read lines of cells that lack the delimiter row of a table."""
    lines = Lines()
    for n, row in enumerate(token.content.split("\n")):
        lines.add(" | ".join(cell.strip() for cell in row.strip().strip("|").split("|")), line + n)
    return lines.block("table")


def _code(token: Token, line: int) -> Lines:
    lines = Lines()
    opening = token.type == "fence"
    for n, text in enumerate(token.content.rstrip().split("\n")):
        lines.add(text.rstrip(), line + n + opening)
    return lines


def _stripped(html: str, line: int) -> Lines:
    """Return the text of inline HTML, without its tags."""
    from html import unescape

    lines = Lines()
    for n, text in enumerate(_TAG.sub(lambda m: "\n" * m[0].count("\n"), html).split("\n")):
        if text.strip():
            lines.add(unescape(text).strip(), line + n)
    return lines


def _inline(token: Token, line: int) -> Lines:
    """Return the text of a paragraph; wrapped lines are joined, hard breaks kept."""
    lines = Lines()
    text = ""
    start = line
    for child in token.children or []:
        if child.type in ("text", "code_inline"):
            text += child.content
        elif child.type == "image":
            text += child.content.strip()
        elif child.type == "html_inline" and child.content.lower().startswith("<br"):
            text += " "
        elif child.type in ("softbreak", "hardbreak"):
            lines.add(text.strip(), start, wrapped=child.type == "softbreak")
            text, start = "", start + 1
    lines.add(text.strip(), start)
    return lines
