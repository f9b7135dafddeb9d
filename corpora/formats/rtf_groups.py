r"""Sort the groups of an RTF file: which text goes where, and marks for what striprtf does not give.

A group that begins with `\*` and a word that is no mere format is a destination; one that is not known is
left out, as the specification asks (Rich Text Format 1.9.1, “Destinations”). A `\*` in the middle of a group
says nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from ragweave.corpora.formats.symbols import TICKED, UNTICKED, is_symbolic, shown
from ragweave.models.errors import SourceError

HEADING, ITEM, INSIDE, CELL, ROW, LABELLED, AUTHOR, SAID = "\ue0f0\ue0f1\ue0f2\ue0f3\ue0f4\ue0f5\ue0f6\ue0f7"
"""Marks that replace control words: private characters of Unicode."""
INFO = ("title", "author", "creatim")
_TOKEN = re.compile(r"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'[0-9a-f]{2}|\\[^a-z]|[{}]|[^\\{}]+|\\", re.I | re.S)
_SKIPPED = frozenset(
    "stylesheet listtable listoverridetable revtbl rsidtbl filetbl colortbl themedata datastore xmlnstbl"
    " latentstyles generator bkmkstart bkmkend xe tc atnid atnref atndate atrfstart atrfend nonesttables"
    " nonshppict shprslt objdata objclass objname sp mmathpict".split()
)
"""Groups that hold no text of the document, or text that is also elsewhere."""
_AROUND = frozenset("shp shpgrp shpinst shppict do object fldinst mmath".split())
"""Groups without text of their own around others that may have some."""
_EDGES = frozenset("header headerl headerr headerf footer footerl footerr footerf".split())
_SINKS = {
    **dict.fromkeys(_EDGES, ("edge", "\\par ")),
    **dict.fromkeys(("shptxt", "dptxbxtext"), ("box", "\\par ")),
    **{
        "footnote": ("note", "\\par "),
        "result": ("text", ""),
        "formfield": ("form", ""),
        "ffl": ("entry", ""),
    },
}
_COUNTED = {"pict": ("picture", "pictures"), "object": ("embedded object", "embedded objects")}
_EQUATION = ("equation", "equations")
_FORMATS = frozenset(
    "cs cf cb f fs b i ul ulnone plain pard par lang langfe noproof chcbpat chcfpat highlight rtlch ltrch"
    " loch hich dbch insrsid charrsid af afs ab ai super sub nosupersub strike caps scaps line tab".split()
)
"""Words that only say how text looks: behind `\\*` they begin no destination."""
_READ = ("text", "note", "edge", "box", "comment")
_WORDS = {"intbl": INSIDE, "trowd": INSIDE, "cell": CELL, "nestcell": CELL, "row": ROW, "nestrow": ROW}
_DEEPEST = 1_000
"""Groups inside groups."""
_TINY = 4
"""Half points of a font that is too small to read."""


@dataclass(frozen=True, slots=True)
class _Group:
    """The state of a group: where its text goes, where its bracket went, and how the text looks."""

    sink: str = "text"
    opened: str = "text"
    hidden: bool = False
    tiny: bool = False
    deleted: bool = False
    outline: str = "0"
    font: int = -1
    names_fonts: bool = False
    labels: bool = False
    """Whether it is the number or bullet of a paragraph, of which no format counts."""

    @property
    def place(self) -> str:
        """Return the part that takes the text of this group."""
        if self.sink in _READ and (self.hidden or self.tiny or self.deleted):
            return "skipped" if self.deleted else "hidden"
        return self.sink


class Groups:
    """A file taken apart.

    Attributes:
        parts: the tokens of a file by what they belong to.
        is_cut: whether its end is missing.
        left: what is not read, by its names for one and several.
    """

    def __init__(self, text: str, path: Path) -> None:
        names = (*_READ, *INFO, "hidden", "skipped", "info", "around", "form", "entry", "fonts")
        self.parts: dict[str, list[str]] = {}
        for name in names:
            self.parts[name] = []
        self.left: Counter[tuple[str, str]] = Counter()
        self._path = path
        self._stack = [_Group()]
        self._fonts: dict[int, str] = {}
        self._form: dict[str, int] = {}
        self._fallback = 0
        """Characters to skip: they only replace a Unicode character for older programs."""
        self._take_apart(text)
        self.is_cut = len(self._stack) > 1

    def _take_apart(self, text: str) -> None:
        at, before = 0, ""
        while True:
            found = _TOKEN.match(text, at)
            if found is None:
                break
            at = found.end()
            token, word, number = found[0], (found[1] or "").lower(), found[2] or ""
            if token == "{":
                self._open()
            elif token == "}":
                self._close()
                if len(self._stack) < 2:
                    break
            elif word == "bin":
                at += max(0, int(number or 0))
            elif token == "\\*":
                following = _TOKEN.match(text, at)
                self._star(before == "{", (following[1] or "").lower() if following else "")
            elif self._stack[-1].sink != "skipped":
                self._token(word, number, token)
            self.parts["skipped"].clear()
            self.parts["around"].clear()
            before = token

    def _open(self) -> None:
        if len(self._stack) > _DEEPEST:
            what = f"{self._path.name} is nested too deeply to be read"
            raise SourceError(what, "leave it out, or save it as .docx")
        now = self._stack[-1]
        self.parts[now.sink].append("{")
        if now.names_fonts:
            self.parts["fonts"].append("{")
        self._stack.append(replace(now, opened=now.sink))

    def _close(self) -> None:
        now = self._stack.pop()
        self.parts[now.opened].append("}")
        below = self._stack[-1] if self._stack else now
        if below.names_fonts:
            self.parts["fonts"].append("}")
        if now.labels and not below.labels:
            self.parts[below.place].append(mark(LABELLED))
        if now.sink == "form" and below.sink != "form":
            self._put_form()
        if now.sink == "entry" and below.sink != "entry":
            self.parts["entry"].append("\n")

    def _star(self, begins: bool, word: str) -> None:
        """Leave out the destination that begins here, unless it is one whose text is read."""
        known = word in _SINKS or word in _AROUND or word in ("annotation", "atnauthor", "pict")
        if begins and not known and word not in _FORMATS and self._stack[-1].sink != "skipped":
            if word == "momath":
                self.left[_EQUATION] += 1
            self._stack[-1] = replace(self._stack[-1], sink="skipped")

    def _token(self, word: str, number: str, token: str) -> None:
        now = self._stack[-1]
        if word in _SKIPPED:
            self._stack[-1] = replace(now, sink="skipped")
        elif word in _COUNTED or word in _AROUND:
            if word in _COUNTED:
                self.left[_COUNTED[word]] += 1
            self._stack[-1] = replace(now, sink="skipped" if word == "pict" else "around")
        elif word in _SINKS:
            sink, lead = _SINKS[word]
            self._stack[-1] = replace(now, sink=sink)
            self.parts[sink].append(lead)
        elif word in ("annotation", "atnauthor"):
            self._stack[-1] = replace(now, sink="comment")
            self.parts["comment"].append(mark(SAID if word == "annotation" else AUTHOR))
        elif now.sink == "form":
            self._form[word] = int(number or 1) if len(number) < 6 else 0
        elif word == "fonttbl" or now.names_fonts:
            self._font_of(word, number, token)
        else:
            self._control(word, number, token)

    def _font_of(self, word: str, number: str, token: str) -> None:
        """Note the name of a font; the table itself is for striprtf, which takes code pages from it."""
        self._stack[-1] = replace(self._stack[-1], names_fonts=True)
        self.parts["fonts"].append(token)
        self.parts[self._stack[-1].place].append(token)
        if word == "f":
            self._stack[-1] = replace(self._stack[-1], font=int(number or 0))
        elif not word:
            name = token.partition(";")[0].strip()
            if name:
                self._fonts.setdefault(self._stack[-1].font, name)

    def _control(self, word: str, number: str, token: str) -> None:
        """Apply a token, and add it, or a mark for it, to the part of its group."""
        now = self._stack[-1]
        if word == "info" or (now.sink == "info" and word in INFO):
            self._stack[-1], token = replace(now, sink=word), ""
        elif word in ("listtext", "pntext"):
            self._stack[-1], token = replace(now, labels=True), mark(ITEM)
        elif word in ("f", "v", "deleted", "fs", "plain"):
            self._stack[-1] = _look(now, word, number)
            token = "" if word in ("v", "deleted") or now.labels else token
        elif now.labels and word not in ("", "u"):
            token = ""
        elif word in ("pard", "outlinelevel", "par"):
            token = self._outline(word, number, token)
        elif word in _WORDS:
            token = mark(_WORDS[word])
        elif is_symbolic(self._fonts.get(now.font, "")):
            token = self._drawn(word, number, token, self._fonts[now.font])
        self.parts[self._stack[-1].place].append(token)

    def _outline(self, word: str, number: str, token: str) -> str:
        """Note the heading level of a paragraph, and return the mark for it."""
        now = self._stack[-1]
        if word == "par":  # the next paragraph keeps the level of this one
            return f"{token} {mark(HEADING)}{now.outline}"
        level = "0"
        if word == "outlinelevel" and number.isdigit() and int(number) < 6:
            level = str(int(number) + 1)
        self._stack[-1] = replace(now, outline=level)
        return f"{token} {mark(HEADING)}0" if word == "pard" else f"{mark(HEADING)}{level}"

    def _drawn(self, word: str, number: str, token: str, font: str) -> str:
        """Return text in a font of pictures as it is shown."""
        if word == "u":
            self._fallback = 1
            return _escaped(shown(chr(int(number or 0) % 65536), font))
        if token.startswith("\\'"):
            lost, self._fallback = self._fallback, 0
            return "" if lost else _escaped(shown(chr(int(token[2:], 16)), font))
        if word or token.startswith("\\"):
            return token
        text, self._fallback = token[self._fallback :], 0
        return _escaped(shown(text.replace("\r", "").replace("\n", ""), font))

    def _put_form(self) -> None:
        """Write what is entered in a field of a form in the place of the field."""
        kind, chosen = self._form.get("fftype", 0), self._form.get("ffres", 25)
        chosen = self._form.get("ffdefres", 0) if chosen == 25 else chosen
        entries = "".join(self.parts["entry"]).replace("{", "").replace("}", "").split("\n")
        place = "skipped"
        for group in self._stack:
            if group.sink in _READ:
                place = group.place
        if kind == 1:
            self.parts[place].append(_escaped(TICKED if chosen else UNTICKED))
        elif kind == 2 and 0 <= chosen < len(entries):
            self.parts[place].append(f" {entries[chosen]}")
        self._form = {}
        self.parts["entry"].clear()
        self.parts["form"].clear()


def _look(now: _Group, word: str, number: str) -> _Group:
    """Return how text looks after a control word."""
    if word == "f":
        return replace(now, font=int(number or 0))
    if word == "v":
        return replace(now, hidden=number != "0")
    if word == "deleted":
        return replace(now, deleted=number != "0")
    if word == "fs":
        return replace(now, tiny=number.isdigit() and int(number) <= _TINY)
    return replace(now, hidden=False, tiny=False, deleted=False, font=-1)


def mark(sign: str) -> str:
    """Return a mark as RTF writes it."""
    return f"{{\\uc1\\u{ord(sign) - 65536}?}}"


def _escaped(text: str) -> str:
    """Return text as RTF writes it, in units of UTF-16."""
    data = text.encode("utf-16-le", "surrogatepass")
    written = ""
    for n in range(0, len(data), 2):
        unit = int.from_bytes(data[n : n + 2], "little", signed=True)
        written += f"{{\\uc1\\u{unit}?}}"
    return written
