"""The parts of a sentence that must agree exactly: numbers with their units, months, and what is negated."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import takewhile

from ragweave.models import text
from ragweave.models.calendar import MONTHS, years_in_digits
from ragweave.models.numerals import SCALES, WORDS, value

_HAN = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1_000, "万": 10**4, "亿": 10**8}

_UNITS = {
    spelling: names.split()[0]
    for names in (
        "% percent percentage",
        "‰ permille promille",
        "km kilometre kilometres kilometer kilometers 公里 千米",
        "m metre metres meter meters 米",
        "cm centimetre centimetres centimeter centimeters 厘米",
        "mm millimetre millimetres millimeter millimeters 毫米",
        "mile miles mi 英里",
        "ft foot feet 英尺",
        "inch inches 英寸",
        "kg kilogram kilograms kilo kilos 公斤 千克",
        "g gram grams 克",
        "pound pounds lb lbs 磅",
        "ton tons tonne tonnes 吨",
        "second seconds sec 秒",
        "minute minutes min 分钟",
        "hour hours h hr hrs 小时",
        "day days 天",
        "week weeks 周",
        "month months 个月",
        "year years",
        "decade decades",
        "century centuries 世纪",
        "dollar dollars usd $ 美元",
        "euro euros eur € 欧元",
        "£ gbp 英镑",
        "franc francs chf",
        "yuan rmb ¥ 元 人民币",
        "celsius °c ℃ 摄氏度",
        "fahrenheit °f",
        "gb gigabyte gigabytes",
        "mb megabyte megabytes",
    )
    for spelling in names.split()
}
UNITS = frozenset(text.stem(spelling) for spelling in _UNITS)
"""Stems of the names of units."""
_BY_LENGTH = sorted(_UNITS, key=len, reverse=True)
_UNIT = (
    "(?P<unit>"
    + "|".join(re.escape(u) + (r"(?![a-z])" if u[-1].isascii() and u[-1].isalpha() else "") for u in _BY_LENGTH)
    + ")?"
)
_SCALE = f"(?P<scale>{'|'.join(SCALES)}|万|亿)?"
_DIGITS = re.compile(
    rf"(?:(?P<bound>[<>≤≥])\s?)?(?P<minus>(?<![\w.)-])[-–−](?=[$€£¥]?\d)|(?<!\w)minus\s)?(?:(?P<cur>[$€£¥]|\b(?:eur|usd|gbp|chf)(?=\s?\d)))?\s?(?<![a-z\d.])(?P<n>\d+(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:st|nd|rd|th|s)?(?![a-z])[\s-]?{_SCALE}[\s-]?{_UNIT}"
)
_WORD = f"(?:{'|'.join(WORDS)})"
_WORDS = re.compile(rf"\b(?P<n>{_WORD}(?:(?:[\s-]|(?<=d)\sand\s){_WORD})*)\b[\s-]?{_UNIT}")
_ALONE = frozenset({"one", "zero", "first", "second", *SCALES})
"""Number words that count only beside others: “one of them”, “a second”, “millions”."""
_HAN_NUMBER = re.compile(
    rf"(?P<n>[零〇一二两三四五六七八九十百千万亿]{{2,40}}|[二两三四五六七八九十](?=[年月日岁天次人个名本部届米公]))\s?{_UNIT}"
)
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_HAN_MONTH = re.compile(r"(\d{1,2}|[一二三四五六七八九十]{1,2})月")
_MONTH = re.compile(rf"\b({'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?")
_BARE_WORDS = frozenset("may march mar mars marz jan dec sep august mai mayo marzo juin juillet".split())
"""Month names that are also other words: they count only beside a number."""


@dataclass(frozen=True)
class Fact:
    """A number or a month.

    Attributes:
        value: canonical digits, or `month 5`.
        unit: canonical unit, or "".
        shown: as it stands in the text.
        bound: `<` or `>` where it stands before the number, else "".
    """

    value: str
    unit: str
    shown: str
    bound: str = ""

    def agrees(self, other: Fact) -> bool:
        """Say whether two facts have the same value and no contradicting units or bounds."""
        pairs = ((self.unit, other.unit), (self.bound, other.bound))
        return self.value == other.value and all(not a or not b or a == b for a, b in pairs)


def units(of: str) -> frozenset[str]:
    """Return the stems of every name of the units that a text measures in: “88 km” is in kilometres."""
    found = {f.unit for f in facts(of) if f.unit}
    return frozenset(text.stem(spelling) for spelling, unit in _UNITS.items() if unit in found)


@lru_cache(maxsize=3_000)
def facts(of: str) -> tuple[Fact, ...]:
    """Return the numbers and months of a text in canonical form.

    Digits, number words and Chinese numerals give the same value (1,200 = 1200; three = 3; 二十 = 20), as do dates in
    words and digits (3 May 1990 = 1990-05-03 = 1990年5月3日). A lone “one”, “first” or “million” is no number.
    """
    flat = years_in_digits(text.fold(of))
    found: list[Fact] = []
    flat = _ISO.sub(lambda m: f" {m[3].lstrip('0')} {_name(int(m[2]))} {m[1]} ", flat)
    flat = _HAN_MONTH.sub(lambda m: f" {_name(int(m[1]) if m[1].isdigit() else _han(m[1]))} 1月", flat)
    for m in _MONTH.finditer(flat):
        beside = flat[max(0, m.start() - 4) : m.start()] + flat[m.end() : m.end() + 4]
        if m[1] not in _BARE_WORDS or re.search(r"\d", beside):
            found.append(Fact(f"month {MONTHS[m[1]]}", "", m[1].capitalize()))
    flat = _HAN_MARK.sub(" ", flat)
    for m in _DIGITS.finditer(flat):
        amount = Decimal(m["n"].replace(",", "")) * (SCALES | _HAN_SCALES).get(m["scale"] or "", 1)
        # Before what begins a line it is the sign of a list.
        if m["minus"] and (m["minus"] != "-" or flat[: m.start()].rpartition("\n")[2].strip()):
            amount = -amount
        shown, bound = m.group().strip().rstrip(" -"), _BOUNDS.get(m["bound"] or "", "")
        found.append(Fact(format(amount.normalize(), "f"), _unit(m["unit"] or m["cur"]), shown, bound))
    for m in _WORDS.finditer(flat):
        said = _parted(m["n"])
        found += [Fact(str(n), "", part) for part, n in said[:-1] if part not in _ALONE]
        part, n = said[-1]
        if part not in _ALONE:
            shown = m.group()[m.group().rindex(part.split()[0]) if len(said) > 1 else 0 :].strip()
            found.append(Fact(str(n), _unit(m["unit"]), shown))
    for m in _HAN_NUMBER.finditer(flat):
        found.append(Fact(str(_han(m["n"])), _unit(m["unit"]), m.group().strip()))
    return tuple(found)


_HAN_MARK = re.compile(r"1月")
_BOUNDS = {"<": "<", "≤": "<", ">": ">", "≥": ">"}


def _name(month: int) -> str:
    return next((name for name, n in MONTHS.items() if n == month), "")


def _unit(spelling: str | None) -> str:
    return _UNITS.get(spelling or "", "")


def _parted(said: str) -> list[tuple[str, int]]:
    """Part number words that do not form one number, as “first three”, and return each with its value."""
    parts: list[tuple[str, int]] = []
    for word in re.findall(r"[a-z]+", said):
        longer = f"{parts[-1][0]} {word}" if parts else word
        if parts and (n := value(longer)) is not None:
            parts[-1] = longer, n
        else:
            parts.append((word, value(word) or 0))
    return [(part.removesuffix(" and"), n) for part, n in parts]


def _han(number: str) -> int:
    """Return the value of Chinese numerals; without 十, 百, 千 they are read digit by digit."""
    if not any(c in _HAN_SCALES for c in number):
        return int("".join(str(_HAN[c]) for c in number))
    total = section = digit = 0
    for c in number:
        if c in _HAN:
            digit = _HAN[c]
        elif _HAN_SCALES[c] >= 10**4:
            total = (total + section + digit or 1) * _HAN_SCALES[c]
            section = digit = 0
        else:
            section += (digit or 1) * _HAN_SCALES[c]
            digit = 0
    return total + section + digit


_NOT = re.compile(
    r"\b(?:not|never|no|none|nobody|nothing|neither|nor|without|cannot|unable|fail(?:s|ed)? to|refus(?:e|es|ed) to)\b"
    r"|n['’]t\b|(?<![特分区])别(?=[人再要让])|不|没有?|未|无(?=法|须|需|关|人)|并非"
)
_NOT_ONLY = re.compile(
    r"\bnot (?:only|just|merely)\b|\bno (?:longer than|fewer than|less than|more than)\b|不仅|不但|不过|未来|不同"
)

_QUOTED_TITLE = re.compile(r"[\"“](?:[A-Z][\w'’]*[\s,()-]*|(?:of|the|a|in|and|to|for|on)\s+)+[)\"”]*[\"”]")
"""A quoted title, whose words deny nothing."""
_CLAUSE = re.compile(r"[,;:()–—，；：]")


@dataclass(frozen=True)
class Negation:
    """One negation.

    Attributes:
        shown: the negating word.
        scope: stems of the next content words.
    """

    shown: str
    scope: frozenset[str]


@lru_cache(maxsize=3_000)
def negations(sentence: str) -> tuple[Negation, ...]:
    """Return the negations of a sentence, each with the next three content words of its clause, or of the next one.

    Quoted titles deny nothing.
    """
    flat = _QUOTED_TITLE.sub(" ", unicodedata.normalize("NFKC", sentence))
    flat = _NOT_ONLY.sub(" ", flat.lower())
    out = []
    for m in _NOT.finditer(flat):
        clauses = map(text.content_terms, _CLAUSE.split(flat[m.end() :]))
        out.append(Negation(m.group(), frozenset(next(filter(None, clauses), [])[:3])))
    return tuple(out)


def with_noun(noun: str, sentence: str) -> set[str]:
    """Return the number that stands with a noun: right before it, after it and “is”, or before “m of” it."""
    after = {
        f.value
        for m in re.finditer(r"(?<![^\W\d])([^\W\d]+)(?: (?:is|was|are|were|of)|:)? ([^\s\d]*\d\S*)", sentence)
        if noun in text.terms(m[1])
        for f in facts(m[2])
    }
    found = re.finditer(r"(?<!\S)([^\s\d]*\d\S* [^\W\d]{1,4}) of ([^\W\d]+)", sentence)
    of = {f.value for m in found if noun in text.terms(m[2]) for f in facts(m[1])}
    return after | of | counted(noun, sentence)


def counted(noun: str, sentence: str) -> set[str]:
    """Return the numbers that stand right before a noun, or before its adjectives."""
    said = sentence.split()
    found: set[str] = set()
    for i in (i for i, w in enumerate(said) if noun in text.terms(w)):
        back = reversed(said[max(0, i - 3) : i])
        before = takewhile(lambda w: w.lower() not in text.STOP and w[-1] not in ",;:", back)
        found |= {f.value for f in facts(" ".join(reversed([*before]))) if not f.value.startswith("month ")}
    return found
