"""Values of a workbook as its number formats show them, where the format holds what the value lacks.

Kept are leading zeros and masks (`00501`, `555-0143`), percent, currency, units and words in quotes, and
lengths of time over a day. All digits of a value stay, however few the format shows; dates are in ISO form. A
library that draws every format would round what a person asks for.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal

from ragweave.corpora.formats.ooxml import signed

_TOKEN = re.compile(r'"([^"]*)"|\\(.)|_.|\*.|\[([^\]]*)\]|([0#?]+)|([^"\\_*\[0#?])', re.S)
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.I)
_QUOTED = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)")
_MASK = "-() ./:"
"""Signs that part the digits of numbers that only name something."""
_MOST = 32
"""Digits of a mask."""


def shown(value: float | date | time | timedelta, form: str) -> str:
    """Return a number, date, time or length of time as a sheet shows it."""
    if isinstance(value, timedelta):
        return elapsed(value, form)
    if isinstance(value, datetime):
        if value.time() == time():
            return value.date().isoformat()
        return value.time().isoformat() if _is_time(form) else value.isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    return number(value, form)


def number(value: float, form: str) -> str:
    """Return a number as its number format shows it: with its percent sign, currency or unit, and all of its digits."""
    whole = float(value).is_integer() and abs(value) < 1e15
    # Without what binary fractions add: 17.990000000000002 was typed as 17.99.
    plain = str(int(value)) if whole else f"{Decimal(f'{value:.15g}'):f}"
    if form in ("", "General") or len(form) > 255:
        return signed(value, plain, form)
    section = _section(value, form)
    tokens = [m.groups() for m in _TOKEN.finditer(section)]
    digits = "".join(d for _, _, _, d, _ in tokens if d)
    if not digits and "general" not in section.lower():
        word = "".join(quoted or escaped or "" for quoted, escaped, *_ in tokens).strip()
        return word if any(map(str.isalnum, word)) else signed(value, plain, form)
    if whole and (masked := _masked(int(value), section)):
        return masked
    told = signed(value, plain, form)
    return told if told != plain else _with_unit(plain, tokens, section)


def elapsed(value: timedelta, form: str) -> str:
    """Return a length of time in the unit that its format begins with: `37:30`, `90:15.5`."""
    seconds = value.total_seconds()
    sign, seconds = ("-" if seconds < 0 else ""), round(abs(seconds), 3)
    found = _ELAPSED.search(form)
    unit = found[1][0].lower() if found else "h"
    rest = f"{seconds % 60:06.3f}".rstrip("0").rstrip(".")
    if unit == "s":
        return f"{sign}{seconds:.3f}".rstrip("0").rstrip(".")
    if unit == "m":
        return f"{sign}{int(seconds // 60)}:{rest}"
    told = f"{sign}{int(seconds // 3600)}:{int(seconds % 3600 // 60):02}"
    return f"{told}:{rest}" if seconds % 60 or "s" in _QUOTED.sub("", form).lower() else told


def _is_time(form: str) -> bool:
    """Tell a format that shows a time and no day."""
    plain = _QUOTED.sub("", form).lower()
    return "h" in plain and not any(c in plain for c in "yd")


def _section(value: float, form: str) -> str:
    """Return the part of a format that is for a value: its sections are for positive, negative and zero."""
    sections, start = [], 0
    bare = _QUOTED.sub(lambda m: "x" * len(m[0]), form)
    for at, c in enumerate(bare):
        if c == ";":
            sections.append(form[start:at])
            start = at + 1
    sections.append(form[start:])
    for section in sections[:2]:
        if m := _CONDITION.search("".join(re.findall(r"\[([^\]]*)\]", section))):
            if _holds(value, m[1], float(m[2])):
                return section
    if any(_CONDITION.search("".join(re.findall(r"\[([^\]]*)\]", s))) for s in sections[:2]):
        return sections[-1] if len(sections) > 1 else ""
    at = 0 if value > 0 or len(sections) < 2 else 1 if value < 0 else 2
    return sections[at] if at < len(sections) else sections[0]


def _holds(value: float, sign: str, limit: float) -> bool:
    compared = {"<": value < limit, ">": value > limit, "=": value == limit}
    return compared[sign[0]] ^ (sign == "<>" and value > limit) or (sign in ("<=", ">=") and value == limit)


def _masked(value: int, section: str) -> str:
    """Return a whole number in a mask of digits, "" where the format is none: `00501`, `(020) 555-0143`."""
    bare = re.sub(r"\[[^\]]*\]", "", section)
    bare = re.sub(r"[_*].", "", bare)
    chars = [m[1] or m[2] or m[0] for m in re.finditer(r'"([^"]*)"|\\(.)|.', bare) if m[1] != ""]
    body = "".join(chars).strip()
    slots = sum(c in "0#" for c in body)
    if not 1 < slots <= _MOST or any(c not in f"0#{_MASK}" for c in body) or re.search(r"[#0]\.[0#]", body):
        return ""
    # From the first zero on, each place holds a digit; without two of them spaces only part thousands.
    places = [c for c in body if c in "0#"]
    least = slots - places.index("0") if "0" in places else 0
    if "/" in body or (least < 2 and not set(body.strip(_MASK)) - set("0# ")):
        return ""
    return ("-" if value < 0 else "") + _filled(str(abs(value)).zfill(least), body, slots)


def _filled(digits: str, body: str, slots: int) -> str:
    """Write digits into a mask from its end; what is too long for it is written before."""
    cut = max(0, len(digits) - slots)
    left, out = list(digits[cut:]), list[str]()
    for c in reversed(body):
        if c not in "0#":
            out.append(c if left or c == "(" else "")
        elif left:
            out.append(left.pop())
    return (digits[:cut] + "".join(reversed(out))).strip()


def _with_unit(plain: str, tokens: list[tuple[str, ...]], section: str) -> str:
    """Return a number with the words that its format puts around it; one that is shown in thousands stays plain."""
    if re.search(r"[0#?],+(?![0#?,])", section) or "E+" in section or "E-" in section or "/" in section:
        return plain
    places = [n for n, t in enumerate(tokens) if t[3]] or [
        n for n, t in enumerate(tokens) if t[4] in ("G", "g")
    ]
    if not places:
        return plain
    before = "".join((t[0] or t[1] or "") for t in tokens[: places[0]]).strip()
    after = "".join((t[0] or t[1] or "") for t in tokens[places[-1] + 1 :]).strip()
    lead = f"{before} " if any(map(str.isalpha, before)) else ""
    tail = f" {after}" if any(c.isalpha() or c in "°%‰²³" for c in after) else ""
    return f"{lead}{plain}{tail}"
