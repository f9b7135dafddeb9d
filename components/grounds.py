"""What a verdict rests on: words that stand in a passage, and values that these words hold.

The check never takes a model's word for it. The words that it copies must be in the passage that it names,
and what the sentence states in figures, units, dates and names must be in those words, in the titles of their
passages or, for names, in the question.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from ragweave.corpora.meta import guess_language
from ragweave.models import tables
from ragweave.models.text import UNSPACED_LETTER, fold, names, script, stem
from ragweave.models.units import Unit
from ragweave.models.values import Value, units_named, values

MOST = 3
"""Sentences or rows that words may span."""
_SKIPPED = re.compile(r"\s*(?:\.{3}|…|\[…\]|\[\.\.\.\])\s*")
"""What a model writes in place of the middle of a sentence."""
_SHORT = 2
"""Words that a copied part needs, so that a single one found anywhere decides nothing."""
_LIKE = {
    "’": "'",
    "‘": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "–": "-",
    "—": "-",
    "−": "-",
    "\u00ad": "",
    "*": "",
    "`": "",
}
_PREFIX, _TAIL = 4, 3
"""Letters that two forms of a name share at least, and by which they differ at most."""
_ROUNDED = 0.002
"""How far a number may be from the exact one, as a share of it, whatever digits are written."""
_COMBINED = 8
"""Numbers of the words from which sums of several are tried."""


class Grounds(NamedTuple):
    """Words of a passage that decide a verdict: whole sentences, or rows below their heads.

    Attributes:
        passage: number of the passage, from 1.
        start: where they begin in it.
        end: where they end.
        text: the words, with the heads of the columns where they are a row.
    """

    passage: int
    start: int
    end: int
    text: str


def find(words: str, passages: Sequence[str], named: int) -> Grounds | None:
    """Return the sentences in which copied words stand, in the passage that is named or else in any other.

    White space, case, quotation marks and emphasis do not count. None if the words stand nowhere, or span
    more than three sentences.
    """
    order = [named, *(n for n in range(1, len(passages) + 1) if n != named)]
    for number in order:
        if 1 <= number <= len(passages):
            text = passages[number - 1]
            place = _place(words, text)
            if place is not None:
                return Grounds(number, *place, _with_heads(text, *place))
    return None


def _place(words: str, text: str) -> tuple[int, int] | None:
    """Return [start, end) of the whole sentences in which words stand, or None."""
    plain, places = _plain(text)
    parts = [_plain(part)[0].strip() for part in _SKIPPED.split(words)]
    parts = [part.strip(" \"'|") for part in parts if part.strip(" \"'|.")]
    if not parts or (len(" ".join(parts).split()) < _SHORT <= len(plain.split()) and not _unspaced(parts)):
        return None
    best: tuple[int, int] | None = None
    start = _at(plain, parts[0], 0)
    while start >= 0 and best is None:
        end = start + len(parts[0])
        for part in parts[1:]:
            at = _at(plain, part, end)
            end = at + len(part) if at >= 0 else -1
            if end < 0:
                return None
        best = _whole(text, places[start], places[end - 1] + 1)
        start = _at(plain, parts[0], start + 1)
    return best


def _unspaced(parts: Sequence[str]) -> bool:
    return len("".join(parts)) >= 2 * _SHORT and bool(UNSPACED_LETTER.search("".join(parts)))


def _at(plain: str, part: str, start: int) -> int:
    """Return where a part begins at the start of a word and ends at the end of one, or -1."""
    at = plain.find(part, start)
    while at >= 0:
        opens = at == 0 or not (_joined(plain[at - 1]) and _joined(part[0]))
        end = at + len(part)
        closes = end == len(plain) or not (_joined(plain[end]) and _joined(part[-1]))
        if opens and closes:
            return at
        at = plain.find(part, at + 1)
    return -1


def _joined(c: str) -> bool:
    """Tell whether a character belongs to the word or number around it."""
    return c.isalnum() and not UNSPACED_LETTER.match(c)


def _plain(text: str) -> tuple[str, list[int]]:
    """Return a text without what does not count, and for each of its characters the place that it has in the text."""
    out: list[str] = []
    places: list[int] = []
    for n, c in enumerate(text):
        if c.isspace() or c == "|":
            if out and out[-1] != " ":
                out.append(" ")
                places.append(n)
            continue
        for plain in unicodedata.normalize("NFKC", _LIKE.get(c, c)).casefold():
            out.append(plain)
            places.append(n)
    return "".join(out), places


def _whole(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Widen a place to the sentences or rows that it touches; None if they are more than three."""
    touched = [(a, b) for a, b in tables.spans(text) if a < end and start < b]
    if not touched:
        return start, end
    return (touched[0][0], touched[-1][1]) if len(touched) <= MOST else None


