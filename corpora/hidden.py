"""What a reader of a document does not see: left out, counted, and named.

Text that is invisible on purpose is a known way of giving orders to whatever reads a file for somebody. It is
dropped when the file is read, so that no later step can mistake it for what the document says. Text that
people see stays,
whatever it says: prompts quote it as data, and the check supports nothing by an order.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ragweave.corpora.blocks import Block

_INVISIBLE = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""Characters without a width or sign; the joiners that Persian, Indian scripts and emoji need are not among them."""
_NOTED = 10
"""Invisible characters of a file from which they are worth a warning: a few are left by any editor."""
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
    r"#f{3}(?:f|f{3}(?:f{2})?)?|#f[a-f]f[a-f]f[a-f]|white|rgba?\(\s*25[0-5]\s*,?\s*25[0-5]\s*,?\s*25[0-5].*\)|transparent|"
    r"rgba\([^)]*,\s*0(?:\.0+)?\)",
    re.I,
)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_WORDS = 4
"""Words of a hidden part from which it is counted: hidden marks and single words lie in every page."""


def warnings_of(hidden: Sequence[str], invisible: int) -> tuple[str, ...]:
    """Return what is to be said of a file's hidden parts.

    `hidden` are the parts that were left out because nobody sees them, `invisible` counts characters.
    """
    said = []
    parts = [p for p in hidden if len(p.split()) >= _WORDS]
    if parts:
        said.append(f"{len(parts)} hidden part{'s' if len(parts) > 1 else ''} left out, which no reader sees")
    if invisible >= _NOTED:
        said.append(f"{invisible} invisible characters were left out")
    return tuple(said)


def seen(blocks: Sequence[Block]) -> tuple[tuple[Block, ...], int]:
    """Return blocks without invisible characters, their places moved with the text, and how many there were."""
    count = 0
    out = []
    for block in blocks:
        at = [m.start() for m in _INVISIBLE.finditer(block.text)]
        if at:
            count += len(at)
            ends = (
                (s, s.start - bisect_left(at, s.start), s.end - bisect_left(at, s.end)) for s in block.spans
            )
            spans = tuple(replace(s, start=start, end=end) for s, start, end in ends if end > start)
            block = replace(block, text=_INVISIBLE.sub("", block.text), spans=spans)
        out.append(block)
    return tuple(out), count


class Styles:
    """What the style sheets of a page and its attributes say of whether an element is seen."""

    def __init__(self, root: Any) -> None:
        self._rules: dict[str, str] = {}
        for style in root.iter("style"):
            for m in _RULE.finditer(style.text or ""):
                for selector in m[1].split(","):
                    if re.fullmatch(r"\s*[\w-]*[.#][\w-]+\s*", selector):
                        name = re.sub(r"^[\w-]*(?=[.#])", "", selector.strip())
                        self._rules[name] = f"{self._rules.get(name, '')};{m[2]}"

    def hides(self, element: Any) -> bool:
        """Tell whether an element is hidden by itself: not shown, out of sight, too small, or white on white."""
        if element.get("hidden") is not None or element.get("aria-hidden") == "true":
            return True
        style = self._of(element)
        if _HIDING.search(style):
            return True
        color = _COLOR.search(style)
        plain = (element.get("color") or "") if element.tag == "font" else ""
        if not _WHITE.fullmatch((color[1] if color else plain).strip()):
            return False
        around = (element, *element.iterancestors())
        grounds = [g[1].strip() for e in around for g in _BACKGROUND.finditer(self._of(e))]
        grounds += [e.get("bgcolor") for e in around if e.get("bgcolor")]
        return all(_WHITE.fullmatch(g) for g in grounds[:1])

    def _of(self, element: Any) -> str:
        names = [f".{c}" for c in (element.get("class") or "").split()] + [f"#{element.get('id')}"]
        return ";".join([*(self._rules[n] for n in names if n in self._rules), element.get("style") or ""])
