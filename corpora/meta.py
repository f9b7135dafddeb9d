"""Front matter, dates and languages of documents, as they state them or as their words tell."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime

from ragweave.models.dates import day
from ragweave.models.text import script

_YEAR_MONTH = re.compile(r"(\d{4})-(\d{1,2})")
_PDF = re.compile(r"D?:?(\d{4}(?:\d{2}){0,5})")
_FRONT_LINES = 200
_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
_SCALAR = re.compile(r"([^\W\d_][\w-]*)[ \t]*:[ \t]*(.*)")
_DATED = "date datum fecha data 日期 valid_from updated lastmod last_modified modified published".split()
"""Names that front matter gives a document's date, the first one first."""
_LANGUAGE = re.compile(r"[a-z]{2,3}(?=$|[-_])", re.I)


def front_matter(text: str) -> tuple[dict[str, str], str, int]:
    """Split off the front matter (YAML between `---`, TOML between `+++`).

    Only single-line values are read from YAML.

    Returns:
        the values by lower-cased name, the text after it, and the number of lines taken off.
    """
    lines = text.split("\n", _FRONT_LINES)
    mark = lines[0].rstrip()
    if mark not in _FENCES:
        return {}, text, 0
    end = next((n for n, line in enumerate(lines[1:_FRONT_LINES], 1) if line.rstrip() in _FENCES[mark]), 0)
    if not end or (mark == "---" and not _SCALAR.match(lines[1])):
        return {}, text, 0
    rest = "\n".join(lines[end + 1 :])
    if mark == "---":
        pairs = [m.groups() for line in lines[1:end] if (m := _SCALAR.match(line))]
        return {k.lower(): v.strip().strip("\"'") for k, v in pairs}, rest, end + 1
    try:
        values = tomllib.loads("\n".join(lines[1:end]))
    except (tomllib.TOMLDecodeError, RecursionError):
        values = {}
    return {k.lower(): str(v) for k, v in values.items() if not isinstance(v, dict | list)}, rest, end + 1


def first_date(front: Mapping[str, str]) -> datetime | None:
    """Return the date that front matter states."""
    return next((d for name in _DATED if (d := iso_date(front.get(name)))), None)


def iso_date(value: object) -> datetime | None:
    """Read an ISO 8601 date or time, a date in words, or a year and month; None for anything else, as for a year alone.

    Times without a zone are taken as UTC.
    """
    text = str(value or "").strip().strip("\"'")
    if not text:
        return None
    bare = _YEAR_MONTH.fullmatch(text)
    try:
        if bare:
            return _plausible(datetime(int(bare[1]), int(bare[2]), 1, tzinfo=UTC))
        found = datetime.fromisoformat(text)
    except ValueError:
        when = day(text)
        return _plausible(datetime(when.year, when.month, when.day, tzinfo=UTC)) if when else None
    return _plausible(found if found.tzinfo else found.replace(tzinfo=UTC))


def pdf_date(value: str) -> datetime | None:
    """Read the date of a PDF, `D:YYYYMMDDHHmmSS` with any tail left out (ISO 32000-1, section 7.9.4)."""
    m = _PDF.match(value.strip())
    if m is None:
        return None
    stamp = m[1] + "00000101000000"[len(m[1]) :]
    try:
        return _plausible(datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC))
    except ValueError:
        return None


def language_code(value: object) -> str:
    """Return the ISO 639-1 code of a language tag such as `de-AT`, or ""."""
    m = _LANGUAGE.match(str(value or "").strip())
    return m[0].lower() if m and len(m[0]) == 2 else ""


def _plausible(found: datetime) -> datetime | None:
    """Drop the placeholders that writers put for an unknown date, such as year 1."""
    return found if 1000 <= found.year <= 9000 else None


_BY_SCRIPT = {"kana": "ja", "hangul": "ko", "thai": "th", "greek": "el", "hebrew": "he"}

_LISTED = {
    "en": "the of and to in is that it was for with as on are by this be from at which not have or an",
    "de": (
        "der die und das ist nicht ein eine den dem von zu mit sich auf für des im auch als wird sind"
        " oder wie"
    ),
    "fr": (
        "le la les de des et est une du que dans pour qui sur au par pas plus avec sont ce il elle nous cette"
    ),
    "es": "de el los las una que y en es por con para del se no su al lo como más pero fue son esta ha",
    "it": "il di che è la per un una sono non con del della nel le gli i si come più dei alla anche ma",
    "pt": "de o os as um uma que e em é do da não com para se por no na dos das mais como ao foi são",
    "nl": "de het een en van is dat niet op te zijn met voor die er aan ook als bij door maar naar om wordt",
}
NAMES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "ja": "Japanese",
    "zh": "Chinese",
    "ko": "Korean",
    "th": "Thai",
    "el": "Greek",
    "he": "Hebrew",
}
"""Names of the languages that are told apart, as a model is given them."""

FUNCTION_WORDS = {language: frozenset(listed.split()) for language, listed in _LISTED.items()}
_FUNCTION = frozenset().union(*FUNCTION_WORDS.values())
_ENGLISH = frozenset("the and with from this which have".split())
"""Words of English alone: beside one of them, one word of another language, however often, may be English too (den)."""
_TOKEN = re.compile(r"[^\W\d_]+")
_SAMPLE = 20_000
_ENOUGH = 0.12
"""Least share of function words; running text has .25 to .50, lists of names and code far less."""
_AHEAD = 1.2
"""How far ahead the best language must be: neighbours such as Spanish and Portuguese share many words."""


def guess_language(text: str) -> str:
    """Return the ISO 639-1 code of the language a text is written in, or "" when unsure.

    Han text that holds kana is Japanese, else Chinese. Latin text is one of en, de, fr, es, it, pt, nl.
    Cyrillic and Arabic script are shared by many languages and stay unknown.
    """
    sample = text[:_SAMPLE]
    found = script(sample)
    if found == "han":
        kana = sum("\u3040" <= c <= "\u30ff" for c in sample)
        return "ja" if kana * 20 > len(sample) else "zh"
    if found != "latin":
        return _BY_SCRIPT.get(found, "")
    said = Counter(t.lower() for t in _TOKEN.findall(sample))
    count = said.total()
    if count < 4:
        return ""
    known = said.keys() & _FUNCTION
    shares = sorted(
        ((sum(said[t] for t in known & listed) / count, code) for code, listed in FUNCTION_WORDS.items()),
        reverse=True,
    )
    (best, code), (second, _) = shares[:2]
    if best < _ENOUGH or best < second * _AHEAD:
        return ""
    return "" if code != "en" and len(known & FUNCTION_WORDS[code]) == 1 and known & _ENGLISH else code