def _with_heads(text: str, start: int, end: int) -> str:
    heads = tables.heads_above(text, start)
    return f"{heads}\n{text[start:end]}" if heads else text[start:end]


def lacking(
    sentence: str, grounds: Sequence[Grounds], passages: Sequence[tuple[str, str]], question: str
) -> str:
    """Return the first value of a sentence that its grounds do not hold, or "".

    Args:
        sentence: what was written.
        grounds: the words that decide.
        passages: (title, text) of all that the checking model saw.
        question: what was asked: a name may come from it.
    """
    words = "\n".join(g.text for g in grounds)
    titles = "\n".join(dict.fromkeys(passages[g.passage - 1][0] for g in grounds))
    around = "\n".join(passages[g.passage - 1][1] for g in grounds)
    held = values(f"{titles}\n{words}")
    for value in values(sentence):
        if value.sure and not _holds(value, held, f"{titles}\n{around}"):
            return value.text
    return missing_name(sentence, words, titles, question, [text for _, text in passages])


def _holds(value: Value, held: Sequence[Value], around: str) -> bool:
    """Tell whether values hold one, with its unit: at the number, or apart from it where no other unit is."""
    same = [h for h in held if h.same(value)]
    if value.unit is None or not same:
        return bool(same)
    if any(h.unit == value.unit for h in same):
        return True
    bare = any(h.unit is None for h in same)
    return bare and value.unit in units_named(around)


def missing_name(sentence: str, words: str, titles: str, question: str, passages: Sequence[str]) -> str:
    """Return the first name of a sentence that words, titles and question do not have, or "".

    Names are not compared between scripts. Between languages, and in one that writes all nouns with a
    capital, only names of several words count.
    """
    if script(sentence) != script(words):
        return ""
    mine, theirs = (
        guess_language(sentence),
        guess_language(words) or guess_language("\n".join(passages)[:4_000]),
    )
    loose = "de" in (mine, theirs) or bool(mine and theirs and mine != theirs)
    near = f"{words}\n{titles}\n{question}"
    have = _parts(near)
    opening = _parts(sentence)[:1]
    for name in names(sentence):
        parts = _parts(name)
        alone = len(parts) == 1
        if alone and (loose or (parts == opening and not _named_in(name, passages))):
            continue
        held = all(any(_alike(part, other) for other in have) for part in parts)
        if not (held or _abbreviates(name, near)):
            return name
    return ""


def _parts(text: str) -> list[str]:
    return [w for w in re.findall(r"[^\W_]+", fold(text)) if len(w) > 1 or w.isdigit()]


def _alike(one: str, other: str) -> bool:
    """Tell whether two words may be forms of one name."""
    if one == other or stem(one) == stem(other):
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < _PREFIX or len(long) - len(short) > _TAIL:
        return False
    shared = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return shared >= max(_PREFIX, len(short) - 2)


def _named_in(name: str, passages: Iterable[str]) -> bool:
    """Tell whether a passage writes a word with a capital within a sentence, so that it is a name."""
    within = re.compile(rf"[\w,;)]\s{re.escape(name)}\b")
    return any(within.search(text) for text in passages)


