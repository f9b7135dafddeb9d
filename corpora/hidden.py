"""Remove the text of a document that readers do not see, and count it for a warning.

Invisible text is a known way to give instructions to a program that reads a file for a person. It is removed
when the file is read, so that no later step takes it for the document's content. Visible text always stays:
prompts quote it as data, and no instruction supports a statement in the check.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ragweave.corpora.blocks import Block
from ragweave.corpora.types import Span

_INVISIBLE = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""Invisible characters, without the joiners that Persian, Indian scripts and emoji need."""
_NOTED = 10
"""Smallest number of invisible characters for a warning: any editor leaves a few."""
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|$)|"
    r"font(?:-size)?\s*:\s*(?:[^;:]*\s)?(?:0?\.\d+|0|1(?:\.\d+)?(?:px|pt)|0(?:\.\d+)?\w+)\s*(?:[;!/]|$)|"
    r"(?:left|right|top|text-indent|margin-left)\s*:\s*-\d{3,}|"
    r"clip(?:-path)?\s*:\s*(?:rect\(\s*0|inset\(\s*(?:50|100)%)",
    re.I,
)
_COLOR = re.compile(r"(?<![\w-])color\s*:\s*([^;!]+)", re.I)
_BACKGROUND = re.compile(r"background(?:-color|-image)?\s*:\s*([^;!]+)", re.I)
_WHITE = re.compile(
    r"#f{3}(?:f|f{3}(?:f{2})?)?|#f[a-f]f[a-f]f[a-f]|white|"
    r"rgba?\(\s*25[0-5]\s*,?\s*25[0-5]\s*,?\s*25[0-5].*\)|"
    r"transparent|rgba\([^)]*,\s*0(?:\.0+)?\)",
    re.I,
)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_WORDS = 4
"""Smallest number of words of a hidden part for a warning: every page has hidden marks and single words."""


def warnings_of(hidden: Sequence[str], invisible: int) -> tuple[str, ...]:
    """Return the warnings about hidden parts and the number of invisible characters of a file."""
    found: list[str] = []
    parts = [part for part in hidden if len(part.split()) >= _WORDS]
    if parts:
        plural = "s" if len(parts) > 1 else ""
        found.append(f"{len(parts)} hidden part{plural} left out, which no reader sees")
    if invisible >= _NOTED:
        found.append(f"{invisible} invisible characters were left out")
    return tuple(found)


def seen(blocks: Sequence[Block]) -> tuple[tuple[Block, ...], int]:
    """Remove invisible characters from blocks, move their spans, and return the number of the characters."""
    count = 0
    out: list[Block] = []
    for block in blocks:
        at = [match.start() for match in _INVISIBLE.finditer(block.text)]
        if at:
            count += len(at)
            spans = _moved(block.spans, at)
            block = replace(block, text=_INVISIBLE.sub("", block.text), spans=tuple(spans))
        out.append(block)
    return tuple(out), count


def _moved(spans: Sequence[Span], removed: Sequence[int]) -> list[Span]:
    """Return spans in a text without some of its characters; spans of nothing else are left out."""
    moved: list[Span] = []
    for span in spans:
        start = span.start - bisect_left(removed, span.start)
        end = span.end - bisect_left(removed, span.end)
        if end > start:
            moved.append(replace(span, start=start, end=end))
    return moved


class Styles:
    """Find out from the style sheets of a page and its attributes whether an element is visible."""

    def __init__(self, root: Any) -> None:
        self._rules: dict[str, str] = {}
        for style in root.iter("style"):
            for rule in _RULE.finditer(style.text or ""):
                for selector in rule[1].split(","):
                    if re.fullmatch(r"\s*[\w-]*[.#][\w-]+\s*", selector):
                        name = re.sub(r"^[\w-]*(?=[.#])", "", selector.strip())
                        self._rules[name] = f"{self._rules.get(name, '')};{rule[2]}"

    def hides(self, element: Any) -> bool:
        """Return whether an element hides itself: not shown, out of sight, too small, or white on white."""
        if element.get("hidden") is not None or element.get("aria-hidden") == "true":
            return True
        style = self._of(element)
        if _HIDING.search(style):
            return True
        color = _COLOR.search(style)
        plain = (element.get("color") or "") if element.tag == "font" else ""
        if not _WHITE.fullmatch((color[1] if color else plain).strip()):
            return False
        ground = self._ground(element)
        return ground is None or bool(_WHITE.fullmatch(ground))

    def _ground(self, element: Any) -> str | None:
        """Return the background of an element, or None if it and the elements around it state none."""
        around = (element, *element.iterancestors())
        for each in around:
            found = _BACKGROUND.search(self._of(each))
            if found:
                return found[1].strip()
        for each in around:
            if each.get("bgcolor"):
                return str(each.get("bgcolor"))
        return None

    def _of(self, element: Any) -> str:
        """Return the style of an element: the rules of its classes and id, and its own attribute."""
        names = [f".{name}" for name in (element.get("class") or "").split()]
        styles: list[str] = []
        for name in [*names, f"#{element.get('id')}"]:
            if name in self._rules:
                styles.append(self._rules[name])
        return ";".join([*styles, element.get("style") or ""])
