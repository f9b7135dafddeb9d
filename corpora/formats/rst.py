"""reStructuredText by docutils: nothing is included, fetched or run, and no message is printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragweave.corpora.blocks import Block, Lines, Parsed
from ragweave.corpora.decode import read_text
from ragweave.corpora.meta import iso_date
from ragweave.models.errors import SourceError

_ROLE = re.compile(r":[\w:+.-]{1,60}:`([^`]*)`|`([^`]*)`:[\w:+.-]{1,60}:")
_TARGET = re.compile(r"\s?<[^<>]*>\Z")
_DIRECTIVE = re.compile(r"\.\.[ \t]+([\w:+.-]+)::[ \t]*(.*)")
_OPTION = re.compile(r"\s*:[\w-]+:")
_SILENT_DIRECTIVES = {
    "toctree",
    "index",
    "highlight",
    "currentmodule",
    "module",
    "tabularcolumns",
    "include",
    "literalinclude",
}
_QUIET = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": None,
    "syntax_highlight": "none",
    "line_length_limit": 1_000_000,
    "smart_quotes": False,
}


def parse(path: Path) -> Parsed:
    """Read reStructuredText; directives and roles that docutils does not know (Sphinx's) count by their text."""
    from docutils.frontend import get_default_settings
    from docutils.parsers.rst import Parser
    from docutils.utils import new_document

    settings = get_default_settings(Parser)
    for name, value in _QUIET.items():
        setattr(settings, name, value)
    document = new_document(path.name, settings)
    document.reporter.stream = None
    try:
        Parser().parse(read_text(path), document)
    except (ValueError, AttributeError, AssertionError) as exc:
        raise SourceError(
            f"{path.name} is not readable reStructuredText ({exc})", "mend it, or rename it to .txt"
        ) from exc
    for message in list(document.findall(_named("system_message"))):
        if not any(message.findall(_named("literal_block"))):
            message.parent.remove(message)
    blocks = tuple(b for b in _walk(document, 0) if b.text.strip())
    fields = {_text(f[0]).lower(): _field(f) for f in document.findall(_named("field")) if len(f) == 2}
    return Parsed(
        title=next((b.text for b in blocks if b.kind == "heading"), ""),
        blocks=blocks,
        date=iso_date(fields.get("date")),
        author=fields.get("author", ""),
    )


def _named(*names: str) -> Any:
    return lambda node: node.tagname in names


def _walk(node: Any, depth: int) -> Iterator[Block]:
    """Yield the blocks below a node."""
    for child in node.children:
        tag = child.tagname
        if tag in (
            "comment",
            "target",
            "substitution_definition",
            "problematic",
            "docinfo",
            "pending",
            "meta",
            "image",
        ):
            continue
        if tag == "section":
            yield from _walk(child, depth + 1)
        elif tag == "title" and node.tagname == "section":
            yield Block(_text(child), "heading", min(6, max(1, depth)), _line(child))
        elif tag in ("bullet_list", "enumerated_list", "definition_list", "field_list", "option_list"):
            lines = Lines()
            _list(child, lines, "")
            yield lines.block("list")
        elif tag == "table":
            yield _table(child)
        elif tag in ("literal_block", "doctest_block", "math_block"):
            yield _literal(child)
        elif tag == "system_message":
            yield from _unknown(child)
        elif tag in ("paragraph", "title", "rubric", "attribution", "caption", "term", "subtitle"):
            yield _paragraph(child)
        elif tag == "line_block":
            lines = Lines()
            for line in child.findall(_named("line")):
                lines.add(_text(line), _line(line))
            yield lines.block("text")
        else:
            yield from _walk(child, depth)


def _line(node: Any) -> int:
    """Return a node's line, or that of the nearest node around it."""
    while node is not None:
        if node.line:
            return int(node.line)
        node = node.parent
    return 0


def _text(node: Any) -> str:
    return _clean(node.astext()).replace("\n", " ").strip()


def _field(node: Any) -> str:
    """Return a field's value as it was written: `R. Marsh` would be read as the list item R."""
    return " ".join(_clean(node[1].rawsource or node[1].astext()).replace("``", "").split())


def _clean(text: str) -> str:
    """Read roles that docutils does not know as the text they show."""
    return _ROLE.sub(lambda m: _TARGET.sub("", m[1] or m[2] or "").lstrip("~!"), text)


def _paragraph(node: Any) -> Block:
    lines = Lines()
    source = _clean(node.astext()).split("\n")
    first = _line(node)
    for n, text in enumerate(source):
        lines.add(text.strip(), first + n if first else 0, wrapped=True)
    return lines.block("text")


def _literal(node: Any) -> Block:
    lines = Lines()
    text = node.astext().rstrip().split("\n")
    first = _line(node)
    for n, line in enumerate(text):
        lines.add(line.rstrip(), first + n if first else 0)
    return lines.block("code")


def _list(node: Any, lines: Lines, indent: str) -> None:
    """Add one line per item; definitions, fields and options read as `term: text`."""
    for n, item in enumerate(node.children, 1):
        term = ""
        if item.tagname == "field" and len(item) == 2:
            lines.add(f"{indent}- {_text(item[0])}: {_field(item)}", _line(item))
            continue
        lead = f"{n}. " if node.tagname == "enumerated_list" else "- "
        for child in _parts(item):
            if child.tagname in ("bullet_list", "enumerated_list", "definition_list", "field_list"):
                if term:
                    lines.add(f"{indent}{lead}{term}", _line(item))
                    term = ""
                _list(child, lines, indent + "  ")
            elif child.tagname == "system_message":
                for block in _unknown(child):
                    lines.add(f"{indent}  {block.text}", block.line)
            elif child.tagname in ("term", "option_group"):
                term = f"{_text(child)}: "
            elif child.tagname not in ("comment", "target", "classifier"):
                lines.add(f"{indent}{lead}{term}{_text(child)}", _line(child))
                term, lead = "", "  "
        if term:
            lines.add(f"{indent}{lead}{term.rstrip(': ')}", _line(item))


def _parts(item: Any) -> Iterator[Any]:
    """Return the children of a list item, with the bodies of definitions and options read through."""
    for child in item.children:
        if child.tagname in ("definition", "description"):
            yield from child.children
        else:
            yield child


def _table(node: Any) -> Block:
    lines = Lines()
    caption = next((c for c in node.children if c.tagname == "title"), None)
    header = len([r for head in node.findall(_named("thead")) for r in head.findall(_named("row"))])
    if caption is not None:
        lines.add(_text(caption), _line(caption))
    for row in node.findall(_named("row")):
        lines.add(
            " | ".join(_text(entry) for entry in row.children), _line(next(row.findall(_named("paragraph")), row))
        )
    return lines.block("table", level=header + (caption is not None) if header else 0)


def _unknown(message: Any) -> Iterator[Block]:
    """Yield the body of a directive that docutils refused or does not know: its words are still the author's."""
    for node in message.children:
        if node.tagname != "literal_block":
            continue
        first, *rest = node.astext().split("\n")
        m = _DIRECTIVE.match(first)
        if m is None or m[1] in _SILENT_DIRECTIVES:
            continue
        lines = Lines()
        lines.add(_clean(m[2]).strip(), _line(node), wrapped=True)
        for n, text in enumerate(rest, 1):
            if not _OPTION.match(text):
                lines.add(_clean(text).strip(), _line(node) + n, wrapped=True)
        yield lines.block("text")
