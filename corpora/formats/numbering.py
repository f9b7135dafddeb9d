"""Number the paragraphs of Word by its rules: `3.2`, `(a)`, `Article IV` (ISO 29500-1, section 17.9).

Python-docx names the rules of a paragraph and does not count. What is counted here is what Word shows with
tracked changes accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ragweave.corpora.formats.ooxml import W, attribute
from ragweave.corpora.formats.symbols import BOXES, is_symbolic, shown

LABEL = "ragweave-label"
"""Attribute of a paragraph with its number."""
MARK = "ragweave-mark"
"""Attribute of a paragraph with the mark of its list."""
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_LEVELS = 9
_OUT = frozenset((FALLBACK, f"{W}del", f"{W}moveFrom"))
_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC")),
    *((50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_HAN = "零一二三四五六七八九"
_COUNTING = frozenset("chineseCounting chineseCountingThousand japaneseCounting taiwaneseCounting".split())
_ALPHABETS = {
    "Letter": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "russian": "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ",
    "stems": "甲乙丙丁戊己庚辛壬癸",
}


@dataclass(slots=True)
class _Level:
    """How one level of a list is numbered; `restart` is the level that resets it, 0 none, -1 any above."""

    start: int = 1
    form: str = "decimal"
    text: str = ""
    restart: int = -1
    legal: bool = False
    style: str = ""


@dataclass(slots=True)
class _List:
    """A list that paragraphs name: its rules, and where it begins again."""

    rules: str
    levels: dict[int, _Level] = field(default_factory=dict)
    starts: dict[int, int] = field(default_factory=dict)


class Numbering:
    """Counts the paragraphs of a document in their order."""

    def __init__(self, root: Any, styles: dict[str, Any]) -> None:
        self._styles = styles
        self._rules: dict[str, dict[int, _Level]] = {}
        self._lists: dict[str, _List] = {}
        self._counts: dict[str, list[int | None]] = {}
        self._begun: set[tuple[str, int]] = set()
        linked: dict[str, str] = {}
        for rules in root.iter(f"{W}abstractNum"):
            id = rules.get(f"{W}abstractNumId") or ""
            self._rules[id] = {_ilvl(e): _level(e) for e in rules.iterchildren(f"{W}lvl")}
            style = attribute(rules, f"{W}numStyleLink", f"{W}val")
            if style:
                linked[id] = style
        for listed in root.iter(f"{W}num"):
            self._lists[listed.get(f"{W}numId") or ""] = _list(listed)
        for id, style in linked.items():
            other = self._lists.get(attribute(styles.get(style), f"{W}pPr/{W}numPr/{W}numId", f"{W}val"))
            if other is not None and not self._rules[id]:
                self._rules[id] = self._rules.get(other.rules, {})

    def mark(self, root: Any) -> None:
        """Write the number or mark of each paragraph below an element into it."""
        for paragraph in _paragraphs(root):
            id, depth = self._place(paragraph)
            level = self._level(id, depth)
            if level is None or _is_gone(paragraph):
                continue
            if level.form == "bullet":
                paragraph.set(MARK, level.text if level.text in BOXES else "-")
            else:
                label = self._next(id, depth)
                if label:
                    paragraph.set(LABEL, label)

    def _place(self, paragraph: Any) -> tuple[str, int]:
        """Return the list that a paragraph is in, by itself or by its style, and its level."""
        id = attribute(paragraph, f"{W}pPr/{W}numPr/{W}numId", f"{W}val")
        said = attribute(paragraph, f"{W}pPr/{W}numPr/{W}ilvl", f"{W}val")
        style = attribute(paragraph, f"{W}pPr/{W}pStyle", f"{W}val")
        seen: set[str] = set()
        while style in self._styles and style not in seen and not (id and said):
            seen.add(style)
            found = self._styles[style].find(f"{W}pPr/{W}numPr")
            own = attribute(found, f"{W}numId", f"{W}val")
            if found is not None and (not id or id == own):
                id = id or own
                said = said or self._of_style(id, style) or attribute(found, f"{W}ilvl", f"{W}val")
            style = attribute(self._styles[style], f"{W}basedOn", f"{W}val")
        return id, min(int(said), _LEVELS - 1) if said.isdecimal() else 0

    def _of_style(self, id: str, style: str) -> str:
        """Return the level of a list that names a style as its own, or ""."""
        found = self._lists.get(id)
        if found is None:
            return ""
        levels = {**self._rules.get(found.rules, {}), **found.levels}
        for n, level in levels.items():
            if level.style == style:
                return str(n)
        return ""

    def _level(self, id: str, depth: int) -> _Level | None:
        found = self._lists.get(id)
        if found is None or id == "0":
            return None
        return found.levels.get(depth) or self._rules.get(found.rules, {}).get(depth)

    def _next(self, id: str, depth: int) -> str:
        """Count a paragraph, and return its number as it is shown."""
        listed = self._lists[id]
        counts = self._counts.setdefault(listed.rules, [None] * _LEVELS)
        level = self._level(id, depth) or _Level()
        begins = depth in listed.starts and (id, depth) not in self._begun
        count = counts[depth]
        if begins or count is None:
            counts[depth] = listed.starts.get(depth, level.start)
        else:
            counts[depth] = count + 1
        self._begun.add((id, depth))
        for deeper in range(depth + 1, _LEVELS):
            restart = (self._level(id, deeper) or _Level()).restart
            if restart < 0 or depth < restart:
                counts[deeper] = None
        return self._shown(id, level, counts)

    def _shown(self, id: str, level: _Level, counts: list[int | None]) -> str:
        label = level.text
        for n in range(_LEVELS):
            if f"%{n + 1}" in label:
                other = self._level(id, n) or _Level()
                count = counts[n]
                number = other.start if count is None else count
                form = "decimal" if level.legal and other.form != "none" else other.form
                label = label.replace(f"%{n + 1}", formatted(number, form))
        return " ".join(label.split())


def formatted(number: int, form: str) -> str:
    """Return a number in one of Word's forms; one in a form that is not known is written in figures."""
    if form == "none":
        return ""
    if form in ("upperRoman", "lowerRoman"):
        return _cased(_roman(number), form)
    alphabet = _alphabet(form)
    if alphabet and 0 < number < 1_000:
        repeats, at = divmod(number - 1, len(alphabet))
        return _cased(alphabet[at] * (1 + repeats), form)
    if form == "decimalZero":
        return f"{number:02}"
    if form == "ordinal":
        return f"{number}{_ending(number)}"
    if form == "numberInDash":
        return f"- {number} -"
    if form.startswith("decimalEnclosedCircle") and 0 < number <= 20:
        return chr(0x245F + number)
    if form in _COUNTING and 0 < number < 100:
        return _han(number)
    return str(number)


