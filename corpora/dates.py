"""The date that a document states: in its title, by "valid from" and its like, in a heading, its name, a dated line.

When a file was written to a disk says nothing of what stands in it, and what an Office program or a PDF writer noted
counts only where the text itself states nothing and speaks of no later time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time

from ragweave.corpora.blocks import Block
from ragweave.models.dates import days, names_day
from ragweave.models.text import fold

_LABEL = re.compile(
    r"\b(?:(?:date|datum|fecha)(?: [^\W\d_]+){1,3}:|"
    r"(?:valid|effective|in force|applies|applicable) (?:from|as of|since)|effective|as of|as at|dated?|issued|"
    r"published|released|revised|(?:last )?(?:updated|changed|modified)(?: on)?|status|"
    r"gultig (?:ab|seit)|in kraft (?:ab|seit)|stand|datum|zuletzt geandert|aktualisiert(?: am)?|fassung vom|"
    r"valable (?:a partir du|des)|en vigueur (?:depuis|le|au)|a partir du|mis a jour(?: le)?|a jour au|"
    r"valido (?:desde|dal)|vigente desde|actualizado(?: el)?|aggiornato al)\W{0,3}(?:the |le |el |il |am |den )?$"
    r"|(?:日期|更新|生效|自)\W{0,2}$"
)
"""What stands right before a date that is the document's own."""
_FROM = re.compile(r"\b(?:from|since|ab|seit|depuis|des|desde|dal)\s(?:the |le |dem )?$")
"""The same in a line that says little else: “Prices from 1 February 2025”."""
_SHORT = 8
"""Words of such a line, and of one that is nothing but a date and a place or name."""
_TOP = 12
"""Blocks at the top of a document where it says of when it is."""
_YEAR = re.compile(r"(?<![\w.,/-])((?:199|20[0-4])\d)(?:\s?[/–-]\s?\d{2,4})?(?![\w,]|\.\d)")
_QUARTER = re.compile(r"\b(?:q([1-4])[ _-]?((?:199|20[0-4])\d)|((?:199|20[0-4])\d)[ _-]?q([1-4]))\b")


def stated(title: str, blocks: Sequence[Block], stem: str) -> datetime | None:
    """Return the date that a document states of itself, None where it states none.

    A day or month in the title counts first, then one that the text at its top labels as its own, a date in the first
    heading or the file's name, a year or quarter there, the last date of all headings, and a line that is dated.
    """
    top = blocks[:_TOP]
    headings = [b.text for b in blocks if b.kind == "heading"]
    if not (title or headings) and blocks:
        headings = blocks[0].text.split("\n")[:1]
    years = [d for text in headings if _YEAR.fullmatch(text.strip()) and (d := _period(text))]
    name = stem.replace("_", " ")
    lines = [line for b in top if b.kind != "heading" for line in b.text.split("\n")[:_TOP]]
    last = blocks[-1].text.split("\n")[-1:] if blocks else []
    found = (
        _first([title])
        or next((d for line in lines for d in _labelled(line)), None)
        or _first([*headings[:1], name, name.replace("-", " ")])
        or next((d for text in (name.replace("-", " "), title, *headings[:1]) if (d := _period(text))), None)
        or max([*years, *(d for text in headings for _, _, d in days(text))], default=None)
        or next((d for line in [*lines[:3], *last] if (d := _alone(line))), None)
    )
    return _at(found) if found else None


def of_heading(heading: Sequence[str]) -> datetime | None:
    """Return the date of a section: the day or month that its innermost dated heading names, or the year that it is."""
    for text in reversed(heading):
        when = _first([text]) or (_period(text) if _YEAR.fullmatch(text.strip()) else None)
        if when:
            return _at(when)
    return None


def known(when: datetime, names: Sequence[str], text: str) -> str:
    """Return what is known of an item's date: 2024-03-11, 2024-03, or 2024.

    A month, a quarter and a year count from their first day. So a first of the month that has no time is taken for a
    day only where the names of the document and its sections, or a line that dates itself, say that day.
    """
    day = when.date()
    if day.day > 1 or when.time() != time():
        return day.isoformat()
    top = text.split("\n")[:_TOP]
    lines = [*names, *(line for line in top if day in _labelled(line))]
    found = [fold(said)[a:b] for said in lines for a, b, d in days(said) if d == day]
    found = found or [fold(line)[a:b] for line in top if day == _alone(line) for a, b, _ in days(line)[:1]]
    if any(map(names_day, found)):
        return day.isoformat()
    bare = not found and (day.month == 1 or any(_QUARTER.search(fold(said)) for said in names))
    return str(day.year) if bare else day.isoformat()[:7]


def noted(when: datetime | None, blocks: Iterable[Block]) -> datetime | None:
    """Return the date of a file's properties where the text can be of it: it names no date or year that lies later.

    A template keeps the date at which it was made, years before the letter that was written with it.
    """
    if when is None:
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
    """Return the date of a line that is little else; behind another label (“Birthday: ...”) it is of something else."""
    found = next(iter(days(line)), None)
    return found[2] if found and len(line.split()) <= _SHORT and ":" not in line[: found[0]] else None


def _first(texts: Iterable[str]) -> date | None:
    return next((d for text in texts for _, _, d in days(text)), None)


def _period(text: str) -> date | None:
    """Return the first day of the quarter or year that a title names."""
    if m := _QUARTER.search(fold(text)):
        return date(int(m[2] or m[3]), 3 * int(m[1] or m[4]) - 2, 1)
    m = _YEAR.search(text)
    return date(int(m[1]), 1, 1) if m else None


def _at(when: date) -> datetime:
    return datetime(when.year, when.month, when.day, tzinfo=UTC)
