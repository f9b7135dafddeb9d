"""Write the values of a workbook with what their number formats add to them.

This keeps leading zeros and masks (`00501`, `555-0143`), percent, currency, units, quoted words, and lengths
of time over a day. Unlike in a spreadsheet program, all digits of a value are kept, because rounded values
would answer questions wrongly. Dates are in ISO form.
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
"""Signs between the digits of numbers that only name something, such as telephone numbers."""
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
    """Return a number with the percent sign, currency or unit of its number format, and all of its digits."""
    whole = float(value).is_integer() and abs(value) < 1e15
    # 15 digits: 17.990000000000002 was typed as 17.99.
    plain = str(int(value)) if whole else f"{Decimal(f'{value:.15g}'):f}"
    if form in ("", "General") or len(form) > 255:
        return signed(value, plain, form)
    section = _section(value, form)
    tokens = [match.groups() for match in _TOKEN.finditer(section)]
    has_digits = bool(_places(tokens))
    if not has_digits and "general" not in section.lower():
        word = _words(tokens)
        return word if any(map(str.isalnum, word)) else signed(value, plain, form)
    masked = _masked(int(value), section) if whole else ""
    if masked:
        return masked
    text = signed(value, plain, form)
    return text if text != plain else _with_unit(plain, tokens, section)


def _words(tokens: list[tuple[str, ...]]) -> str:
    """Return the quoted and escaped characters of a format."""
    texts = [token[0] or token[1] or "" for token in tokens]
    return "".join(texts).strip()


def _places(tokens: list[tuple[str, ...]]) -> list[int]:
    """Return which tokens of a format are places of digits."""
    return [n for n, token in enumerate(tokens) if token[3]]


def elapsed(value: timedelta, form: str) -> str:
    """Return a length of time in the unit that its format begins with: `37:30`, `90:15.5`."""
    total = value.total_seconds()
    sign, seconds = ("-" if total < 0 else ""), round(abs(total), 3)
    match = _ELAPSED.search(form)
    unit = match[1][0].lower() if match else "h"
    rest = f"{seconds % 60:06.3f}".rstrip("0").rstrip(".")
    if unit == "s":
        return f"{sign}{seconds:.3f}".rstrip("0").rstrip(".")
    if unit == "m":
        return f"{sign}{int(seconds // 60)}:{rest}"
    text = f"{sign}{int(seconds // 3600)}:{int(seconds % 3600 // 60):02}"
    shows_seconds = seconds % 60 or "s" in _QUOTED.sub("", form).lower()
    return f"{text}:{rest}" if shows_seconds else text


def _is_time(form: str) -> bool:
    """Return whether a format shows a time and no day."""
    plain = _QUOTED.sub("", form).lower()
    return "h" in plain and "y" not in plain and "d" not in plain


def _section(value: float, form: str) -> str:
    """Return the part of a format for a value: by conditions, or for positive, negative and zero."""
    sections = _sections(form)
    has_condition = False
    for section in sections[:2]:
        condition = _CONDITION.search("".join(re.findall(r"\[([^\]]*)\]", section)))
        if condition:
            has_condition = True
            if _holds(value, condition[1], float(condition[2])):
                return section
    if has_condition:
        return sections[-1] if len(sections) > 1 else ""
    if value > 0 or len(sections) < 2:
        return sections[0]
    at = 1 if value < 0 else 2
    return sections[at] if at < len(sections) else sections[0]


def _sections(form: str) -> list[str]:
    """Return the parts of a format between its semicolons; those in quotes and brackets do not count."""
    sections, start = [], 0
    bare = _QUOTED.sub(lambda match: "x" * len(match[0]), form)
    for at, character in enumerate(bare):
        if character == ";":
            sections.append(form[start:at])
            start = at + 1
    sections.append(form[start:])
    return sections


def _holds(value: float, sign: str, limit: float) -> bool:
    """Return whether a value meets a condition such as `>= 100`."""
    if sign == "<>":
        return value != limit
    if sign == "=":
        return value == limit
    if value == limit:
        return sign in ("<=", ">=")
    return value < limit if sign[0] == "<" else value > limit


def _masked(value: int, section: str) -> str:
    """Return a whole number in a mask of digits, "" if the format is none: `00501`, `(020) 555-0143`."""
    body = _mask(section)
    places = re.findall("[0#]", body)
    slots = len(places)
    if not 1 < slots <= _MOST or set(body) - set(f"0#{_MASK}") or re.search(r"[#0]\.[0#]", body):
        return ""
    # From the first zero on, each place has a digit. With fewer than two zeros, spaces group thousands.
    least = slots - places.index("0") if "0" in places else 0
    if "/" in body or (least < 2 and not set(body.strip(_MASK)) - set("0# ")):
        return ""
    return ("-" if value < 0 else "") + _filled(str(abs(value)).zfill(least), body, slots)


def _mask(section: str) -> str:
    """Return the characters of a format without quotes, escapes and what only concerns its look."""
    bare = re.sub(r"\[[^\]]*\]", "", section)
    bare = re.sub(r"[_*].", "", bare)
    mask = ""
    for match in re.finditer(r'"([^"]*)"|\\(.)|.', bare):
        if match[1] != "":
            mask += match[1] or match[2] or match[0]
    return mask.strip()


def _filled(digits: str, body: str, slots: int) -> str:
    """Write digits into a mask from its end; digits that do not fit come before it."""
    cut = max(0, len(digits) - slots)
    left = list(digits[cut:])
    text = ""
    for character in reversed(body):
        if character in "0#":
            text = (left.pop() if left else "") + text
        elif left or character == "(":
            text = character + text
    return (digits[:cut] + text).strip()


def _with_unit(plain: str, tokens: list[tuple[str, ...]], section: str) -> str:
    """Return a number with the words of its format; a number shown in thousands stays plain."""
    if re.search(r"[0#?],+(?![0#?,])", section) or "E+" in section or "E-" in section or "/" in section:
        return plain
    places = _places(tokens)
    if not places:
        places = [n for n, token in enumerate(tokens) if token[4] in ("G", "g")]
    if not places:
        return plain
    before = _words(tokens[: places[0]])
    after = _words(tokens[places[-1] + 1 :])
    lead = f"{before} " if any(map(str.isalpha, before)) else ""
    is_unit = any(map(str.isalpha, after)) or not set(after).isdisjoint("°%‰²³")
    return f"{lead}{plain} {after}" if is_unit else f"{lead}{plain}"
