"""Read the paragraphs of a slide: text with symbols, the numbers of lists, and comments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Block, comment
from ragweave.corpora.formats.equation import M, equation
from ragweave.corpora.formats.numbering import FALLBACK, formatted
from ragweave.corpora.formats.ooxml import A, attribute, relations
from ragweave.corpora.formats.symbols import shown

_FORMS = {"arabic": "decimal", "alphaUc": "upperLetter", "alphaLc": "lowerLetter", "romanUc": "upperRoman"}
_SIGNS = {"Period": ("", "."), "ParenR": ("", ")"), "ParenBoth": ("(", ")"), "Plain": ("", "")}
_LEVELS = 9


def text_of(paragraph: Any) -> str:
    """Return the text of a paragraph: runs, breaks, fields and equations."""
    out = []
    for element in paragraph.iter(f"{A}t", f"{A}br", f"{M}oMath"):
        if next(element.iterancestors(FALLBACK), None) is not None:
            continue
        if element.tag == f"{A}br":
            out.append("\n")
        elif element.tag == f"{M}oMath":
            out.append(equation(element))
        else:
            look = element.getparent().find(f"{A}rPr")
            font = attribute(look, f"{A}sym", "typeface") or attribute(look, f"{A}latin", "typeface")
            out.append(shown(element.text or "", font))
    return "".join(out)


class AutoNumbers:
    """Counts the paragraphs of a shape whose numbers PowerPoint makes."""

    def __init__(self) -> None:
        self._counts: list[tuple[str, int] | None] = [None] * _LEVELS

    def next(self, paragraph: Any, depth: int, *, empty: bool) -> str:
        """Return the number of a paragraph, "" if it has none; an `empty` one is not counted."""
        depth = min(depth, _LEVELS - 1)
        self._counts[depth + 1 :] = [None] * (_LEVELS - 1 - depth)
        numbered = paragraph.find(f"{A}pPr/{A}buAutoNum")
        if empty:
            return ""
        if numbered is None:
            self._counts[depth] = None
            return ""
        kind, first = numbered.get("type") or "arabicPeriod", numbered.get("startAt") or "1"
        before = self._counts[depth]
        if before is not None and before[0] == kind:
            count = before[1] + 1
        else:
            count = int(first) if first.isdecimal() and len(first) < 6 else 1
        self._counts[depth] = kind, count
        lead, tail = _signs(kind)
        return f"{lead}{formatted(count, _form(kind))}{tail}"


class SlideNotes:
    """The comments of readers on the slides of a presentation, of the older and the newer kind."""

    def __init__(self, archive: Archive) -> None:
        self._authors: dict[str, str] = {}
        self._on: dict[str, list[tuple[str, str]]] = {}
        for name in archive.names:
            if name in ("ppt/commentAuthors.xml", "ppt/authors.xml"):
                for author in archive.xml(name).iter("{*}cmAuthor", "{*}author"):
                    self._authors[author.get("id") or ""] = author.get("name") or ""
        for name in archive.names:
            if name.startswith("ppt/slides/") and name.endswith(".xml"):
                notes = self._on.setdefault(f"/{name}", [])
                for kind, part in relations(archive, name).values():
                    if kind == "comments" and archive.has(part):
                        notes += self._comments(archive.xml(part))

    def of(self, part: Any, page: int) -> list[Block]:
        """Return the comments on a slide, each with its author."""
        notes = self._on.get(str(part.partname), ())
        return [Block(comment(text, author), "text", page=page) for text, author in notes]

    def _comments(self, root: Any) -> Iterator[tuple[str, str]]:
        for note in root.iter("{*}cm", "{*}reply"):
            body = note.find("{*}txBody")
            if body is None:
                text = note.findtext("{*}text") or ""
            else:
                text = "\n".join(text_of(paragraph) for paragraph in body.iter(f"{A}p"))
            lines = [" ".join(line.split()) for line in text.splitlines()]
            text = "\n".join(filter(None, lines))
            if text:
                yield text, " ".join(self._authors.get(note.get("authorId") or "", "").split())


def _form(kind: str) -> str:
    """Return the form of numbers for a kind of PowerPoint, in the names of Word."""
    for name, form in _FORMS.items():
        if kind.startswith(name):
            return form
    return "lowerRoman" if kind.startswith("romanLc") else "decimal"


def _signs(kind: str) -> tuple[str, str]:
    """Return the signs before and after a number of a kind."""
    for name, signs in _SIGNS.items():
        if kind.endswith(name):
            return signs
    return "", "."
