"""Read the values in a sentence in a canonical form: numbers, units, months, weekdays, times.

A value may be read in several ways: 1.200 is 1200 or 1.2, 03/05 is a day of March or of May. Two values are
the same if they have a reading in common.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Literal

from ragweave.models.calendar import (
    COUNT_WORDS,
    MONTHS,
    NUMBER_WORDS,
    ORDINALS,
    SCALES,
    TENS,
    UNSURE_WORDS,
    WEEKDAYS,
)
from ragweave.models.text import fold
from ragweave.models.units import SIGNS, Unit, unit_of

Kind = Literal["number", "month", "weekday"]

_DATE = re.compile(
    r"(?<![\w.])(?:(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d\d))(?![\w/])"
)
_CJK_MONTH = re.compile(r"(\d{1,2})\s?月")
_GAP = "\u00a0\u202f\u2009'’"
_NUMBER = re.compile(
    rf"(?P<sign>(?<![\w)\]])[-−](?=\d))?"
    rf"(?P<digits>\d{{1,3}}(?:[{_GAP} ]\d{{3}})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,:/]\d+)*)"
)
_PERIOD = re.compile(r"\s?([ap])\.?\s?m\b\.?", re.I)
_BEHIND = re.compile(
    r"[\s\u00a0\u202f-]{0,2}([€$£¥%‰]|°\s?[CF]?|[^\W\d_]+(?:/[^\W\d_]+|[²³23](?!\w))?\.?)", re.I
)
_BEFORE = re.compile(r"(?:([€$£¥])|\b([A-Z]{3}|[Kk]r\.?|Fr\.))\s?[-−]?$")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_HAN = re.compile(r"[一二两三四五六七八九十百千]+(?=[^\W\d_]|$)")
_HAN_DIGITS = dict(zip("零一二三四五六七八九", range(10), strict=True)) | {"两": 2}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000}


@dataclass(frozen=True)
class Value:
    """A value of a text.

    Attributes:
        kind: a number (also years, days and clock times), a month or a weekday.
        readings: canonical forms; a clock time is `t` and its minutes of the day.
        text: the words of the text.
        unit: the unit of a number, or None.
        sure: whether the text certainly states the value; words such as `one`, `once` and `second` may not.
    """

    kind: Kind
    readings: frozenset[str]
    text: str
    unit: Unit | None = None
    sure: bool = True

    def same(self, other: Value) -> bool:
        """Return whether both may be the same value, whatever their units."""
        return self.kind == other.kind and not self.readings.isdisjoint(other.readings)

    def amounts(self) -> list[float]:
        """Return the finite numbers among the readings, without clock times, fractions or 127.0.0.1."""
        found: list[float] = []
        for reading in self.readings:
            number = _float_or_none(reading)
            if number is not None:
                found.append(number)
        return found


def _float_or_none(reading: str) -> float | None:
    """Return a reading as a finite number, or None."""
    try:
        number = float(reading)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@lru_cache(maxsize=4_000)
def values(text: str) -> tuple[Value, ...]:
    """Return the values of a text: first those in figures in order, then those in words."""
    taken: list[tuple[int, int]] = []
    found: list[Value] = []
    for m in _DATE.finditer(text):
        made = list(_of_date(m))
        if made:
            taken.append(m.span())
            found += made
    for m in _NUMBER.finditer(text):
        if _overlaps(m, taken) or _in_word(text, m) or _CJK_MONTH.match(text, m.start()):
            continue
        found.append(_number(text, m))
    for m in _CJK_MONTH.finditer(text):
        found.append(Value("month", frozenset({m[1].lstrip("0")}), m.group()))
    return (*found, *_of_words(text), *_of_han(text))


def _overlaps(m: re.Match[str], taken: list[tuple[int, int]]) -> bool:
    """Return whether a match overlaps one of the spans."""
    for start, end in taken:
        if start < m.end() and m.start() < end:
            return True
    return False


def units_named(text: str) -> frozenset[Unit]:
    """Return every unit that a text names, with or without a number, as in the head of a column."""
    words = re.findall(rf"[{SIGNS}]\s?[CF]?|[^\W\d_]+(?:/[^\W\d_]+|[²³23](?!\w))?\.?", text)
    found: set[Unit] = set()
    for word in words:
        unit = unit_of(word.replace(" ", ""))
        if unit is not None:
            found.add(unit)
    return frozenset(found)


def _in_word(text: str, m: re.Match[str]) -> bool:
    """Return whether digits are part of a name, as in K2 or GPT-4."""
    before = text[max(0, m.start() - 2) : m.start()]
    return bool(re.search(r"(?:[A-Za-z]|[^\W\d_]-)\Z", before))


def _of_date(m: re.Match[str]) -> Iterator[Value]:
    """Yield the number, month and weekday values of a date in figures."""
    year, month, day, first, second, late = m.groups()
    if year:
        pairs = [(int(month), int(day))]
        years = {year}
    else:
        pairs = [(int(second), int(first)), (int(first), int(second))]
        years = {late} if len(late) == 4 else {late.lstrip("0") or "0", f"19{late}", f"20{late}"}
    days: set[str] = set()
    months: set[str] = set()
    weekdays: set[str] = set()
    for of_year, of_month in pairs:
        if 1 <= of_year <= 12 and 1 <= of_month <= 31:
            months.add(str(of_year))
            days.add(str(of_month))
            weekdays.add(_weekday(int(max(years)), of_year, of_month))
    if not days:
        return
    yield Value("number", frozenset(years), m.group())
    yield Value("number", frozenset(days), m.group())
    yield Value("month", frozenset(months), m.group())
    weekdays.discard("")
    if weekdays:
        yield Value("weekday", frozenset(weekdays), m.group(), sure=False)


def _weekday(year: int, month: int, day: int) -> str:
    try:
        return str(date(year, month, day).isoweekday())
    except ValueError:
        return ""


def _number(text: str, m: re.Match[str]) -> Value:
    """Return the value of a figure with its sign, scale and unit."""
    digits = m["digits"]
    readings = _readings(digits)
    period = _PERIOD.match(text, m.end())
    if period:
        minutes = _minutes(digits, period[1].lower())
        if minutes is not None:
            return Value("number", frozenset({f"t{minutes}"}), m.group() + period.group())
    if m["sign"]:
        readings = {f"-{r}" for r in readings}
    behind, unit = _BEHIND.match(text, m.end()), None
    if behind:
        scale = SCALES.get(fold(behind[1]).strip("."))
        if scale:
            plain = list(filter(_is_plain, readings))
            readings = {_canonical(Decimal(reading) * scale) for reading in plain}
        else:
            unit = unit_of(behind[1].replace(" ", ""))
    before = _BEFORE.search(text, max(0, m.start() - 6), m.start())
    if unit is None and before:
        unit = unit_of(before[1] or before[2])
    return Value("number", frozenset(readings), m.group(), unit)


def _readings(digits: str) -> set[str]:
    """Return the possible readings of a figure: 1.200 is 1200 or 1.2, 14:30 is a time of day."""
    if ":" in digits:
        minutes = _minutes(digits, "")
        times = {digits}
        if minutes is not None:
            times.add(f"t{minutes}")
            if minutes < 720:
                times.add(f"t{minutes + 720}")
        return times
    if "/" in digits:
        return {digits}
    plain = re.sub(rf"[{_GAP} ]", "", digits)
    separators = re.findall(r"[.,]", plain)
    out: set[str] = set()
    if not separators:
        out.add(plain)
    elif len(set(separators)) == 2:
        last = separators[-1]
        other = "," if last == "." else "."
        out.add(plain.replace(other, "").replace(last, "."))
    else:
        grouped = re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", plain)
        if grouped:
            out.add(re.sub(r"[.,]", "", plain))
        if len(separators) == 1:
            out.add(plain.replace(",", "."))
        if not out:
            out.add(plain)
    return {_canonical(r) for r in out}


def _canonical(number: str | Decimal) -> str:
    """Return a number without superfluous zeros; text that is no number (1.2.3) stays."""
    try:
        made = Decimal(number)
        return format(made.normalize() if made else Decimal(0), "f")
    except InvalidOperation:
        return str(number)


def _is_plain(reading: str) -> bool:
    return not reading.startswith("t") and reading.replace(".", "", 1).isdecimal()


def _minutes(digits: str, period: str) -> int | None:
    """Return the minutes of the day of a clock time, or None."""
    hours, _, rest = re.sub(r"[.,]", ":", digits).partition(":")
    if not (hours.isdecimal() and int(hours) < 25 and (not rest or re.fullmatch(r"\d\d", rest))):
        return None
    hour = int(hours) % 12 + (12 if period == "p" else 0) if period else int(hours)
    return hour * 60 + int(rest or 0)


def _of_words(text: str) -> Iterator[Value]:
    """Yield the values of words: numbers, months, weekdays."""
    matches = list(_WORD.finditer(text))
    for n, m in enumerate(matches):
        word = fold(m.group())
        if word in WEEKDAYS:
            yield Value("weekday", frozenset({str(WEEKDAYS[word])}), m.group())
        elif word in MONTHS:
            near = text[max(0, m.start() - 6) : m.start()] + text[m.end() : m.end() + 6]
            capital = m.group()[0].isupper() and bool(text[: m.start()].strip())
            sure = capital or bool(re.search(r"\d", near))
            yield Value("month", frozenset({str(MONTHS[word])}), m.group(), sure=sure)
        number = _of_word(word)
        if number is not None:
            behind = fold(matches[n + 1].group()) if n + 1 < len(matches) else ""
            scale = SCALES.get(behind, 1)
            sure = word not in UNSURE_WORDS and word not in ORDINALS
            yield Value("number", frozenset({str(number * scale)}), m.group(), unit_of(behind), sure)


def _of_word(word: str) -> int | None:
    """Return the number that a word means: twenty-one, einundzwanzig, third."""
    for table in (NUMBER_WORDS, TENS, COUNT_WORDS, ORDINALS):
        if word in table:
            return table[word]
    tens, _, ones = word.partition("-")
    if tens in TENS and ones in NUMBER_WORDS:
        return TENS[tens] + NUMBER_WORDS[ones]
    ones, und, tens = word.partition("und")
    if und and ones in ("ein", *COUNT_WORDS) and COUNT_WORDS.get(tens, 0) >= 20:
        return COUNT_WORDS[tens] + (1 if ones == "ein" else COUNT_WORDS[ones])
    return None


def _of_han(text: str) -> Iterator[Value]:
    """Yield the numbers of Han numerals; a single numeral may be part of a word."""
    for m in _HAN.finditer(text):
        total, digit = 0, 0
        for c in m.group():
            if c in _HAN_SCALES:
                total += (digit or 1) * _HAN_SCALES[c]
                digit = 0
            else:
                digit = _HAN_DIGITS[c]
        yield Value("number", frozenset({str(total + digit)}), m.group(), sure=False)
