"""The date that a document states: in its title, by "valid from" and its like, in a heading, its name, a dated line.

When a file was written to a disk says nothing of what stands in it, and what an Office program or a PDF
writer noted counts only where the text itself states nothing and speaks of no later time.
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
"""What stands right before a date that is the document's own."""
_FROM = re.compile(r"\b(?:from|ab|des|dal)\s(?:the |le |dem )?$")
"""The same in a line that says little else: “Prices from 1 February 2025”."""
_SHORT = 8
"""Words of such a line, and of one that is nothing but a date and a place or name."""
_ARTICLE = re.compile(r"(?<=,)\s+(?:the|le|el|il|am|den)$", re.I)
_PLACE = 3
"""Words of a place, or of a day of the week, before a date."""
_TOP = 12
"""Blocks at the top of a document where it says of when it is."""
_END = 3
"""Blocks at its end where it is signed."""
_YEAR = re.compile(r"(?<![\w.,/-])((?:199|20[0-4])\d)(?![\w,]|\.\d)")
_EITHER = re.compile(r"(0?[1-9]|1[0-2])\.\s?(0?[1-9]|1[0-2])\.\s?\d{4}")
"""A date in figures that is another one in America."""


def stated(title: str, blocks: Sequence[Block], stem: str, language: str = "") -> datetime | None:
    """Return the date that a document states of itself, None where it states none or it is not sure which.

    A day or month in the title counts first, then one that the text at its top labels as its own, a date in
    the first heading or the file's name, the last date of all headings, a line that is dated, and what its
    end is signed with. A year or a quarter alone is no date.
    """
    top, end = (
        [b for b in blocks[:_TOP] if b.kind != "table"],
        [b for b in blocks[-_END:] if b.kind != "table"],
    )
    headings = [b.text for b in blocks if b.kind == "heading"]
    if not (title or headings) and blocks:
        headings = blocks[0].text.split("\n")[:1]
    name = stem.replace("_", " ")
    lines = [line for b in top for line in b.text.split("\n")[:_TOP]]
    body = [line for b in top if b.kind != "heading" for line in b.text.split("\n")[:_TOP]]
    last = [line for b in end for line in b.text.split("\n")[-_TOP:]]
    found = (
        _first([title], language)
        or next((d for line in lines for d in _labelled(line)), None)
        or _first([*headings[:1], name, name.replace("-", " ")], language)
        or max((d for text in headings for _, _, d in _sure(text, language)), default=None)
        or next((d for line in [*body[:3], *last[-1:]] if (d := _alone(line))), None)
        or next((d for line in last for d in _labelled(line)), None)
    )
    return _at(found) if found else None


def of_heading(heading: Sequence[str]) -> datetime | None:
    """Return the date of a section: the day or month that its innermost dated heading names."""
    when = next((d for text in reversed(heading) if (d := _first([text]))), None)
    return _at(when) if when else None


def known(when: datetime, names: Sequence[str], text: str) -> str:
    """Return what is known of an item's date: 2024-03-11, or 2024-03.

    A month counts from its first day. So a first of the month that has no time is taken for a day only where
    the names of the document and its sections, or a line that dates itself, say that day.
    """
    day = when.date()
    if day.day > 1 or when.time() != time():
        return day.isoformat()
    top = text.split("\n")[:_TOP]
    lines = [*names, *(line for line in top if day in _labelled(line))]
    found = [fold(said)[a:b] for said in lines for a, b, d in days(said) if d == day]
    found = found or [fold(line)[a:b] for line in top if day == _alone(line) for a, b, _ in days(line)[:1]]
    return day.isoformat() if any(map(names_day, found)) else day.isoformat()[:7]


def noted(when: datetime | None, blocks: Iterable[Block], *names: str) -> datetime | None:
    """Return the date of a file's properties where the text can be of it: it names no date or year that lies later.

    A template keeps the date at which it was made, years before the letter that was written with it. A report
    whose names say the year that it is about, and another than that of its file, is of neither for sure.
    """
    about = {int(m[1]) for name in names for m in _YEAR.finditer(name.replace("_", " "))}
    if when is None or (about and when.year not in about):
        return None
    text = " ".join(b.text for b in blocks if b.kind != "code")[:20_000]
    later = [d for _, _, d in days(text)] + [date(int(m[1]), 1, 1) for m in _YEAR.finditer(text)]
    return None if any(d.year > when.year for d in later) else when


def _labelled(line: str) -> list[date]:
    """Return the dates of a line that it calls the document's own."""
    if not (found := days(line)):
        return []
    folded, short = fold(line), len(line.split()) <= _SHORT
    return [d for a, _, d in found if _LABEL.search(folded[:a]) or (short and _FROM.search(folded[:a]))]


def _alone(line: str) -> date | None:
    """Return the date of a line that is nothing but a date, maybe behind a place: `Bergen, 3 May 2024`.

    Any other words may say of what else the date is: of a birth, of a delivery.
    """
    found = next(iter(days(line)), None)
    if found is None:
        return None
    before, after = _ARTICLE.sub("", line[: found[0]].strip()), line[found[1] :].strip()
    is_place = before.endswith(",") and len(before.split()) <= _PLACE and ":" not in before
    return found[2] if (not before or is_place) and not any(map(str.isalnum, after)) else None


def _first(texts: Iterable[str], language: str = "") -> date | None:
    return next((d for text in texts for _, _, d in _sure(text, language)), None)


def _sure(line: str, language: str) -> list[tuple[int, int, date]]:
    """Return the dates of a line; 04.01.2023 in an English text may be of April or of January, and is none."""
    folded = fold(line) if language == "en" else ""
    return [found for found in days(line) if not (folded and _EITHER.fullmatch(folded[found[0] : found[1]]))]


def _at(when: date) -> datetime:
    return datetime(when.year, when.month, when.day, tzinfo=UTC)
