"""Find the words of a passage that decide a verdict, and check the values of a sentence against them.

The check never relies on a model alone. The words that it copies must be in the passage that it names. The
figures, units, dates and names of the sentence must be in those words, in the titles of their passages or,
for names, in the question.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from ragweave.components.missing_names import missing_name
from ragweave.models import tables
from ragweave.models.text import UNSPACED_LETTER
from ragweave.models.units import Unit
from ragweave.models.values import Value, units_named, values

MOST = 3
"""Sentences or rows that the copied words may span at most."""
_SKIPPED = re.compile(r"\s*(?:\.{3}|…|\[…\]|\[\.\.\.\])\s*")
"""Matches what a model writes for an omitted middle of a sentence."""
_SHORT = 2
"""Words that must be copied, so that a single word found anywhere decides nothing."""
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
_ROUNDED = 0.002
"""Tolerance of a computed number, as a share of it, however many digits are written."""
_COMBINED = 8
"""Numbers of the words that are combined to sums."""


class Grounds(NamedTuple):
    """Words of a passage that decide a verdict: whole sentences, or table rows.

    Attributes:
        passage: number of the passage, from 1.
        start: offset of their first character in the passage.
        end: offset behind their last character.
        text: the words, below the column headings if they are a row.
    """

    passage: int
    start: int
    end: int
    text: str


def find(words: str, passages: Sequence[str], named: int) -> Grounds | None:
    """Return the sentences that contain copied words, from the named passage or else from any other.

    White space, case, quotation marks and emphasis are ignored. Return None if no passage contains the words,
    or if they span more than three sentences.
    """
    for number in dict.fromkeys([named, *range(1, len(passages) + 1)]):
        if not 1 <= number <= len(passages):
            continue
        text = passages[number - 1]
        place = _place(words, text)
        if place is not None:
            start, end = place
            return Grounds(number, start, end, _with_heads(text, start, end))
    return None


def _place(words: str, text: str) -> tuple[int, int] | None:
    """Return [start, end) of the whole sentences that contain words, or None."""
    plain, places = _plain(text)
    parts = _copied_parts(words)
    if not parts or _too_short(parts, plain):
        return None
    start = _at(plain, parts[0], 0)
    while start >= 0:
        end = _end_of_parts(plain, parts, start)
        if end is None:
            return None
        found = _whole(text, places[start], places[end - 1] + 1)
        if found is not None:
            return found
        start = _at(plain, parts[0], start + 1)
    return None


def _copied_parts(words: str) -> list[str]:
    """Return the parts of copied words between omissions, in plain form."""
    parts = []
    for part in _SKIPPED.split(words):
        bare = _plain(part)[0].strip()
        if bare.strip(" \"'|."):
            parts.append(bare.strip(" \"'|"))
    return parts


def _too_short(parts: Sequence[str], plain: str) -> bool:
    """Return whether copied parts are too few words to decide anything; a text as short needs no more."""
    count = len(" ".join(parts).split())
    return count < _SHORT <= len(plain.split()) and not _unspaced(parts)


def _end_of_parts(plain: str, parts: Sequence[str], start: int) -> int | None:
    """Return where the last part ends if the first begins at `start` and the others follow, or None."""
    end = start + len(parts[0])
    for part in parts[1:]:
        at = _at(plain, part, end)
        if at < 0:
            return None
        end = at + len(part)
    return end


def _unspaced(parts: Sequence[str]) -> bool:
    """Return whether parts are long enough in a script without spaces between words."""
    joined = "".join(parts)
    return len(joined) >= 2 * _SHORT and UNSPACED_LETTER.search(joined) is not None


def _at(plain: str, part: str, start: int) -> int:
    """Return the next offset at which a part stands as whole words, or -1."""
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
    """Return whether a character is joined with its neighbours to a word or number."""
    return c.isalnum() and not UNSPACED_LETTER.match(c)


def _plain(text: str) -> tuple[str, list[int]]:
    """Return a text in its compared form, and the offset of each of its characters in the text."""
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
    """Widen a span to the sentences or rows that it touches; None if they are more than three."""
    touched = []
    for first, last in tables.spans(text):
        if first < end and start < last:
            touched.append((first, last))
    if not touched:
        return start, end
    if len(touched) > MOST:
        return None
    return touched[0][0], touched[-1][1]


def _with_heads(text: str, start: int, end: int) -> str:
    """Return a stretch of a text below the column headings of its table."""
    heads = tables.heads_above(text, start)
    return f"{heads}\n{text[start:end]}" if heads else text[start:end]


def lacking(
    sentence: str, grounds: Sequence[Grounds], passages: Sequence[tuple[str, str]], question: str
) -> str:
    """Return the first value of a sentence that its grounds do not contain, or "".

    Args:
        sentence: what was written.
        grounds: the words that decide.
        passages: (title, text) of all that the checking model was shown.
        question: the question; a name may come from it.
    """
    near = _surroundings(grounds, passages)
    held = values(f"{near.titles}\n{near.words}")
    for value in values(sentence):
        if value.sure and not _holds(value, held, f"{near.titles}\n{near.texts}"):
            return value.text
    return missing_name(sentence, near.words, near.titles, question, near.all_texts)


class _Surroundings(NamedTuple):
    """The words of grounds, the titles and texts of their passages, and the texts of all passages."""

    words: str
    titles: str
    texts: str
    all_texts: list[str]


def _surroundings(grounds: Sequence[Grounds], passages: Sequence[tuple[str, str]]) -> _Surroundings:
    words, titles, texts = [], [], []
    for found in grounds:
        title, text = passages[found.passage - 1]
        words.append(found.text)
        texts.append(text)
        if title not in titles:
            titles.append(title)
    all_texts = [text for _, text in passages]
    return _Surroundings("\n".join(words), "\n".join(titles), "\n".join(texts), all_texts)


def _holds(value: Value, held: Sequence[Value], around: str) -> bool:
    """Return whether values include one with its unit.

    The unit must be next to the number. If the number is written without a unit, the unit may be anywhere in
    the text around it.
    """
    units = [other.unit for other in held if other.same(value)]
    if value.unit is None or not units:
        return bool(units)
    if value.unit in units:
        return True
    return None in units and value.unit in units_named(around)


def underivable(
    sentence: str, grounds: Sequence[Grounds], passages: Sequence[tuple[str, str]], question: str
) -> str:
    """Return the first number of a sentence that its grounds neither contain nor give by arithmetic, or "".

    Arithmetic is sums, differences, products, ratios, shares, means, counts of listed things, roundings and
    conversions of units. If all numbers are given, return the first name that is missing.
    """
    near = _surroundings(grounds, passages)
    held = values(f"{near.titles}\n{near.words}\n{question}")
    for value in values(sentence):
        if value.kind != "number" or not value.sure:
            continue
        if _holds(value, held, f"{near.titles}\n{near.texts}"):
            continue
        if not _derivable(value, held, near.words):
            return value.text
    return missing_name(sentence, near.words, near.titles, question, near.all_texts)


def _derivable(value: Value, held: Sequence[Value], words: str) -> bool:
    """Return whether a number counts what words list, or follows from their numbers by arithmetic."""
    numbers: list[float] = []
    for other in held:
        if other.kind == "number":
            numbers += _in_unit(other, value.unit, words)
    listed = _listed(words)
    for amount in value.amounts():
        is_count = amount == int(amount) and 0 < amount <= listed
        if is_count or _arises(amount, value.text, numbers):
            return True
    return False


def _listed(words: str) -> int:
    """Return how many things words may list: lines, and parts between commas or short words."""
    separators = re.findall(r"[\n,;、，|]|\s(?:&|\+)\s", words)
    short_words = re.findall(r",?\s\w{1,3}\s", words)
    return 1 + len(separators) + len(short_words)


def _in_unit(value: Value, unit: Unit | None, words: str) -> list[float]:
    """Return the amounts of a value in a unit; none if its own unit measures something else.

    A number without a unit may have it elsewhere in the words, as a row has it in the heading of the column.
    """
    amounts = value.amounts()
    if unit is None:
        return amounts
    if value.unit is not None:
        return _all_converted(amounts, [value.unit], unit)
    return [*amounts, *_all_converted(amounts, units_named(words), unit)]


def _all_converted(amounts: Iterable[float], sources: Iterable[Unit], target: Unit) -> list[float]:
    """Return amounts converted from each of several units, as far as these measure the same."""
    sources = list(sources)
    converted = []
    for amount in amounts:
        for source in sources:
            made = _converted(amount, source, target)
            if made is not None:
                converted.append(made)
    return converted


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
    """Return whether an amount follows from numbers by one step of arithmetic, or as a sum of several."""
    tolerance = max(_precision(text), abs(amount) * _ROUNDED)
    for made in _arithmetic(numbers):
        if abs(made - amount) <= tolerance:
            return True
    return False


def _arithmetic(numbers: Sequence[float]) -> Iterator[float]:
    """Yield the numbers, and what one step of arithmetic or a sum makes of them."""
    yield from numbers
    yield sum(numbers)
    yield sum(numbers) / max(1, len(numbers))
    few = list(dict.fromkeys(numbers))[:_COMBINED]
    for a, b in combinations(few, 2):
        yield from (a + b, abs(a - b), a * b, (a + b) / 2)
        for x, y in ((a, b), (b, a)):
            if y:
                yield from (x / y, 100 * x / y, 100 * abs(x - y) / y)
    for count in range(3, len(few) + 1):
        yield from map(sum, combinations(few, count))


def _precision(text: str) -> float:
    """Return half of the last written digit's place: .005 for 1.94, 50 for 1,900."""
    digits = re.sub(r"[^\d.,]", "", text)
    fraction = re.search(r"[.,](\d{1,2}|\d{4,})$", digits)
    if fraction:
        return 0.5 * 10.0 ** -len(fraction[1])
    whole = re.sub(r"[.,]", "", digits)
    zeros = len(whole) - len(whole.rstrip("0"))
    return 0.5 * 10.0 ** min(zeros, 2)
