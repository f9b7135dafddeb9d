"""reStructuredText by docutils: nothing is included, fetched or run, and no message is printed."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

from docutils.frontend import get_default_settings
from docutils.nodes import Text
from docutils.parsers.rst import Parser
from docutils.utils import new_document
from lxml import etree

from ragweave.corpora.blocks import Parsed, first_heading
from ragweave.corpora.decode import read_text
from ragweave.corpora.formats.flow import LINE, flow
from ragweave.corpora.formats.superscript import around
from ragweave.corpora.meta import iso_date
from ragweave.models.errors import SourceError

_ROLE = re.compile(r":[\w:+.-]{1,60}:`([^`]*)`|`([^`]*)`:[\w:+.-]{1,60}:")
_TARGET = re.compile(r"\s?<[^<>]*>\Z")
_DIRECTIVE = re.compile(r"\.\.[ \t]+([\w:+.-]+)::[ \t]*(.*)")
_OPTION = re.compile(r"\s*:[\w-]+:(?!`)")
_CLASS = re.compile(r"(?<=\.\. )class(?=::)")
_SILENT = frozenset(
    "toctree index highlight currentmodule module tabularcolumns include literalinclude".split()
)
"""Directives without words of their own."""
_SKIPPED = frozenset(
    "#text comment target substitution_definition problematic docinfo pending"
    " meta image classifier colspec".split()
)
_TAGS = {
    "bullet_list": "ul", "enumerated_list": "ol", "list_item": "li", "definition_list": "dl", "term": "dt",
    "definition": "dd", "field_list": "dl", "field_name": "dt", "option_list": "dl", "option_group": "dt",
    "description": "dd", "table": "table", "row": "tr", "literal_block": "pre", "doctest_block": "pre",
    "math_block": "pre", "paragraph": "p", "rubric": "p", "attribution": "p", "caption": "p", "subtitle": "p",
}  # fmt: skip
"""Elements of HTML for those of docutils; all others are read through."""
_WORDED = ("p", "pre", "dt")
"""Elements that hold nothing but text."""
_LONGEST, _INSIDE = 500, 10
"""Characters that a substitution may produce, and how deep substitutions may be nested."""
_TIMES = 4
"""Characters that all substitutions of a text may produce, per character of the text."""
_AHEAD = 20
"""Lines in which the next row of a table is looked for."""
_UNWRITTEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that no element of XML may hold."""
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
    """Read reStructuredText; directives and roles unknown to docutils (Sphinx's) are read as text."""
    try:
        document = _document(read_text(path))
    except (ValueError, AttributeError, AssertionError) as exc:
        raise SourceError(
            f"{path.name} is not readable reStructuredText ({exc})", "mend it, or rename it to .txt"
        ) from exc
    body = etree.Element("body")
    _put(document, body, 0)
    blocks, _ = flow(body, lambda element: False, made=True)
    stated = document.findall(lambda node: node.tagname == "field" and len(node) == 2)
    fields: dict[str, str] = {}
    for name, value in stated:
        fields[name.astext().lower()] = _field(value)
    return Parsed(
        title=first_heading(blocks),
        blocks=tuple(blocks),
        date=iso_date(fields.get("date")),
        author=fields.get("author", ""),
    )


def _document(text: str, around: Any = None) -> Any:
    """Parse a text into a docutils tree; the substitutions of the document `around` it apply."""
    settings = get_default_settings(Parser)
    for name, value in _QUIET.items():
        setattr(settings, name, value)
    document = new_document("text", settings)
    document.reporter.stream = None
    # Docutils' own `class` names a style and drops its words; in manuals it names a class.
    Parser().parse(_CLASS.sub("py:class", text), document)
    _place_rows(document, text.split("\n"))
    document.room = [10_000 + _TIMES * len(text)] if around is None else around.room
    _substitute(document, {} if around is None else around.substitution_defs)
    return document


def _place_rows(document: Any, lines: list[str]) -> None:
    """Give the rows of tables that docutils makes of CSV the lines of their first words."""
    for table in document.findall(lambda n: n.tagname == "table" and n.line):
        at = table.line
        for row in table.findall(lambda n: n.tagname == "row"):
            first = _first_paragraph(row)
            if first is None or (first.line or 0) >= table.line:
                continue  # rows of other tables know their lines
            words = first.rawsource.strip().split("\n")[0]
            for n in range(at, min(at + _AHEAD, len(lines))):
                if words in lines[n]:
                    at = n + 1
                    break
            row.line = at


def _first_paragraph(row: Any) -> Any:
    """Return the first paragraph of a row that has text, or None."""
    for paragraph in row.findall(lambda n: n.tagname == "paragraph"):
        if paragraph.rawsource.strip():
            return paragraph
    return None


def _substitute(document: Any, known: dict[str, Any]) -> None:
    """Replace substitutions by their text, or by their name if they have no definition or are a date."""
    document.substitution_defs = known = {**known, **document.substitution_defs}
    names = dict(zip(map(str.lower, known), known, strict=True))
    said: dict[str, str] = {}

    def found(name: str, inside: tuple[str, ...]) -> str:
        if name not in said:
            node = known.get(name) or known.get(names.get(name.lower(), ""))
            if node is None or "date::" in node.rawsource or name in inside or len(inside) >= _INSIDE:
                return name
            for inner in list(node.findall(lambda n: n.tagname == "substitution_reference")):
                inner.children = [Text(found(inner["refname"], (*inside, name)))]
            said[name] = " ".join(_said(node).split())[:_LONGEST]
        return said[name]

    for node in list(document.findall(lambda n: n.tagname == "substitution_reference")):
        if node.parent is not None and node.parent.tagname != "substitution_definition":
            text = found(node["refname"], ())
            document.room[0] -= len(text)
            if document.room[0] > 0 and text != node["refname"]:
                node.children = [Text(text)]


