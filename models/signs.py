"""Remove raised and circled signs at words, which Unicode normalisation would turn into letters."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_LAST_SIGN = 0x3300
"""Code point after the last raised or circled sign."""
_UNIT = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,2}\Z")
"""The name of a unit before its power."""


def without_signs(text: str) -> str:
    """Replace raised and circled signs by blanks.

    >>> without_signs("Chronicles™ sold 42 m²")
    'Chronicles  sold 42 m²'
    """
    return _signs().sub(_without_sign, text)


@lru_cache(maxsize=1)
def _signs() -> re.Pattern[str]:
    """Return a pattern of raised and circled signs such as ™, Ⓡ and ².

    They are the symbols and numbers (categories So and No) that Unicode defines as raised or circled forms.
    """
    raised = ""
    circled = ""
    for point in range(0x80, _LAST_SIGN):
        sign = chr(point)
        if unicodedata.category(sign) not in ("So", "No"):
            continue
        form = unicodedata.decomposition(sign).partition(" ")[0]
        raised += sign * (form == "<super>")
        circled += sign * (form == "<circle>")
    return re.compile(f"(?<![⁺⁻])[{raised}]+|(?<=[^\\W\\d_])[{circled}]+")


def _without_sign(found: re.Match[str]) -> str:
    """Return a blank for signs at a word, but keep the power of a unit: m², km³."""
    before = _UNIT.search(found.string, max(0, found.start() - 3), found.start())
    return found.group() if before and found.group().isdigit() else " "
