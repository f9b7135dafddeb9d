"""Number lists and headings of OpenDocument by their rules (ODF 1.3, part 3, sections 5.3 and 16.30)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ragweave.corpora.formats.numbering import formatted

_NS = "{urn:oasis:names:tc:opendocument:xmlns:"
TEXT, STYLE = f"{_NS}text:1.0}}", f"{_NS}style:1.0}}"
_ID = "{http://www.w3.org/XML/1998/namespace}id"
_LEVELS = 10
_FORMS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_WHOLE = (
    f"{STYLE}num-list-format",
    "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}num-list-format",
)
_PLACE = re.compile(r"%(\d{1,2})%")
_BULLET = "-"


@dataclass(frozen=True, slots=True)
class _Rule:
    """How a level is numbered: with no form it has none; `levels` are those whose numbers it shows."""

    form: str = ""
    before: str = ""
    after: str = ""
    levels: int = 1
    start: int = 1
    is_bullet: bool = False
    whole: str = ""
    """The number as newer programs write its form: `Article %1%:`."""


class ListNumbers:
    """Counts list items and headings in their order."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self._styles: dict[str, dict[int, _Rule]] = {}
        self._outline: dict[int, _Rule] = {}
        for root in roots:
            for style in root.iter(f"{TEXT}list-style"):
                self._styles[style.get(f"{STYLE}name") or ""] = _rules(style)
            for style in root.iter(f"{TEXT}outline-style"):
                self._outline = _rules(style)
        self._heads: list[int | None] = [None] * _LEVELS
        self._open: list[str] = []
        """Styles of the lists that are open, from the outermost."""
        self._counts: list[int | None] = []
        self._ended: dict[str, list[int | None]] = {}
        """What lists have counted so far, by their style or name."""

    def begin(self, element: Any) -> None:
        """Begin a list, in another or for itself."""
        style = element.get(f"{TEXT}style-name") or (self._open[-1] if self._open else "")
        if not self._open:
            goes_on = element.get(f"{TEXT}continue-list") or (
                style if element.get(f"{TEXT}continue-numbering") == "true" else ""
            )
            self._counts = self._ended.get(goes_on) or [None] * _LEVELS
            for name in filter(None, (style, element.get(_ID))):
                self._ended[name] = self._counts
        self._open.append(style)

    def end(self) -> None:
        """End the innermost list."""
        self._open.pop()

    def item(self, element: Any) -> str:
        """Return the number of an item, `-` for a bullet; an item that only holds a list is not counted."""
        level = min(len(self._open), _LEVELS)
        heading = element.find(f"{TEXT}h")
        if heading is not None and self._open and self._open[-1] not in self._styles:
            return self.heading(heading, _number(heading.get(f"{TEXT}outline-level"), 1))
        rules = self._styles.get(self._open[-1], {}) if self._open else {}
        rule = rules.get(level, _Rule(is_bullet=True))
        counted = next(element.iterchildren(f"{TEXT}p", f"{TEXT}h"), None) is not None
        if not counted or rule.is_bullet or element.tag.endswith("list-header"):
            return _BULLET
        return _next(self._counts, level, rules, element.get(f"{TEXT}start-value")) or _BULLET

    def heading(self, element: Any, level: int) -> str:
        """Return the number of a heading outside lists, "" if it has none."""
        if self._outline.get(level, _Rule()).form == "" or element.get(f"{TEXT}is-list-header") == "true":
            return ""
        start = (
            element.get(f"{TEXT}start-value") if element.get(f"{TEXT}restart-numbering") == "true" else None
        )
        return _next(self._heads, level, self._outline, start)


def _next(counts: list[int | None], level: int, rules: dict[int, _Rule], start: str | None) -> str:
    """Count one more on a level, and return its number as it is shown."""
    rule, before = rules.get(level, _Rule()), counts[level - 1]
    first = int(start) if start and start.isdecimal() and len(start) < 9 else None
    if first is None:
        first = rule.start if before is None else before + 1
    counts[level - 1] = first
    counts[level:] = [None] * (_LEVELS - level)
    if not rule.form:
        return ""
    numbers = {}
    for n in range(1, level + 1):
        other, count = rules.get(n, _Rule()), counts[n - 1]
        if other.form:
            numbers[n] = formatted(other.start if count is None else count, other.form)
    if rule.whole:
        return " ".join(_PLACE.sub(lambda m: numbers.get(int(m[1]), ""), rule.whole).split())
    first_shown = max(1, level - rule.levels + 1)
    parts = [number for n, number in numbers.items() if n >= first_shown]
    return f"{rule.before}{'.'.join(parts)}{rule.after}".strip()


def _rules(style: Any) -> dict[int, _Rule]:
    out = {}
    for rule in style:
        level = _number(rule.get(f"{TEXT}level"), 1)
        if not isinstance(rule.tag, str) or not 0 < level <= _LEVELS:
            continue
        said = rule.get(f"{STYLE}num-format") or ""
        out[level] = _Rule(
            _FORMS.get(said, "decimal" if said else ""),
            rule.get(f"{STYLE}num-prefix") or "",
            rule.get(f"{STYLE}num-suffix") or "",
            _number(rule.get(f"{TEXT}display-levels"), 1),
            _number(rule.get(f"{TEXT}start-value"), 1),
            not rule.tag.endswith(("-number", "outline-level-style")),
            next(filter(None, map(rule.get, _WHOLE)), ""),
        )
    return out


def _number(said: str | None, other: int) -> int:
    return int(said) if said and said.isdecimal() and len(said) < 9 else other