def _put(node: Any, into: Any, depth: int, header: bool = False) -> None:
    """Add what lies in a node of docutils to an element of HTML, each part with its line."""
    for child in node.children:
        tag = child.tagname
        if tag in _SKIPPED:
            continue
        if tag == "section":
            _put(child, into, depth + 1)
        elif tag == "title":
            _add(into, _title_tag(node, depth), child, _clean(_said(child)))
        elif tag == "system_message":
            _unknown(child, into, depth)
        elif tag == "field_body":
            _add(into, "dd", child, _field(child))
        elif tag == "line_block":
            verse = _add(into, "p", child)
            for line in child.findall(lambda n: n.tagname == "line"):
                _add(verse, "br", line).tail = _clean(_said(line))
        elif tag == "entry":
            cell = _add(into, "th" if header else "td", child)
            for name, more in (("rowspan", "morerows"), ("colspan", "morecols")):
                cell.set(name, str(1 + int(child.get(more) or 0)))
            _put(child, cell, depth)
        elif _TAGS.get(tag) in _WORDED:
            _add(into, _TAGS[tag], child, _words_of(child))
        elif tag in _TAGS:
            _put(child, _add(into, _TAGS[tag], _with_line(child)), depth, header)
        else:
            _put(child, into, depth, header or tag == "thead")


def _title_tag(parent: Any, depth: int) -> str:
    """Return the element for a title of a section, a table or anything else."""
    if parent.tagname == "section":
        return f"h{min(6, max(1, depth))}"
    return "caption" if parent.tagname == "table" else "p"


def _words_of(node: Any) -> str:
    """Return the text of a paragraph, a term or preformatted text."""
    if _TAGS[node.tagname] == "pre":
        return str(node.astext()).rstrip()
    return _clean(node.astext() if node.tagname == "option_group" else _said(node))


def _with_line(node: Any) -> Any:
    """Return the node that has the line of a node: docutils gives a row none of its own."""
    if node.tagname != "row" or node.line:
        return node
    return next(node.findall(lambda n: n.tagname == "paragraph"), node)


def _add(into: Any, tag: str, node: Any, text: str = "", line: int = 0) -> Any:
    element = etree.SubElement(into, tag)
    element.set(LINE, str(line or _line(node)))
    element.text = _UNWRITTEN.sub(" ", text)
    return element


def _line(node: Any) -> int:
    """Return a node's line, or that of the nearest node around it."""
    while node is not None:
        if node.line:
            return int(node.line)
        node = node.parent
    return 0


def _field(body: Any) -> str:
    """Return a field's value as it was written: `R. Marsh` would be read as the list item R."""
    return " ".join(_clean(body.rawsource or body.astext()).replace("``", "").split())


def _said(node: Any) -> str:
    """Return the words of a node, with raised text and marks of notes kept apart."""
    said = ""
    for child in node.children:
        text = _said(child) if child.children else child.astext()
        if child.tagname in ("superscript", "subscript"):
            lead, behind = around(said, text, below=child.tagname == "subscript")
            text = lead + text + behind
        elif child.tagname in ("footnote_reference", "citation_reference"):
            text = f"[{text or child.get('refname', '')}]".replace("[]", "")  # a note may have no number yet
        said += text
    return said


def _clean(text: str) -> str:
    """Read roles that docutils does not know as the text they show."""
    return _ROLE.sub(lambda m: _TARGET.sub("", m[1] or m[2] or "").lstrip("~!"), text)


def _unknown(message: Any, into: Any, depth: int) -> None:
    """Add a directive that docutils refused or does not know: its argument is the term of its content."""
    for node in message.children:
        first, *rest = node.astext().split("\n") if node.tagname == "literal_block" else [""]
        m = _DIRECTIVE.match(first)
        if m is None or m[1] in _SILENT:
            continue
        for n, text in enumerate(rest):
            if _OPTION.match(text):
                rest[n] = ""
        body = textwrap.dedent("\n".join(rest))
        line, name = message.get("line") or _line(node), _clean(m[2]).replace("``", "")
        if not body.strip():
            # `.. setting:: X` above a heading X only marks the place; the heading says it.
            if name and name.split("(")[0] not in _heading_after(message):
                _add(into, "p", node, name, line)
            continue
        # Empty lines in front keep the numbers of the lines.
        inner = _document("\n" * line + body, message.document)
        if body.lstrip().startswith(".."):
            _add(into, "p", node, name, line)
            _put(inner, into, depth + 1)
        else:
            within = _add(into, "dl", node, line=line)
            _add(within, "dt", node, name, line)
            _put(inner, _add(within, "dd", node, line=line), depth + 1)


def _heading_after(node: Any) -> str:
    """Return the title of the section that comes next, "" if other words come before it."""
    while node is not None and node.parent is not None:
        for later in node.parent.children[node.parent.index(node) + 1 :]:
            if later.tagname == "section":
                return str(later[0].astext())
            if later.tagname not in ("system_message", "target", "comment"):
                return ""
        node = node.parent
    return ""
