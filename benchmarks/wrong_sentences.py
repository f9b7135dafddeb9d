"""Wrong sentences for benchmarks/check_rates.py, sixty of a kind, each made of a right one by a fixed rule."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragweave.components.evidence import Strip
from ragweave.models import text
from ragweave.models.calendar import ENGLISH

OF_KIND = 60
WRONG = ("number", "date", "name", "negation", "another's value")


@dataclass(frozen=True)
class Said:
    """A sentence with its evidence."""

    id: str
    kind: str
    text: str
    question: str
    named: tuple[Strip, ...]
    known: tuple[Strip, ...]
    answer: str = ""
    """The value that it gives, where the set says which."""
    others: tuple[str, ...] = ()
    """Values of other things in the same passage."""

    @property
    def half(self) -> int:
        """Which half it belongs to, by the digest of what it was made of."""
        return hashlib.sha256(self.id.encode()).digest()[0] % 2


_MONTHS = [month.title() for month in ENGLISH[:12]]
_DATE = re.compile(rf"\b(?:{'|'.join(_MONTHS)})\b|\b(?:1\d|20)\d\d\b")
_COUNT = re.compile(r"(?<![\w.,:/-])\d+(?:[.,:]\d+)?(?![\w:/-])")
_VERB = re.compile(r"\b(is|are|was|were|has|had|can|may|will|did|does)\b(?! not)")


def wrong_ones(right: Sequence[Said]) -> list[Said]:
    """Return sixty of each kind, made of right sentences in the order of their digests."""
    out = []
    for kind, make in zip(WRONG, (number, date, name, negation, value), strict=True):
        order = sorted(right, key=lambda s: hashlib.sha256(f"{kind}{s.id}".encode()).hexdigest())
        made = [(s, make(s)) for s in order]
        out += [replace(s, kind=kind, text=words) for s, words in made if words and words != s.text][:OF_KIND]
    return out


def pick(s: Said, many: Sequence[str]) -> str:
    """Choose one by the digest of a sentence, or none."""
    return many[zlib.crc32(s.id.encode()) % len(many)] if many else ""


def number(s: Said) -> str:
    """Change a number that is no year."""
    found = [m for m in _COUNT.finditer(s.text) if not _DATE.fullmatch(m.group())]
    if not found:
        return ""
    m = found[0]
    whole = re.match(r"\d+", m.group())
    assert whole is not None
    more = str(int(whole.group()) + 2 + zlib.crc32(s.id.encode()) % 7)
    return s.text[: m.start()] + more + m.group()[whole.end() :] + s.text[m.end() :]


def date(s: Said) -> str:
    """Change a month or a year."""
    found = list(_DATE.finditer(s.text))
    if not found:
        return ""
    m, by = found[0], 2 + zlib.crc32(s.id.encode()) % 4
    other = str(int(m.group()) + by) if m.group().isdigit() else _MONTHS[(_MONTHS.index(m.group()) + by) % 12]
    return s.text[: m.start()] + other + s.text[m.end() :]


def name(s: Said) -> str:
    """Put another name of the same passages in the place of one."""
    have = [n for n in text.names(s.text) if n in s.text and (" " in n or not s.text.startswith(n))]
    terms = set(text.terms(s.text))
    others = [n for p in s.named for n in text.names(p["text"]) if not set(text.terms(n)) & terms and len(n) > 3]
    others = [n for n in others if n not in _MONTHS and " " in n] or others
    return s.text.replace(have[-1], pick(s, others)) if have and others else ""


def negation(s: Said) -> str:
    """Deny what is said, in English."""
    m = _VERB.search(s.text)
    if m is None or s.kind == "other language" or re.search(r"\b(?:der|die|le|la|les|el|und|est)\b", s.text):
        return ""
    return f"{s.text[: m.end()]} not{s.text[m.end() :]}"


def value(s: Said) -> str:
    """Give the value that the same passage gives to something else: a number for a number, a name for a name."""
    if s.answer and s.answer in s.text:
        like = [o for o in s.others if sort_of(o) == sort_of(s.answer) and o not in s.text]
        return s.text.replace(s.answer, pick(s, like)) if like else ""
    have = [m.group() for m in _COUNT.finditer(s.text)]
    others = [m.group() for p in s.named for m in _COUNT.finditer(p["text"]) if m.group() not in s.text]
    alike = [o for o in others if have and len(o) == len(have[0])]
    return s.text.replace(have[0], pick(s, alike), 1) if alike else ""


def sort_of(answer: str) -> str:
    """Tell a number from a name from other words."""
    return "number" if re.search(r"\d", answer) else "name" if answer[:1].isupper() else "words"
