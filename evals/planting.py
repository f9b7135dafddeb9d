"""Plant errors into right sentences by rule, for the check to catch."""

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
        id: id of the right sentence, also after an error was planted into it.
        kind: `right`, or the kind of the planted error.
        question: the question that it answers.
        named: the passages that it cites.
        known: all passages that its writer saw.
        home: the files that state it.
    """

    id: str
    kind: str
    text: str
    question: str
    named: tuple[Strip, ...]
    known: tuple[Strip, ...]
    home: tuple[str, ...] = ()


Maker = Callable[[CheckedSentence], CheckedSentence | None]
"""Plants one kind of error, or returns None if the sentence does not allow it."""

_MONTHS = list(map(str.title, ENGLISH[:12]))
_DAYS = list(map(str.title, ENGLISH[12:]))
_DATE = re.compile(rf"\b(?:{'|'.join([*_MONTHS, *_DAYS])})\b|\b(?:1\d|20)\d\d\b")
_COUNT = re.compile(r"(?<![\w.,:/-])\d+(?:[.,:]\d+)*(?![\w:/-])")
_VERB = re.compile(r"\b(is|are|was|were|has|had|can|may|will|did|does|must|should)\b(?! not)")


def planted(
    right: Sequence[CheckedSentence], most: int, kinds: Mapping[str, Maker] | None = None
) -> list[CheckedSentence]:
    """Return up to `most` wrong sentences, each made from another right one.

    The kinds take turns. Within a kind the sentences come in the order of their digests.
    """
    pools = []
    for kind, make in (kinds or KINDS).items():
        pools.append(_made(kind, make, right))
    used: set[str] = set()
    out: list[CheckedSentence] = []
    while len(out) < most and any(pools):
        for n, pool in enumerate(pools):
            unused = _unused(pool, used)
            if unused:
                out.append(unused[0])
                used.add(unused[0].id)
            pools[n] = unused[1:]
    return out[:most]


def _unused(pool: Sequence[CheckedSentence], used: set[str]) -> list[CheckedSentence]:
    """Return the sentences of a pool whose right sentence has no error yet."""
    out = []
    for s in pool:
        if s.id not in used:
            out.append(s)
    return out


def digest(*parts: str) -> str:
    """Return a key that puts sentences in a fixed order."""
    return hashlib.sha256("|".join(parts).encode()).hexdigest()


def _made(kind: str, make: Maker, right: Iterable[CheckedSentence]) -> list[CheckedSentence]:
    """Return the wrong sentences of one kind, without those that the error left unchanged."""
    out = []
    for s in sorted(right, key=lambda s: digest(kind, s.id)):
        made = make(s)
        if made is None:
            continue
        if (made.text, made.named, made.known) != (s.text, s.named, s.known):
            out.append(replace(made, kind=kind))
    return out


def pick(s: CheckedSentence, many: Iterable[str]) -> str:
    """Return one of many texts, always the same for a sentence; "" if there are none."""
    found = list(dict.fromkeys(many))
    return found[zlib.crc32(s.id.encode()) % len(found)] if found else ""


def replaced(s: CheckedSentence, m: re.Match[str], other: str) -> CheckedSentence:
    """Replace the matched part of the text of a sentence."""
    return replace(s, text=s.text[: m.start()] + other + s.text[m.end() :])


def _count(s: CheckedSentence) -> re.Match[str] | None:
    """Return the first number of a sentence that is no year."""
    for m in _COUNT.finditer(s.text):
        if not _DATE.fullmatch(m.group()):
            return m
    return None


def number(s: CheckedSentence) -> CheckedSentence | None:
    """Change a number that is no year."""
    m = _count(s)
    if m is None:
        return None
    whole = re.match(r"\d+", m.group())
    assert whole is not None
    more = str(int(whole.group()) + 2 + zlib.crc32(s.id.encode()) % 7)
    return replaced(s, m, more + m.group()[whole.end() :])


def date(s: CheckedSentence) -> CheckedSentence | None:
    """Change a month, a weekday or a year, preferably to one in the passages that the writer saw."""
    m = _DATE.search(s.text)
    if m is None:
        return None
    names: list[str] = []
    for group in (_MONTHS, _DAYS):
        if m.group() in group:
            names = group
    alike = []
    for passage in s.known:
        for found in _DATE.findall(passage["text"]):
            same_kind = found in names if names else found.isdigit()
            if same_kind and found not in s.text:
                alike.append(found)
    by = 1 + zlib.crc32(s.id.encode()) % 4
    if names:
        later = names[(names.index(m.group()) + by) % len(names)]
    else:
        later = str(int(m.group()) + by)
    return replaced(s, m, pick(s, alike) or later)


def name(s: CheckedSentence) -> CheckedSentence | None:
    """Replace a name by another name of the cited passages."""
    mine = ""
    for found in text.names(s.text):
        if found in s.text and (" " in found or not s.text.startswith(found)):
            mine = found
    others = _other_names(s)
    if not mine or not others:
        return None
    return replace(s, text=s.text.replace(mine, pick(s, others)))


def _other_names(s: CheckedSentence) -> list[str]:
    """Return names of the cited passages without a word of the sentence, preferably of several words."""
    terms = set(text.terms(s.text))
    others = []
    for passage in s.named:
        for found in text.names(passage["text"]):
            if len(found) > 3 and not set(text.terms(found)) & terms:
                others.append(found)
    several = []
    for found in others:
        if " " in found and found not in _MONTHS:
            several.append(found)
    return several or others


def negation(s: CheckedSentence) -> CheckedSentence | None:
    """Negate the sentence, in English."""
    m = _VERB.search(s.text)
    if m is None or re.search(r"\b(?:not|no|never|der|die|le|la|les|el|und|est)\b", s.text):
        return None
    return replaced(s, m, f"{m.group()} not")


def row(s: CheckedSentence) -> CheckedSentence | None:
    """Replace a number by another one of the cited passages, say of another row of a table."""
    return _exchanged(s, s.named)


def elsewhere(s: CheckedSentence) -> CheckedSentence | None:
    """Replace a number by one of a passage that is not cited."""
    cited = [passage["id"] for passage in s.named]
    others = []
    for passage in s.known:
        if passage["id"] not in cited:
            others.append(passage)
    return _exchanged(s, others)


def _exchanged(s: CheckedSentence, passages: Iterable[Strip]) -> CheckedSentence | None:
    """Replace a number by one of the same length from the passages."""
    m = _count(s)
    if m is None:
        return None
    alike = []
    for passage in passages:
        for found in _COUNT.findall(passage["text"]):
            if len(found) == len(m.group()) and found not in s.text and not _DATE.fullmatch(found):
                alike.append(found)
    other = pick(s, alike)
    return replaced(s, m, other) if other else None


def citation(s: CheckedSentence) -> CheckedSentence | None:
    """Cite a passage that does not state the sentence instead of the one that does."""
    others = []
    for passage in s.known:
        if passage["locator"].get("file") not in s.home:
            others.append(passage)
    if not others:
        return None
    return replace(s, named=(others[zlib.crc32(s.id.encode()) % len(others)],))


KINDS: dict[str, Maker] = {
    "number": number,
    "date": date,
    "name": name,
    "negation": negation,
    "row": row,
    "elsewhere": elsewhere,
    "citation": citation,
}
"""What plants each kind of error."""
