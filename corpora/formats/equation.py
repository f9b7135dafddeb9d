"""Equations of Office documents (OMML) in one line: E=mc^2, (a+b)/2, √x."""

from __future__ import annotations

import re
from typing import Any

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_PLAIN = re.compile(r"[^\W_]*|[^\W_]+[.,]\d+")
"""An operand of this form needs no brackets next to a sign."""


def equation(element: Any) -> str:
    """Return what an equation, or a part of one, says."""

    def part(name: str) -> str:
        found = element.find(f"{M}{name}")
        return "" if found is None else equation(found)

    kind = element.tag.removeprefix(M) if isinstance(element.tag, str) else ""
    if kind == "t":
        return element.text or ""
    if kind == "f":
        return f"{_bracketed(part('num'))}/{_bracketed(part('den'))}"
    if kind in ("sSup", "sSub", "sSubSup"):
        below, above = part("sub"), part("sup")
        return (
            part("e")
            + (f"_{_bracketed(below)}" if below else "")
            + (f"^{_bracketed(above)}" if above else "")
        )
    if kind == "rad":
        return f"{part('deg')}√{_bracketed(part('e'))}"
    said = "".join(equation(e) for e in element if e.tag != f"{M}ctrlPr")
    return f"({said})" if kind == "d" else said


def _bracketed(said: str) -> str:
    return said if _PLAIN.fullmatch(said) else f"({said})"
