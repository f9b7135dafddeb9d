"""Texts of sources in HTML and in Markdown, with their formulas: the same signs that the page draws (`js/maths.js`).

HTML is for pages without scripts, so that TeX becomes MathML there; readers of Markdown draw TeX themselves.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

_TEX = re.compile(r"\$\$([^$]+?)\$\$|\\\[(.+?)\\\]|\\\((.+?)\\\)|\$(?![\s$])([^$\n]*[^$\s\\])\$(?!\w)", re.S)
_LONGEST = 2_000
"""Characters of a formula that is drawn."""
_ATTRIBUTES = frozenset("display mathvariant stretchy fence accent columnalign linethickness".split())
_PLAIN = re.compile(r"[\w.-]*")
_SIGNS = re.compile(r"[\\\[\]<`*]")
_NO_TEX = re.compile(r"[<`]|\][(\[:]")
"""What a reader of Markdown that knows no TeX would make code, markup, a link or a picture of."""


def with_formulas(text: str) -> str:
    """Return a text as HTML, its formulas drawn; one that cannot be stays as it is written."""
    parts, at = [], 0
    for found in _TEX.finditer(text):
        parts += [escape(text[at : found.start()]), _drawn(found)]
        at = found.end()
    return "".join([*parts, escape(text[at:])])


def in_markdown(text: str) -> str:
    """Return a text in one line of Markdown that shows it as it stands: no link, picture or markup comes of it."""
    parts, at = [], 0
    for found in _TEX.finditer(text):
        parts += [_escaped(text[at : found.start()]), _escaped(found[0]) if _NO_TEX.search(found[0]) else found[0]]
        at = found.end()
    return " ".join("".join([*parts, _escaped(text[at:])]).split())


def _escaped(text: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", text)


def _drawn(found: re.Match[str]) -> str:
    from latex2mathml.converter import convert_to_element

    tex = next(group for group in found.groups() if group is not None)
    display = "block" if found[1] or found[2] else "inline"
    if len(tex) <= _LONGEST:
        try:
            return _markup(convert_to_element(tex.strip(), display=display))
        except Exception:  # of any kind: its parser was not written for strangers' texts
            pass
    return f"<code>{escape(found[0])}</code>"


def _markup(node: Any) -> str:
    """Return an element of MathML as text. The package does not escape what it was given; here nothing else passes."""
    if not re.fullmatch(r"m[a-z]+", node.tag):
        raise ValueError(f"{node.tag} is no element of MathML")
    given = [(k, v) for k, v in node.attrib.items() if k in _ATTRIBUTES and _PLAIN.fullmatch(v)]
    attributes = "".join(f' {name}="{value}"' for name, value in given)
    inner = escape(unescape(node.text or "")) + "".join(map(_markup, node))
    return f"<{node.tag}{attributes}>{inner}</{node.tag}>{escape(unescape(node.tail or ''))}"