def _abbreviates(name: str, text: str) -> bool:
    """Tell whether a name is made of the first letters of words in a text, or the text has those of the name."""
    if name.isupper() and 2 <= len(name) <= 6:
        initials = "".join(w[0] for w in re.findall(r"[^\W\d_]+", text) if w[0].isupper())
        return name in initials
    initials = "".join(w[0] for w in name.split() if w[0].isupper())
    return len(initials) > 1 and bool(re.search(rf"\b{re.escape(initials)}\b", text))


def underivable(
    sentence: str, grounds: Sequence[Grounds], passages: Sequence[tuple[str, str]], question: str
) -> str:
    """Return the first number of a sentence that its grounds neither hold nor give by arithmetic, or "".

    Sums, differences, products, ratios, shares, means, counts of what is listed, roundings and conversions
    count.
    """
    words = "\n".join(g.text for g in grounds)
    titles = "\n".join(dict.fromkeys(passages[g.passage - 1][0] for g in grounds))
    around = "\n".join(passages[g.passage - 1][1] for g in grounds)
    held = values(f"{titles}\n{words}\n{question}")
    for value in values(sentence):
        if value.kind != "number" or not value.sure or _holds(value, held, f"{titles}\n{around}"):
            continue
        numbers = [n for h in held if h.kind == "number" for n in _in_unit(h, value.unit, words)]
        counts = any(a == int(a) and 0 < a <= _listed(words) for a in value.amounts())
        if not (counts or any(_arises(a, value.text, numbers) for a in value.amounts())):
            return value.text
    return missing_name(sentence, words, titles, question, [text for _, text in passages])


def _listed(words: str) -> int:
    """Return how many things words may list: lines, and parts between commas."""
    return 1 + len(re.findall(r"[\n,;、，|]|\s(?:&|\+)\s", words)) + len(re.findall(r",?\s\w{1,3}\s", words))


def _in_unit(value: Value, unit: Unit | None, words: str) -> list[float]:
    """Return the amounts of a value in a unit; none if it has a unit that measures something else.

    A number in a row may have its unit in the head of the column.
    """
    amounts = value.amounts()
    if unit is None:
        return amounts
    if value.unit is not None:
        return [c for a in amounts if (c := _converted(a, value.unit, unit)) is not None]
    apart = [c for a in amounts for u in units_named(words) if (c := _converted(a, u, unit)) is not None]
    return [*amounts, *apart]


def _converted(amount: float, source: Unit, target: Unit) -> float | None:
    """Return an amount in another unit, or None if that measures something else."""
    if source.measures == target.measures:
        return amount * source.factor / target.factor
    if (source.measures, target.measures) == ("celsius", "fahrenheit"):
        return amount * 9 / 5 + 32
    if (source.measures, target.measures) == ("fahrenheit", "celsius"):
        return (amount - 32) * 5 / 9
    return None


def _arises(amount: float, text: str, numbers: Sequence[float]) -> bool:
    """Tell whether an amount follows from others by one step of arithmetic, or a sum of several."""
    tolerance = max(_precision(text), abs(amount) * _ROUNDED)
    few = list(dict.fromkeys(numbers))[:_COMBINED]
    made = [*numbers, sum(numbers), sum(numbers) / max(1, len(numbers))]
    for a, b in combinations(few, 2):
        made += [a + b, abs(a - b), a * b, (a + b) / 2]
        for x, y in ((a, b), (b, a)):
            if y:
                made += [x / y, 100 * x / y, 100 * abs(x - y) / y]
    made += [sum(part) for n in range(3, len(few) + 1) for part in combinations(few, n)]
    return any(abs(m - amount) <= tolerance for m in made)


def _precision(text: str) -> float:
    """Return half of the last digit that is written: 1.94 is given to .005, 1,900 to 50."""
    digits = re.sub(r"[^\d.,]", "", text)
    fraction = re.search(r"[.,](\d{1,2}|\d{4,})$", digits)
    if fraction:
        return 0.5 * 10.0 ** -len(fraction[1])
    whole = re.sub(r"[.,]", "", digits)
    zeros = len(whole) - len(whole.rstrip("0"))
    return 0.5 * 10.0 ** min(zeros, 2)
