"""Weigh two things against each other, or tell by how much they differ: both values are looked up, then compared."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from ragweave.corpora.types import Item, Locator
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk, idf_of
from ragweave.minds.evidence import Evidence, Strip
from ragweave.minds.page import Page
from ragweave.minds.passages import as_strip, heading_title
from ragweave.minds.small.answer.reading import filed
from ragweave.minds.small.answer.sentences import Extract, rank
from ragweave.minds.small.question.asked import DAY, Idf, share
from ragweave.minds.small.question.facts import facts, with_noun
from ragweave.minds.small.question.sides import PREP, Sides, sides
from ragweave.minds.small.tables.tabled import MOST_ITEMS
from ragweave.models.table import tables
from ragweave.models.text import content_terms, fold, terms
from ragweave.models.values import days, written

NAMES_IT = 0.6
"""Share of what tells a side from the other, by rarity, that must stand with its value."""
BESIDE = 0.3
"""What a word of the question that is not of the side counts for where its value stands."""
AROUND = 0.5
"""What a word counts that stands in the text around a sentence."""
WORTH = 0.15
"""What a sign counts that a number is the one asked for, beside the share of the question that stands with it."""
ALIKE, LATER, BEST = 0.2, 0.01, 8
"""What it counts that both values stand in one document, or have one unit; what each place costs; values of a side."""
TOLD = 3.0
"""Signs that both values together must have."""
_PAST = frozenset(content_terms("last year month week before earlier past"))
_SHORT = 400
"""Characters of a text whose pieces are said of all that it names."""
_CLOCK = re.compile(r"\b(\d{1,2})[:.](\d{2})\b")
_YEAR = re.compile(r"1\d{3}|20\d\d")
_LIMIT = re.compile(r"\b(?:up to|at most|bis zu|jusqu'a) (?:[€$£¥]|eur)? ?\d[\d.,]*\d")
"""What is paid at most is no price."""
_PIECES = re.compile(r"[,;]\s+|\s+(?:and|but|while|whereas|against)\s+")


class Weighed(NamedTuple):
    """What a comparison gives, in words, and the places it rests on."""

    text: str
    rests: tuple[Strip, ...]


@dataclass(frozen=True)
class _Value:
    """A value that stands for one side: `at` compares with its like (a number, a date by its parts, a time)."""

    at: tuple[Decimal, ...]
    kind: str
    unit: str
    shown: str
    worth: float
    rests: Strip
    head: str | None = None
    """Of a cell the head above it, empty where that names the side."""


@dataclass(frozen=True)
class _Look:
    """How the value of one side is looked for.

    Attributes:
        asked: the comparison.
        mine: stems that tell the side from the other.
        theirs: stems of the other alone.
        said: stems of what is asked of both.
        named: how much of the question stands with a value, by the stems close to it and around it.
    """

    asked: Sides
    mine: Set[str]
    theirs: Set[str]
    said: frozenset[str]
    named: Callable[..., float]
    counts: bool
    """Whether there is more of what is counted: a number of “more dogs” stands with the dogs."""

    @property
    def nouns(self) -> frozenset[str]:
        """Stems of what is counted, where no measure says it."""
        return frozenset() if self.asked.heads else self.said


async def weigh(desk: Desk, brief: Brief, page: Page) -> bool:
    """Show what a question that compares gives by what was found in any round; tell whether it gave anything."""
    if sides(brief.question) is None:
        return False
    strips = await _strips(desk, [e for e in brief.rows.values() if e["origin"] == "library"])
    idf = await idf_of(desk, brief.question)
    found = await asyncio.to_thread(compare, brief.question, strips, idf, brief.rows)
    if found is not None:
        page.show(found.text, "verified", found.rests, 1.0)
    return found is not None


async def _strips(desk: Desk, rows: Sequence[Evidence]) -> list[Strip]:
    """Return evidence as strips, a document by its paragraphs: these have the headings that name a side."""
    library = await desk.library()
    whole = {e["id"]: e for e in rows if e["corpus"] == "document"}
    strips = [as_strip(e) for e in rows if e["id"] not in whole]
    for id_, source in (await library.source_of([*whole])).items():
        if source.items <= MOST_ITEMS:
            known = {s["id"].partition("#")[0] for s in strips}
            items = await library.items_of(source.id, "paragraph")
            strips += [strip_of(i, whole[id_]) for i in items if i.id not in known]
    return strips


def strip_of(item: Item, like: Evidence) -> Strip:
    """Return a paragraph as a strip of the evidence that its document is."""
    told = Evidence(**{**like, "text": item.text, "title": heading_title(item), "locator": item.locator})
    return Strip(**{**as_strip(told), "id": f"{item.id}#0-{len(item.text)}"})


def compare(
    question: str, strips: Sequence[Strip], idf: Idf, rows: Mapping[str, Evidence] | None = None
) -> Weighed | None:
    """Return what a question that compares two things gives; None where it compares nothing, or it cannot be told.

    `rows` are the evidence by id, for its dates.
    """
    asked = sides(question)
    if asked is None:
        return None
    held = [_values(asked, n, question, strips, idf, rows or {}) for n in (0, 1)]
    pairs = [
        (ALIKE * ((_file(a) == _file(b)) + (a.unit == b.unit)) + x + y, a, b)
        for x, a in held[0]
        for y, b in held[1]
        if a.kind == b.kind and not (a.unit and b.unit and a.unit != b.unit) and a.worth + b.worth >= TOLD
        if (a.rests, a.at) != (b.rests, b.at)  # one value does not stand for both
        # Bottles of the one are not weighed against the price of the other.
        if a.head == b.head or None in (a.head, b.head) or _file(a) != _file(b)
    ]
    if not pairs:
        return None
    _, one, two = max(pairs, key=lambda pair: pair[0])
    n = min(len(one.at), len(two.at))
    left, right = one.at[:n], two.at[:n]
    rests = (one.rests, two.rests)
    if asked.how == "difference":
        if one.kind == "clock":
            return None
        gap = written(abs(left[0] - right[0]))
        unit = "years" if one.kind == "date" else re.sub(r"^[\d.,\s]+", "", one.shown or two.shown)
        return Weighed(f"{gap} {unit}".strip() + f": {one.shown} against {two.shown}.", rests)
    if left == right:
        return None
    wins = (left > right) == (asked.sign > 0)
    names = [re.sub(rf"^{PREP} (?:the )?", "", x, flags=re.I) for x in (asked.a, asked.b)]
    (first, top), (last, low) = ((names[0], one), (names[1], two)) if wins else ((names[1], two), (names[0], one))
    said = f"{first[0].upper()}{first[1:]}: {top.shown}, against {low.shown} for {last}."
    return Weighed(f"{'Yes. ' if wins else 'No. '}{said}" if asked.how == "yes" else said, rests)


def _file(value: _Value) -> str:
    return value.rests["locator"].get("file", value.rests["evidence"])


def _values(
    asked: Sides, n: int, question: str, strips: Sequence[Strip], idf: Idf, rows: Mapping[str, Evidence]
) -> list[tuple[float, _Value]]:
    """Return the values that may stand for a side with how well they do, best first; of equal ones the newer."""
    own, theirs = (set(content_terms((asked.a, asked.b)[side])) for side in (n, 1 - n))
    mine = own - theirs or own
    if mine <= _PAST:
        return []  # another time of the first side, which nothing names
    words = content_terms(question)
    weights = {t: idf(t) * (1.0 if t in own or t in content_terms(asked.ask) else BESIDE) for t in words}
    more = re.search(r"\b(?:more|fewer) (?!does\b|has\b|was\b)([^\W\d_]{3,}s)\b", question, re.I)
    said = frozenset(content_terms(more[1] if more else asked.ask)) - own - theirs

    def named(close: Collection[str], around: Collection[str] = ()) -> float:
        near = {*close, *around}
        if share(mine, near, idf) < NAMES_IT or any(t.isdigit() and t not in near for t in mine):
            return 0.0
        return sum(w * (1.0 if t in close else AROUND) for t, w in weights.items() if t in near) / (
            sum(weights.values()) or 1.0
        )

    def order(row: tuple[float, _Value]) -> tuple[float, str]:
        found = rows.get(row[1].rests["evidence"])
        return round(row[0] + WORTH * row[1].worth, 2), found["date"] if found else ""

    look = _Look(asked, mine, theirs - own, said, named, more is not None)
    able = [s for s in strips if mine & (set(terms(s["text"])) | _about(s))]
    found = [*_of_tables(look, able), *_of_sentences(look, rank(asked.asks[n], able, idf))]
    # The year that is asked about is no value of that year.
    found = [row for row in found if not (row[1].kind == "number" and row[1].shown in words)]
    best = sorted(found, key=order, reverse=True)[:BEST]
    # Of equal ones the first keeps its place.
    return [(order(row)[0] - LATER * at, row[1]) for at, row in enumerate(best)]


def _about(strip: Strip) -> set[str]:
    """Return the stems of what a text is filed under: its title, file and folder."""
    return set(terms(strip["title"])) | filed(strip)


def _of_sentences(look: _Look, ranked: Sequence[Extract]) -> Iterator[tuple[float, _Value]]:
    for e in ranked:
        told, said, about = e.text, set(terms(e.text)), _about(e.strip)
        if said & look.mine and look.theirs <= said:
            pieces = _PIECES.split(told)
            told = ", ".join(p for p in pieces if set(terms(p)) & look.mine and not set(terms(p)) & look.theirs)
        around = set(terms(e.strip["text"])) if len(e.strip["text"]) <= _SHORT else set(terms(e.told))
        held = look.named(said | about, set() if look.theirs <= around else around)
        if told and held and (value := _read(look, told, said, e.narrowed)) is not None:
            yield held, value


def _of_tables(look: _Look, strips: Sequence[Strip]) -> Iterator[tuple[float, _Value]]:
    kinds = ("date", "key") if look.asked.dated else ("number",)
    for strip, table in ((s, t) for s in strips if " | " in s["text"] for t in tables([s["text"]])):
        about = _about(strip)
        heads = [set(c.terms) | set(terms(h)) for c, h in zip(table.columns, table.heads, strict=True)]
        able = [n for n, c in enumerate(table.columns) if n and c.kind in kinds]
        # A column that names one side is not the other's: “2023 (euros)”.
        fits = {n: len(heads[n] & look.mine) - len(heads[n] & look.theirs) for n in able}
        able = [n for n in able if fits[n] == max(fits.values()) >= 0]
        named = [n for n in able if heads[n] & (look.asked.heads | look.nouns)]
        able = named or ([] if look.asked.heads else able)
        if len(able) != 1:
            continue
        column, head = table.columns[able[0]], heads[able[0]]
        told = bool(named) or fits[able[0]] > 0
        for n, row in enumerate(table.body):
            subject = set(terms(row.cells[0])) | about | head
            near = subject | heads[0] | set(terms(" ".join(row.cells)))
            if any(t.isdigit() and t not in subject for t in look.mine) or not (held := look.named(near)):
                continue
            start = (strip["locator"].get("chars") or [0])[0]
            place: Locator = {**strip["locator"], "chars": [start + row.start, start + row.end]}
            cut = Strip(**{**strip, "text": strip["text"][row.start : row.end], "locator": place})
            value = _time(column.cells[n], 2.0, cut) if look.asked.dated else None
            if (number := column.numbers[n]) is not None and not look.asked.dated:
                unit = number.unit or column.unit
                shown = f"{written(number.amount, number.places)} {unit}".strip()
                above = "" if head & look.mine - look.theirs else column.head
                value = _Value((number.amount,), "number", "", shown, 3.0 if told else 2.0, cut, above)
            if value is not None:
                # A row is about what its first cell names; a side that stands in another cell has to do with it.
                yield held - (0.0 if look.mine & subject else BESIDE), value


def _read(look: _Look, told: str, said: set[str], rests: Strip) -> _Value | None:
    """Return the value of the measure that a sentence, or the part of it that is one side's, states."""
    heads = look.asked.heads
    label = set(terms(told.partition(":")[0])) if ": " in told else set()
    if look.asked.dated:
        return _time(told, float(bool(said & (heads | look.said))) + bool(label & heads), rests)
    told = DAY.sub(lambda m: m[0] if m[0].isdigit() else " ", fold(told))  # a day is no amount
    if "euro" in look.asked.units:
        told = _LIMIT.sub(" ", told)
    found = [f for f in facts(told) if f.value.replace(".", "", 1).isdigit() and f.value not in look.mine]
    near = {v for noun in look.nouns for v in with_noun(noun, told)}
    best: _Value | None = None
    for f in (f for f in found if not (f.unit and look.asked.units and f.unit not in look.asked.units)):
        year = not f.unit and _YEAR.fullmatch(f.shown) is not None
        if f.value in near or label & (heads | look.nouns):
            worth = 3.0
        elif look.counts:
            continue
        elif f.unit:
            worth = 2.0 if look.asked.units else 1.5
        else:
            # A number alone is of what stands with it: 2,280 “a year”, and not 400 “a bike”.
            worth = float(len(found) == 1 and not year and bool(said & (heads | look.said)))
        if worth and (best is None or worth > best.worth):
            best = _Value((Decimal(f.value),), "number", f.unit, f.shown, worth + 0.5 * bool(said & heads), rests)
    return best


def _time(told: str, worth: float, rests: Strip) -> _Value | None:
    """Return the date, the year or the time of day that a text states."""
    if found := days(told):
        at = found[0][2]
        return _Value(
            (Decimal(at.year), Decimal(at.month), Decimal(at.day)), "date", "", str(at.year), worth + 1, rests
        )
    years = [f for f in facts(told) if _YEAR.fullmatch(f.value) and not f.unit]
    if years:
        return _Value((Decimal(years[0].value),), "date", "", years[0].value, worth + 1, rests)
    if m := _CLOCK.search(told):
        return _Value((Decimal(m[1]), Decimal(m[2])), "clock", "", m.group(), worth + 1, rests)
    return None
