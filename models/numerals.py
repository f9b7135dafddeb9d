"""Numbers that are spoken meet those in digits: a question is put in the form that the texts have."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragweave.models.calendar import NUMBER_WORDS, TENS
from ragweave.models.text import STOP, terms

_VALUES = {**NUMBER_WORDS, **TENS}
_ORDINALS = {
    w: n
    for n, w in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        start=1,
    )
}
SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
WORDS = (*_VALUES, *SCALES, *_ORDINALS)
"""Words that `value` reads."""
_WORD = "|".join([*_VALUES, *SCALES])
_NUMBER = re.compile(
    rf"(?<![\w.,:/-])(?:(?P<digits>\d{{1,3}}(?:,\d{{3}})+|\d{{1,9}})(?![.,:/-]?\d|%)|(?P<said>(?:{_WORD})"
    rf"(?:(?:[ -]| and )(?:{_WORD}))*))(?![\w-])",
    re.I,
)
_SMALL = {n: w for w, n in reversed(_VALUES.items())}
_SMALL_FORMS = frozenset(f for n in range(21) for f in (str(n), _SMALL[n]))
_MOST = 1_000_000


def in_words(n: int) -> str:
    """Return a number below a million as it is said.

    >>> in_words(45_030)
    'forty five thousand thirty'
    """
    if n in _SMALL:
        return _SMALL[n]
    if n < 100:
        return f"{_SMALL[n // 10 * 10]} {_SMALL[n % 10]}"
    word, size = ("thousand", 1_000) if n >= 1_000 else ("hundred", 100)
    return " ".join([in_words(n // size), word, *([in_words(n % size)] if n % size else [])])


def value(said: str) -> int | None:
    """Return the number that words say, or None where they are several, as in “two three”.

    >>> value("twenty-five thousand and one")
    25001
    """
    total = part = 0
    below = 10**15  # what a scale must be less than: the last one
    room = 1_000  # what may still be added to the part: less than the last word was worth
    for word in re.split(r"[ -]+", said.lower()):
        if word == "and":
            continue
        if not room:  # nothing goes on behind an ordinal
            return None
        if (size := SCALES.get(word)) is not None:
            if size >= below or (size == 100 and part >= 100):
                return None
            part = max(part, 1) * size
            if size > 100:
                total, part, below = total + part, 0, size
            room = size
            continue
        n = _VALUES[word] if word in _VALUES else _ORDINALS[word]
        if n >= room or (part % 100 and (n >= 10 or part % 10)):
            return None
        part, room = part + n, 0 if word in _ORDINALS else 10 if word in TENS else 1
    return total + part


def as_said(question: str, texts: Iterable[str]) -> str:
    """Return a question with each number in digits or in words, as the texts have it beside the same word.

    Only a form that stands nowhere in the texts beside that word, where the other one does, is replaced: “a batch size
    of one” becomes “1” where they speak of a “batch size of 1”, and “which one” stays. Numbers above twenty are rare
    enough to stand for themselves.
    """
    found = [(m, other) for m in _NUMBER.finditer(question) for other in other_forms(m)]
    held = [f" {' '.join(terms(t))} " for t in texts] if found else []
    for m, other in reversed(found):
        before, after = terms(question[: m.start()]), terms(question[m.end() :])
        before = before[-2:] if before and before[-1] in STOP else before[-1:]
        after = after[:2] if after and after[0] in STOP else after[:1]
        after = [] if m.group().lower() == "one" else after  # mostly a pronoun: “which one is used”
        rare = not ({m.group().lower(), other} & _SMALL_FORMS)

        def stands(form: str, before: list[str] = before, after: list[str] = after, rare: bool = rare) -> bool:
            said = terms(form)
            asked = [[*a, *said, *b] for a, b in ((before, []), ([], after)) if {*a, *b} - STOP]
            return any(f" {' '.join(of)} " in text for of in ([said] if rare else asked) for text in held)

        if stands(other) and not stands(m.group()):
            question = question[: m.start()] + other + question[m.end() :]
    return question


def other_forms(m: re.Match[str]) -> list[str]:
    """Return what stands for a number in the other form: words for digits, digits for words; nothing for a year."""
    if m["digits"]:
        n = int(m["digits"].replace(",", ""))
        return [in_words(n)] if n < _MOST and not 1_500 < int(m["digits"].split(",")[0]) < 2_100 else []
    first, last = (m["said"].lower().split()[n] for n in (0, -1))
    if first in SCALES:
        return []
    scale = last if SCALES.get(last, 0) >= _MOST else ""
    said = value(m["said"][: -len(scale)].strip() if scale else m["said"])
    return [] if said is None else [f"{said} {scale}".strip()]


def both_ways(question: str) -> str:
    """Return a question with its numbers in the other form, the same where it has none; a bare “one” counts nothing."""
    out, at = "", 0
    for m in _NUMBER.finditer(question):
        other = other_forms(m) if m.group().lower() not in ("one", "zero") or _counts(question, m) else []
        out += question[at : m.start()] + (other[0] if other else m.group())
        at = m.end()
    return out + question[at:]


def _counts(question: str, m: re.Match[str]) -> bool:
    """Tell whether “one” is a number: after “of” and at the end of what is named, as in “a batch size of one”."""
    return question[: m.start()].lower().endswith(" of ") and not question[m.end() :].lower().startswith(" of ")
