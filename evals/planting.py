"""Errors planted into right sentences by rule: what a check must not let pass."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ragweave.components.evidence import Strip
from ragweave.models import text
from ragweave.models.calendar import ENGLISH

RIGHT = "right"


@dataclass(frozen=True)
class CheckedSentence:
    """A sentence of an answer with its evidence.

    Attributes:
        id: of the sentence that it is, or that it was made of.
        kind: `right`, or the kind of error that was planted.
        question: what it answers.
        named: what it says that it rests on.
        known: all that its writer was shown.
        home: files that state it.
    """

    id: str
    kind: str
    text: str
    question: str
    named: tuple[Strip, ...]
    known: tuple[Strip, ...]
    home: tuple[str, ...] = ()


_MONTHS = [month.title() for month in ENGLISH[:12]]
_DAYS = [day.title() for day in ENGLISH[12:]]
_DATE = re.compile(rf"\b(?:{'|'.join([*_MONTHS, *_DAYS])})\b|\b(?:1\d|20)\d\d\b")
_COUNT = re.compile(r"(?<![\w.,:/-])\d+(?:[.,:]\d+)*(?![\w:/-])")
_VERB = re.compile(r"\b(is|are|was|were|has|had|can|may|will|did|does|must|should)\b(?! not)")


def planted(
    right: Sequence[CheckedSentence],
    most: int,
    kinds: Mapping[str, Callable[[CheckedSentence], CheckedSentence | None]] | None = None,
) -> list[CheckedSentence]:
    """Return `most` wrong sentences, the kinds in turn, each made of another right one in the order of its digest."""
    pools = {kind: _made(kind, make, right) for kind, make in (kinds or KINDS).items()}
    out: list[CheckedSentence] = []
    while len(out) < most and any(pools.values()):
        for pool in pools.values():
            if (found := next((s for s in pool if s.id not in {o.id for o in out}), None)) is not None:
                out.append(found)
            pool[:] = [s for s in pool if s.id not in {o.id for o in out}]
    return out[:most]


def digest(*parts: str) -> str:
    """Return what a fixed order is drawn by."""
    return hashlib.sha256("|".join(parts).encode()).hexdigest()


def _made(
    kind: str, make: Callable[[CheckedSentence], CheckedSentence | None], right: Iterable[CheckedSentence]
) -> list[CheckedSentence]:
    order = sorted(right, key=lambda s: digest(kind, s.id))
    made = ((s, make(s)) for s in order)
    return [
        replace(m, kind=kind)
        for s, m in made
        if m is not None and (m.text != s.text or m.named != s.named or m.known != s.known)
    ]


def pick(s: CheckedSentence, many: Iterable[str]) -> str:
    """Return one of many, always the same for a sentence; "" of none."""
    found = list(dict.fromkeys(many))
    return found[zlib.crc32(s.id.encode()) % len(found)] if found else ""


def _put(s: CheckedSentence, m: re.Match[str], other: str) -> CheckedSentence | None:
    return replace(s, text=s.text[: m.start()] + other + s.text[m.end() :]) if other else None


def _count(s: CheckedSentence) -> re.Match[str] | None:
    return next((m for m in _COUNT.finditer(s.text) if not _DATE.fullmatch(m.group())), None)


def number(s: CheckedSentence) -> CheckedSentence | None:
    """Change a number that is no year."""
    if (m := _count(s)) is None:
        return None
    whole = re.match(r"\d+", m.group())
    assert whole is not None
    more = str(int(whole.group()) + 2 + zlib.crc32(s.id.encode()) % 7)
    return _put(s, m, more + m.group()[whole.end() :])


def date(s: CheckedSentence) -> CheckedSentence | None:
    """Change a month, a weekday or a year, for one that stands in the shown passages where there is one."""
    m = next(_DATE.finditer(s.text), None)
    if m is None:
        return None
    sort = next((names for names in (_MONTHS, _DAYS) if m.group() in names), [])
    held = [f.group() for p in s.known for f in _DATE.finditer(p["text"])]
    like = [d for d in held if d not in s.text and (d in sort if sort else d.isdigit())]
    by = 1 + zlib.crc32(s.id.encode()) % 4
    other = sort[(sort.index(m.group()) + by) % len(sort)] if sort else str(int(m.group()) + by)
    return _put(s, m, pick(s, like) or other)


def name(s: CheckedSentence) -> CheckedSentence | None:
    """Put another name of the passages that it names in the place of one."""
    have = [n for n in text.names(s.text) if n in s.text and (" " in n or not s.text.startswith(n))]
    terms = set(text.terms(s.text))
    held = [
        n for p in s.named for n in text.names(p["text"]) if not set(text.terms(n)) & terms and len(n) > 3
    ]
    held = [n for n in held if n not in _MONTHS and " " in n] or held
    return replace(s, text=s.text.replace(have[-1], pick(s, held))) if have and held else None


def negation(s: CheckedSentence) -> CheckedSentence | None:
    """Deny what is said, in English."""
    m = _VERB.search(s.text)
    if m is None or re.search(r"\b(?:not|no|never|der|die|le|la|les|el|und|est)\b", s.text):
        return None
    return replace(s, text=f"{s.text[: m.end()]} not{s.text[m.end() :]}")


def row(s: CheckedSentence) -> CheckedSentence | None:
    """Give the value that the same passage, another row of its table say, gives to something else."""
    return _exchanged(s, s.named)


def elsewhere(s: CheckedSentence) -> CheckedSentence | None:
    """Give a value of a passage beside the one that it names."""
    named = {p["id"] for p in s.named}
    return _exchanged(s, [p for p in s.known if p["id"] not in named])


def _exchanged(s: CheckedSentence, passages: Iterable[Strip]) -> CheckedSentence | None:
    if (m := _count(s)) is None:
        return None
    others = [o.group() for p in passages for o in _COUNT.finditer(p["text"]) if o.group() not in s.text]
    alike = [o for o in others if len(o) == len(m.group()) and not _DATE.fullmatch(o)]
    return _put(s, m, pick(s, alike))


def citation(s: CheckedSentence) -> CheckedSentence | None:
    """Cite a passage that does not state it; the one that does was shown as well."""
    others = [p for p in s.known if p["locator"].get("file") not in s.home]
    at = zlib.crc32(s.id.encode()) % len(others) if others else 0
    return replace(s, named=(others[at],)) if others else None


KINDS: dict[str, Callable[[CheckedSentence], CheckedSentence | None]] = {
    "number": number,
    "date": date,
    "name": name,
    "negation": negation,
    "row": row,
    "elsewhere": elsewhere,
    "citation": citation,
}
"""Kinds of error, and what plants each."""
