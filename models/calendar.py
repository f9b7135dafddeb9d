"""Define the words for numbers, months and days of the week in one place."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping


def _by_word(rows: Mapping[int, str]) -> dict[str, int]:
    """Return the number of each word; a row holds the words of one number."""
    numbers: dict[str, int] = {}
    for number, row in rows.items():
        for word in row.split():
            numbers[word] = number
    return numbers


def _numbered(rows: str, start: int) -> dict[str, int]:
    """Return the number of each word; "|" separates the rows of successive numbers."""
    return _by_word(dict(enumerate(rows.split("|"), start=start)))


NUMBER_WORDS = _numbered(
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
    "|seventeen|eighteen|nineteen|twenty",
    0,
)
TENS = _by_word(
    {
        20: "twenty",
        30: "thirty",
        40: "forty",
        50: "fifty",
        60: "sixty",
        70: "seventy",
        80: "eighty",
        90: "ninety",
    }
)
MONTHS = _numbered(
    "january jan januar janvier enero|february feb februar fevrier febrero|march mar marz mars marzo|april"
    " apr avril abril|may mai mayo|june jun juni juin junio|july jul juli juillet julio|august aug aout"
    " agosto|september sep sept septembre septiembre|october oct oktober octobre octubre|november nov"
    " novembre noviembre|december dec dezember decembre diciembre",
    1,
)
"""Names of the months, folded, in English, German, French and Spanish."""
WEEKDAYS = _numbered(
    "monday montag lundi lunes|tuesday tue tues dienstag mardi martes|wednesday wed mittwoch mercredi"
    " miercoles|thursday thu thur thurs donnerstag jeudi jueves|friday fri freitag vendredi viernes|saturday"
    " samstag sonnabend samedi sabado|sunday sonntag dimanche domingo",
    1,
)
"""Names of the days, folded, in the same languages; without short forms that are words (mon, sat, sun)."""


def month_of(word: str) -> int:
    """Return the number of the month that a word names, in any case and with accents, or 0."""
    plain = ""
    for character in unicodedata.normalize("NFKD", word.casefold()):
        if not unicodedata.combining(character):
            plain += character
    return MONTHS.get(plain.strip("."), 0)


def _english(table: dict[str, int]) -> tuple[str, ...]:
    first: dict[int, str] = {}
    for form, n in table.items():
        first.setdefault(n, form)
    return tuple(first.values())


ENGLISH = (*_english(MONTHS), *_english(WEEKDAYS))
"""The English names of months and days, in order."""

COUNT_WORDS = _by_word(
    {
        2: "zwei zwo deux dos",
        3: "drei trois tres",
        4: "vier quatre cuatro",
        5: "funf fünf cinq cinco",
        6: "sechs seis",
        7: "sieben sept siete",
        8: "acht huit ocho",
        9: "neun neuf nueve",
        10: "zehn dix diez",
        11: "elf onze once",
        12: "zwolf zwölf douze doce",
        13: "dreizehn treize trece",
        14: "vierzehn quatorze catorce",
        15: "funfzehn fünfzehn quinze quince",
        16: "sechzehn seize",
        17: "siebzehn",
        18: "achtzehn",
        19: "neunzehn",
        20: "zwanzig vingt veinte",
        30: "dreißig dreissig trente treinta",
        40: "vierzig quarante cuarenta",
        50: "funfzig fünfzig cinquante cincuenta",
        60: "sechzig soixante sesenta",
        70: "siebzig setenta",
        80: "achtzig ochenta",
        90: "neunzig noventa",
        100: "hundred hundert cent cien",
        1000: "thousand tausend mille mil",
    }
)
"""Words for numbers in German, French and Spanish, folded, and for 100 and 1,000 in English."""
ORDINALS = _numbered("first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth", 1)
UNSURE_WORDS = frozenset("zero one once elf cent mil mille sept hundred thousand acht dix".split())
"""Words that are numbers in one language but not in another, or that seldom count anything."""
SCALES = _by_word(
    {
        10**3: "thousand tausend mille mil k 千",
        10**4: "万 萬",
        10**6: "million millions millionen mio millon millones",
        10**8: "亿 億",
        10**9: "billion billions milliarde milliarden mrd milliard milliards",
    }
)
"""Words after a number that multiply it, folded."""