def _cased(text: str, form: str) -> str:
    return text.lower() if form.lower().startswith("lower") or form.endswith("Lower") else text


def _roman(number: int) -> str:
    if not 0 < number < 4_000:
        return str(number)
    out = ""
    for value, letters in _ROMAN:
        out += letters * (number // value)
        number %= value
    return out


def _ending(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _han(number: int) -> str:
    tens, ones = divmod(number, 10)
    lead = "" if not tens else "十" if tens == 1 else f"{_HAN[tens]}十"
    return lead + (_HAN[ones] if ones else "")


def _alphabet(form: str) -> str:
    """Return the letters that a form counts with, or ""."""
    if form.startswith("ideographTraditional"):
        return _ALPHABETS["stems"]
    for name, letters in _ALPHABETS.items():
        if name in form:
            return letters
    return ""


def _level(element: Any) -> _Level:
    font = attribute(element, f"{W}rPr/{W}rFonts", f"{W}ascii") or attribute(
        element, f"{W}rPr/{W}rFonts", f"{W}hAnsi"
    )
    text = attribute(element, f"{W}lvlText", f"{W}val")
    form = attribute(element, f"{W}numFmt", f"{W}val") or "decimal"
    start = attribute(element, f"{W}start", f"{W}val")
    restart = attribute(element, f"{W}lvlRestart", f"{W}val")
    legal = element.find(f"{W}isLgl")
    return _Level(
        int(start) if start.isdecimal() and len(start) < 9 else 1 if not start else 0,
        form,
        shown(text, font) if form == "bullet" and is_symbolic(font) else text,
        int(restart) if restart.isdecimal() and len(restart) < 3 else -1,
        legal is not None and legal.get(f"{W}val") not in ("0", "false"),
        attribute(element, f"{W}pStyle", f"{W}val"),
    )


def _list(element: Any) -> _List:
    made = _List(attribute(element, f"{W}abstractNumId", f"{W}val"))
    for change in element.iterchildren(f"{W}lvlOverride"):
        start = attribute(change, f"{W}startOverride", f"{W}val")
        if start.isdecimal() and len(start) < 9:
            made.starts[_ilvl(change)] = int(start)
        own = change.find(f"{W}lvl")
        if own is not None:
            made.levels[_ilvl(change)] = _level(own)
    return made


def _ilvl(element: Any) -> int:
    said = element.get(f"{W}ilvl") or "0"
    return min(int(said), _LEVELS - 1) if said.isdecimal() and len(said) < 3 else 0


def _paragraphs(root: Any) -> Iterator[Any]:
    """Yield all paragraphs in their order, those in cells and boxes too; of alternatives the first."""
    stack = [root]
    while stack:
        element = stack.pop()
        if element.tag in _OUT:
            continue
        if element.tag == f"{W}p":
            yield element
        stack.extend(reversed(element))


def _is_gone(paragraph: Any) -> bool:
    """Return whether a paragraph is not counted: deleted under tracking, or its end is hidden."""
    look = paragraph.find(f"{W}pPr/{W}rPr")
    if look is None:
        return False
    hidden = look.find(f"{W}vanish")
    return look.find(f"{W}del") is not None or (
        hidden is not None and hidden.get(f"{W}val") not in ("0", "false")
    )
