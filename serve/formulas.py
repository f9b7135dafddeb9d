"""Texts of sources in HTML for pages without scripts: TeX becomes MathML, of the signs that `js/maths.js` draws."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

from ragweave.components.markdown import TEX

_LONGEST = 2_000
"""Characters of a formula that is drawn."""
_ATTRIBUTES = frozenset("display mathvariant stretchy fence accent columnalign linethickness".split())
_PLAIN = re.compile(r"[\w.-]*")


def with_formulas(text: str) -> str:
    """Return a text as HTML, its formulas drawn; one that cannot be stays as it is written."""
    parts, at = [], 0
    for found in TEX.finditer(text):
        parts += [escape(text[at : found.start()]), _drawn(found)]
        at = found.end()
    return "".join([*parts, escape(text[at:])])


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
