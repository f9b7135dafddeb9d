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
TENS = {
    word: 10 * n for word, n in _numbered("twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety", 2).items()
}
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

COUNT_WORDS = {
    word: n
    for n, row in (
        (2, "zwei zwo deux dos"),
        (3, "drei trois tres"),
        (4, "vier quatre cuatro"),
        (5, "funf fünf cinq cinco"),
        (6, "sechs seis"),
        (7, "sieben sept siete"),
        (8, "acht huit ocho"),
        (9, "neun neuf nueve"),
        (10, "zehn dix diez"),
        (11, "elf onze once"),
        (12, "zwolf zwölf douze doce"),
        (13, "dreizehn treize trece"),
        (14, "vierzehn quatorze catorce"),
        (15, "funfzehn fünfzehn quinze quince"),
        (16, "sechzehn seize"),
        (17, "siebzehn"),
        (18, "achtzehn"),
        (19, "neunzehn"),
        (20, "zwanzig vingt veinte"),
        (30, "dreißig dreissig trente treinta"),
        (40, "vierzig quarante cuarenta"),
        (50, "funfzig fünfzig cinquante cincuenta"),
        (60, "sechzig soixante sesenta"),
        (70, "siebzig setenta"),
        (80, "achtzig ochenta"),
        (90, "neunzig noventa"),
        (100, "hundred hundert cent cien"),
        (1000, "thousand tausend mille mil"),
    )
    for word in row.split()
}
"""Words for numbers in German, French and Spanish, folded; the hundreds and thousands of English with them."""
ORDINALS = {
    word: n
    for n, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split(), start=1
    )
}
UNSURE_WORDS = frozenset("zero one once elf cent mil mille sept hundred thousand acht dix".split())
"""Words that are numbers in one language and something else in another, or seldom count."""
SCALES = {
    word: scale
    for scale, row in (
        (10**3, "thousand tausend mille mil k 千"),
        (10**4, "万 萬"),
        (10**6, "million millions millionen mio millon millones"),
        (10**8, "亿 億"),
        (10**9, "billion billions milliarde milliarden mrd milliard milliards"),
    )
    for word in row.split()
}
"""Words behind a number that multiply it, folded."""
