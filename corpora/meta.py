"""Read the front matter, dates and language of documents."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from ragweave.models.dates import day
from ragweave.models.text import script

_YEAR_MONTH = re.compile(r"(\d{4})-(\d{1,2})")
_PDF = re.compile(r"D?:?(\d{4}(?:\d{2}){0,5})")
_FRONT_LINES = 200
_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
_SCALAR = re.compile(r"([^\W\d_][\w-]*)[ \t]*:[ \t]*(.*)")
_DATED = "date datum fecha data 日期 valid_from updated lastmod last_modified modified published".split()
"""Names of a document's date in front matter, in order of preference."""
_LANGUAGE = re.compile(r"[a-z]{2,3}(?=$|[-_])", re.I)


def front_matter(text: str) -> tuple[dict[str, str], str, int]:
    """Split off the front matter (YAML between `---`, TOML between `+++`).

    Only single-line values are read from YAML.

    Returns:
        the values by lower-cased name, the text after it, and the number of lines removed.
    """
    lines = text.split("\n", _FRONT_LINES)
    mark = lines[0].rstrip()
    end = _end_of_front(lines, mark)
    if not end or (mark == "---" and not _SCALAR.match(lines[1])):
        return {}, text, 0
    read = _yaml_scalars if mark == "---" else _toml_scalars
    return read(lines[1:end]), "\n".join(lines[end + 1 :]), end + 1


def _end_of_front(lines: Sequence[str], mark: str) -> int:
    """Return the number of the line that closes the front matter, or 0."""
    if mark in _FENCES:
        for n, line in enumerate(lines[1:_FRONT_LINES], 1):
            if line.rstrip() in _FENCES[mark]:
                return n
    return 0


def _yaml_scalars(lines: Iterable[str]) -> dict[str, str]:
    """Return the single-line values of YAML by lower-cased name."""
    found: dict[str, str] = {}
    for line in lines:
        pair = _SCALAR.match(line)
        if pair:
            found[pair[1].lower()] = pair[2].strip().strip("\"'")
    return found


def _toml_scalars(lines: Iterable[str]) -> dict[str, str]:
    """Return the values of TOML that are no tables or lists, by lower-cased name; none if it is invalid."""
    try:
        values = tomllib.loads("\n".join(lines))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    found: dict[str, str] = {}
    for name, value in values.items():
        if not isinstance(value, dict | list):
            found[name.lower()] = str(value)
    return found


def first_date(front: Mapping[str, str]) -> datetime | None:
    """Return the date that front matter states, or None."""
    for name in _DATED:
        found = iso_date(front.get(name))
        if found:
            return found
    return None


def iso_date(value: object) -> datetime | None:
    """Parse an ISO 8601 date or time, a date in words, or a year and month; None for anything else.

    A year alone is no date. A time without a zone is in UTC.
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
    """Parse the date of a PDF, `D:YYYYMMDDHHmmSS`, maybe shorter (ISO 32000-1, section 7.9.4)."""
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
    """Return the date, or None for a placeholder of an unknown date, such as year 1."""
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
"""Names of the known languages, for prompts."""

FUNCTION_WORDS = {language: frozenset(words.split()) for language, words in _LISTED.items()}
_FUNCTION = frozenset().union(*FUNCTION_WORDS.values())
_ENGLISH = frozenset("the and with from this which have".split())
"""Words of English alone. With one of them, a single word of another language (den) may be English too."""
_TOKEN = re.compile(r"[^\W\d_]+")
_KANA = re.compile("[\u3040-\u30ff]")
_SAMPLE = 20_000
_ENOUGH = 0.12
"""Smallest share of function words; running text has .25 to .50, lists of names and code far less."""
_AHEAD = 1.2
"""Smallest ratio of the best and the second language: Spanish and Portuguese share many words."""


def guess_language(text: str) -> str:
    """Return the ISO 639-1 code of the language of a text, or "" if it is uncertain.

    Han text with kana is Japanese, without it Chinese. Latin text is one of en, de, fr, es, it, pt, nl. Many
    languages share Cyrillic and Arabic script, so these give "".
    """
    sample = text[:_SAMPLE]
    found = script(sample)
    if found == "han":
        kana = len(_KANA.findall(sample))
        return "ja" if kana * 20 > len(sample) else "zh"
    if found != "latin":
        return _BY_SCRIPT.get(found, "")
    words: Counter[str] = Counter()
    for word in _TOKEN.findall(sample):
        words[word.lower()] += 1
    return _latin_language(words) if words.total() > 3 else ""


def _latin_language(words: Counter[str]) -> str:
    """Return the language with the most function words if it is clearly ahead, or ""."""
    known = words.keys() & _FUNCTION
    shares: list[tuple[float, str]] = []
    for language, listed in FUNCTION_WORDS.items():
        count = sum(words[word] for word in known & listed)
        shares.append((count / words.total(), language))
    (second, _), (best, code) = sorted(shares)[-2:]
    if best < _ENOUGH or best < second * _AHEAD:
        return ""
    one_word = len(known & FUNCTION_WORDS[code]) == 1
    return "" if code != "en" and one_word and known & _ENGLISH else code
