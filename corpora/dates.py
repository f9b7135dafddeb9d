"""Find the date that a document states: in its title, a heading, its name, or a dated line.

The time at which a file was written says nothing about its content. The date that an Office program or a PDF
writer stored counts only if the text states no date and names no later year.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time

from ragweave.corpora.blocks import Block
from ragweave.models.dates import days, names_day
from ragweave.models.text import fold

_LABEL = re.compile(
    r"\b(?:"
    r"(?:valid|effective|in force|applies|applicable) (?:from|as of|since)|effective|as of|as"
    r" at|dated?|issued|"
    r"(?:period|quarter|year|months?|weeks?) (?:ended|ending)|"
    r"published|released|revised|(?:last )?(?:updated|changed|modified)(?: on)?|status|"
    r"gultig (?:ab|seit)|in kraft (?:ab|seit)|stand|datum|zuletzt geandert|aktualisiert(?: am)?|fassung vom|"
    r"valable (?:a partir du|des)|en vigueur (?:depuis|le|au)|a partir du|mis a jour(?: le)?|a jour au|"
    r"valido (?:desde|dal)|vigente desde|actualizado(?: el)?|aggiornato al)\W{0,3}(?:the |le |el |il |am"
    r" |den )?$"
    r"|(?:日期|更新|生效|自)\W{0,2}$"
)
"""The words right before the date of the document."""
_FROM = re.compile(r"\b(?:from|ab|des|dal)\s(?:the |le |dem )?$")
"""The same in a short line: “Prices from 1 February 2025”."""
_SHORT = 8
"""Largest number of words of such a line."""
_ARTICLE = re.compile(r"(?<=,)\s+(?:the|le|el|il|am|den)$", re.I)
_PLACE = 3
"""Largest number of words of a place, or of a day of the week, before a date."""
_TOP = 12
"""Number of blocks at the top of a document that may state its date."""
_END = 3
"""Number of blocks at its end that may have a signature with a date."""
_YEAR = re.compile(r"(?<![\w.,/-])((?:199|20[0-4])\d)(?![\w,]|\.\d)")
_EITHER = re.compile(r"(0?[1-9]|1[0-2])\.\s?(0?[1-9]|1[0-2])\.\s?\d{4}")
"""A date in figures that is another date in the United States."""


def stated(title: str, blocks: Sequence[Block], stem: str, language: str = "") -> datetime | None:
    """Return the date that a document states of itself, or None if it states none for sure.

    The places in their order: a day or month in the title; a date at the top with a label such as "valid
    from"; the first heading; the file's name; the latest date of all headings; a line at the top, or the last
    one, that is only a date; a labelled date at the end. A year or a quarter alone is no date.
    """
    headings = [block.text for block in blocks if block.kind == "heading"]
    if not (title or headings) and blocks:
        headings = blocks[0].text.split("\n")[:1]
    name = stem.replace("_", " ")
    lines, body = _top_lines(blocks)
    last = _end_lines(blocks)
    found = (
        _first([title], language)
        or _first_labelled(lines)
        or _first([*headings[:1], name, name.replace("-", " ")], language)
        or _latest(headings, language)
        or _first_alone([*body[:3], *last[-1:]])
        or _first_labelled(last)
    )
    return _at(found) if found else None


def _top_lines(blocks: Sequence[Block]) -> tuple[list[str], list[str]]:
    """Return the lines at the top of a document, with and without its headings; tables are left out."""
    lines: list[str] = []
    body: list[str] = []
    for block in blocks[:_TOP]:
        if block.kind == "table":
            continue
        own = block.text.split("\n")[:_TOP]
        lines += own
        if block.kind != "heading":
            body += own
    return lines, body


def _end_lines(blocks: Sequence[Block]) -> list[str]:
    """Return the lines at the end of a document, without tables."""
    lines: list[str] = []
    for block in blocks[-_END:]:
        if block.kind != "table":
            lines += block.text.split("\n")[-_TOP:]
    return lines


def _first_labelled(lines: Iterable[str]) -> date | None:
    """Return the first date with a label such as "valid from"."""
    for line in lines:
        for found in _labelled(line):
            return found
    return None


def _first_alone(lines: Iterable[str]) -> date | None:
    """Return the date of the first line that is only a date."""
    for line in lines:
        found = _alone(line)
        if found:
            return found
    return None


def _latest(texts: Iterable[str], language: str) -> date | None:
    """Return the latest date in some texts."""
    found: list[date] = []
    for text in texts:
        for _, _, when in _sure(text, language):
            found.append(when)
    return max(found, default=None)


def of_heading(heading: Sequence[str]) -> datetime | None:
    """Return the date of a section: the day or month in its innermost dated heading."""
    when = _first(reversed(heading))
    return _at(when) if when else None


def known(when: datetime, names: Sequence[str], text: str) -> str:
    """Return what is certain of an item's date: 2024-03-11, or 2024-03.

    A month is stored as its first day. So the first of a month without a time is a day only if the names of
    the document and its sections, or a line that dates the document, name that day.
    """
    day = when.date()
    if day.day > 1 or when.time() != time():
        return day.isoformat()
    written = _written(day, names, text.split("\n")[:_TOP])
    return day.isoformat() if any(map(names_day, written)) else day.isoformat()[:7]


def _written(day: date, names: Sequence[str], top: Sequence[str]) -> list[str]:
    """Return the words for a day in names and lines that label it, or else in lines of a date only."""
    labelled = [line for line in top if day in _labelled(line)]
    found: list[str] = []
    for line in [*names, *labelled]:
        for start, end, other in days(line):
            if other == day:
                found.append(fold(line)[start:end])
    if found:
        return found
    for line in top:
        if day == _alone(line):
            start, end, _ = days(line)[0]
            found.append(fold(line)[start:end])
    return found


def noted(when: datetime | None, blocks: Iterable[Block], *names: str) -> datetime | None:
    """Return the date in a file's properties, or None if text or names contradict it by another year.

    A template keeps the date of its making, years before the letter that was written with it. If the names of
    a report have another year than its file, neither is certain.
    """
    about: set[int] = set()
    for name in names:
        about.update(map(int, _YEAR.findall(name.replace("_", " "))))
    if when is None or (about and when.year not in about):
        return None
    text = " ".join(block.text for block in blocks if block.kind != "code")[:20_000]
    years = list(map(int, _YEAR.findall(text)))
    years += (found.year for _, _, found in days(text))
    return None if max(years, default=0) > when.year else when


def _labelled(line: str) -> list[date]:
    """Return the dates of a line that have a label such as "valid from"."""
    dates = days(line)
    if not dates:
        return []
    folded = fold(line)
    short = len(line.split()) <= _SHORT
    found: list[date] = []
    for start, _, when in dates:
        before = folded[:start]
        if _LABEL.search(before) or (short and _FROM.search(before)):
            found.append(when)
    return found


def _alone(line: str) -> date | None:
    """Return the date of a line that is only a date, maybe after a place: `Bergen, 3 May 2024`.

    With any other words the date may be of something else: of a birth, of a delivery.
    """
    dates = days(line)
    if not dates:
        return None
    start, end, when = dates[0]
    before, after = _ARTICLE.sub("", line[:start].strip()), line[end:].strip()
    is_place = before.endswith(",") and len(before.split()) <= _PLACE and ":" not in before
    if before and not is_place:
        return None
    return None if any(map(str.isalnum, after)) else when


def _first(texts: Iterable[str], language: str = "") -> date | None:
    """Return the first date in some texts."""
    for text in texts:
        for _, _, when in _sure(text, language):
            return when
    return None


def _sure(line: str, language: str) -> list[tuple[int, int, date]]:
    """Return the certain dates of a line: 04.01.2023 in an English text may be in April or in January."""
    if language != "en":
        return list(days(line))
    folded = fold(line)
    return [found for found in days(line) if not _EITHER.fullmatch(folded[found[0] : found[1]])]


def _at(when: date) -> datetime:
    return datetime(when.year, when.month, when.day, tzinfo=UTC)
