"""Words that stand for numbers, months and days of the week, once for everything that reads them."""

from __future__ import annotations

import unicodedata


def _numbered(rows: str, start: int) -> dict[str, int]:
    return {form: n for n, row in enumerate(rows.split("|"), start=start) for form in row.split()}


NUMBER_WORDS = _numbered(
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    "eighteen|nineteen|twenty",
    0,
)
TENS = {word: 10 * n for word, n in _numbered("twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety", 2).items()}
MONTHS = _numbered(
    "january jan januar janvier enero|february feb februar fevrier febrero|march mar marz mars marzo|"
    "april apr avril abril|may mai mayo|june jun juni juin junio|july jul juli juillet julio|"
    "august aug aout agosto|"
    "september sep sept septembre septiembre|october oct oktober octobre octubre|november nov novembre noviembre|"
    "december dec dezember decembre diciembre",
    1,
)
"""Names of the months, folded, in English, German, French and Spanish."""
WEEKDAYS = _numbered(
    "monday montag lundi lunes|tuesday tue tues dienstag mardi martes|wednesday wed mittwoch mercredi miercoles|"
    "thursday thu thur thurs donnerstag jeudi jueves|friday fri freitag vendredi viernes|"
    "saturday samstag sonnabend samedi sabado|sunday sonntag dimanche domingo",
    1,
)
"""Names of the days, folded, in the same languages; no short form that is a word of its own (mon, sat, sun)."""


def month_of(word: str) -> int:
    """Return the number of the month that a word names, in whatever case and with its accents, or 0."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c))
    return MONTHS.get(plain.strip("."), 0)


def _english(table: dict[str, int]) -> tuple[str, ...]:
    first: dict[int, str] = {}
    for form, n in table.items():
        first.setdefault(n, form)
    return tuple(first.values())


ENGLISH = (*_english(MONTHS), *_english(WEEKDAYS))
"""The English names of months and days, in order."""
