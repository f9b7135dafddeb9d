"""Read what a page shows by elements instead of text: ticked boxes, chosen entries, formulas."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from ragweave.corpora.formats.pictured import pictured

ON, OFF = "☒", "☐"
_TYPED = frozenset("text number date datetime-local month week time email tel url color range".split())
"""Types of fields whose value a reader sees."""
_FONT = re.compile(r"font-family\s*:\s*([^;,]+)", re.I)
_TEX = "application/x-tex"
_SPOKEN = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt", "legend"))
"""Elements in which a button is what opens a part, and has its title."""


def state(root: Any) -> None:
    """Replace form fields, formulas and buttons of a page by the words and signs that they show."""
    for element in list(root.iter("input", "select", "textarea", "math", "button")):
        text = _said(element)
        parent = element.getparent()
        if text and parent is not None:
            span = etree.Element("span")
            for name in ("hidden", "style"):
                if element.get(name) is not None:
                    span.set(name, element.get(name))
            span.text, span.tail = text if element.tag == "math" else f" {text} ", element.tail
            span.sourceline = element.sourceline
            parent.replace(element, span)
    for element in root.iter("font", "span"):
        _picture(element)


def _picture(element: Any) -> None:
    """Write the letters of an element as its font shows them, where they are pictures there."""
    styled = _FONT.search(element.get("style") or "")
    font = styled[1] if styled else element.get("face") or ""
    if font:
        for inner in element.iter():
            if inner.text:
                inner.text = pictured(font, inner.text)
            if inner.tail and inner is not element:
                inner.tail = pictured(font, inner.tail)


def _said(element: Any) -> str:
    """Return what a reader sees of an element, or "" if it stays as it is."""
    tag = element.tag
    if tag == "input":
        return _entered(element)
    if tag == "select":
        chosen = map(_plain, element.findall(".//option[@selected]"))
        return ", ".join(filter(None, chosen))
    if tag == "math":
        return _formula(element)
    if tag == "button":
        is_title = next(element.iterancestors(*_SPOKEN), None) is not None
        return _plain(element) if is_title else ""
    return _plain(element)


def _entered(element: Any) -> str:
    kind = (element.get("type") or "text").lower()
    if kind in ("checkbox", "radio"):
        return ON if element.get("checked") is not None else OFF
    return " ".join((element.get("value") or "").split()) if kind in _TYPED else ""


def _formula(element: Any) -> str:
    """Return a formula as its page writes it for those who do not see it, else its signs."""
    stated = " ".join((element.get("alttext") or "").split())
    if stated:
        return stated
    for note in element.iter("annotation"):
        if note.get("encoding") == _TEX:
            return _plain(note)
    return _plain(element)


def _plain(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())
