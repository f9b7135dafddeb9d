"""RTF: text by striprtf, with marks of our own for what it does not tell: headings, lists, cells, notes, hidden words.

The groups of a file are gone through once before. What no reader sees and what is no text (pictures, objects, styles)
is taken out there, which also keeps the work of striprtf, a step for each character, within the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from striprtf.striprtf import rtf_to_text

from ragweave.corpora.blocks import Block, Parsed
from ragweave.corpora.decode import read_bytes
from ragweave.corpora.formats.merged import MergedTable, TableRow, first_row
from ragweave.models.errors import SourceError

_TOKEN = re.compile(r"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'[0-9a-f]{2}|\\[^a-z]|[{}]|[^\\{}]+|\\", re.I | re.S)
_SKIPPED = frozenset(
    "pict object shp shpgrp stylesheet listtable listoverridetable revtbl rsidtbl filetbl colortbl header headerl "
    "headerr headerf footer footerl footerr footerf themedata datastore xmlnstbl latentstyles generator fldinst "
    "bkmkstart bkmkend xe tc annotation atnid atnauthor atnref atndate atrfstart atrfend nonesttables".split()
)
"""Groups that hold no text of the document, or none that is read; those marked with `\\*` are skipped as well."""
_HEADING, _ITEM, _INSIDE, _CELL, _ROW = "\ue0f0\ue0f1\ue0f2\ue0f3\ue0f4"
"""Marks that take the places of control words: characters of Unicode that stand for nothing."""
_WORDS = {
    **{"intbl": _INSIDE, "trowd": _INSIDE, "cell": _CELL, "nestcell": _CELL, "row": _ROW, "nestrow": _ROW},
}
_INFO = ("title", "author", "creatim")
_PIECE = re.compile(f"([^\n{_CELL}{_ROW}]*)([\n{_CELL}{_ROW}]?)")
_MARKS = re.compile(f"{_HEADING}\\d|[{_HEADING}{_ITEM}{_INSIDE}{_CELL}{_ROW}]")
_DEEPEST = 1_000
"""Groups inside groups."""
_TINY = 4
"""Half points of a font that nobody reads."""
_STAMP = re.compile(r"\\(yr|mo|dy)(\d{1,4})")


@dataclass(frozen=True, slots=True)
class _Group:
    """What holds in a group: where its text goes, where the bracket went that opened it, and how the text looks."""

    sink: str = "text"
    opened: str = "text"
    hidden: bool = False
    tiny: bool = False
    deleted: bool = False
    outline: str = "0"

    @property
    def place(self) -> str:
        """Where text goes that stands here."""
        if self.sink in ("text", "note") and (self.hidden or self.tiny or self.deleted):
            return "skipped" if self.deleted else "hidden"
        return self.sink


def parse(path: Path) -> Parsed:
    """Read an RTF document: headings by their outline levels, lists, tables and notes; deleted text is left out."""
    data = read_bytes(path)
    if not data.startswith(b"{\\rtf"):
        raise SourceError(f"{path.name} is not RTF", "open it in a word processor and save it again")
    parts, cut = _taken_apart(data.decode("latin-1"), path)
    page = re.search(r"\\ansicpg\d+", "".join(parts["text"][:50]))
    begin = f"{{\\rtf1\\ansi{page[0] if page else ''} "
    title, author, hidden = (
        " ".join(_MARKS.sub("", _plain(f"{begin}{''.join(parts[name])}}}", path)).split())
        for name in ("title", "author", "hidden")
    )
    end = parts["text"].pop() if parts["text"] and not cut else ""
    blocks = tuple(_blocks(_plain("".join((*parts["text"], "\\pard\\par ", *parts["note"], end)), path)))
    top = next((b.text for b in blocks if b.kind == "heading" and b.level == 1), "")
    warnings = ("the file is cut off, and was read as far as it goes",) if cut else ()
    date = _date("".join(parts["creatim"]))
    return Parsed(title or top, blocks, date, author, warnings=warnings, hidden=(hidden,) if hidden else ())


def _taken_apart(text: str, path: Path) -> tuple[dict[str, list[str]], bool]:
    """Return the tokens of a file by what they belong to, and whether its end is missing."""
    parts: dict[str, list[str]] = {name: [] for name in ("text", "note", "hidden", "skipped", "info", *_INFO)}
    stack = [_Group()]
    at = 0
    while m := _TOKEN.match(text, at):
        at = m.end()
        token, word, now = m[0], (m[1] or "").lower(), stack[-1]
        if token == "{":
            if len(stack) > _DEEPEST:
                raise SourceError(f"{path.name} is nested too deeply to be read", "leave it out, or save it as .docx")
            parts[now.sink].append(token)
            stack.append(replace(now, opened=now.sink))
        elif token == "}":
            parts[now.opened].append(token)
            stack.pop()
            if len(stack) < 2:
                break
        elif word == "bin":
            at += max(0, int(m[2] or 0))
        elif token == "\\*" or word in _SKIPPED:
            stack[-1] = replace(now, sink="skipped")
        elif now.sink != "skipped":
            stack[-1], token = _control(now, word, m[2] or "", token)
            if stack[-1].sink == "item":  # its mark stands for its number or bullet
                stack[-1] = replace(now, sink="skipped")
                parts[now.place].append(token)
            else:
                parts[stack[-1].place].append(token)
        parts["skipped"].clear()
    return parts, len(stack) > 1


def _control(now: _Group, word: str, number: str, token: str) -> tuple[_Group, str]:
    """Return what holds after a control word, and what is written in its place."""
    if word == "info" or (now.sink == "info" and word in _INFO):
        return replace(now, sink=word), ""
    if word == "footnote":
        return replace(now, sink="note"), "\\par "
    if word in ("v", "deleted"):
        on = number != "0"
        return (replace(now, hidden=on) if word == "v" else replace(now, deleted=on)), ""
    if word == "fs":
        return replace(now, tiny=number.isdigit() and int(number) <= _TINY), token
    if word == "plain":
        return replace(now, hidden=False, tiny=False, deleted=False), token
    if word == "pard":
        return replace(now, outline="0"), f"{token} {_mark(_HEADING)}0"
    if word == "outlinelevel":
        level = str(int(number) + 1) if number.isdigit() and int(number) < 6 else "0"
        return replace(now, outline=level), f"{_mark(_HEADING)}{level}"
    if word == "par":  # the next paragraph is as this one, until it is said otherwise
        return now, f"{token} {_mark(_HEADING)}{now.outline}"
    if word in ("listtext", "pntext"):
        return replace(now, sink="item"), _mark(_ITEM)
    return now, _mark(_WORDS[word]) if word in _WORDS else token


def _mark(sign: str) -> str:
    return f"\\u{ord(sign) - 65536}?"


def _plain(source: str, path: Path) -> str:
    try:
        text = str(rtf_to_text(source, errors="replace"))  # type: ignore[no-untyped-call]
    except (ValueError, OverflowError, LookupError, TypeError) as exc:  # whatever odd numbers cause
        what = f"{path.name} is damaged RTF ({exc})"
        raise SourceError(what, "open it in a word processor and save it again") from exc
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a text with marks."""
    items: list[str] = []
    rows: list[TableRow] = []
    cells: list[str] = []
    held: list[str] = []
    inside = False
    for piece, sign in (*_PIECE.findall(text), ("", "\n")):
        said = " ".join(_MARKS.sub("", piece).split())
        inside = inside or _INSIDE in piece
        held += [said] if said else []
        if sign == _CELL:
            cells, held = [*cells, " ".join(held)], []
        elif sign == _ROW:
            rows += [TableRow(cells)] if any(cells) else []
            cells, held, inside = [], [], False
        elif not inside and sign and held:
            level = int((re.findall(f"{_HEADING}(\\d)", piece) or ["0"])[-1])
            is_item = _ITEM in piece
            yield from _closed(rows, [] if is_item else items)
            rows = []
            if is_item:
                items.append(f"- {' '.join(held)}")
            else:
                items = []
                yield Block(" ".join(held), "heading" if level else "text", level)
            held = []
    yield from _closed(rows, items)
    if held or cells:
        yield Block(" ".join(filter(None, (*cells, *held))), "text")


def _closed(rows: list[TableRow], items: list[str]) -> Iterator[Block]:
    if items:
        yield Block("\n".join(items), "list")
    yield from MergedTable().blocks(rows, first_row) if rows else ()


def _date(said: str) -> datetime | None:
    found = {name: int(n) for name, n in _STAMP.findall(said)}
    try:
        return datetime(found["yr"], found["mo"], found["dy"], tzinfo=UTC)
    except (KeyError, ValueError):
        return None
