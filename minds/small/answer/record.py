"""A value of a receipt, an invoice or a form: its words tell which paper, its label and place what is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragweave.corpora.types import Box, Item, Locator, union
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk, within
from ragweave.minds.evidence import Strip
from ragweave.minds.page import Page
from ragweave.minds.passages import as_strip, evidence_of
from ragweave.minds.phrases import phrase
from ragweave.minds.sameness import collapse
from ragweave.minds.small.question.asked import share
from ragweave.models.calendar import ENGLISH
from ragweave.models.text import content_terms, sentences, terms

FOUND = 50
"""Pictures that are searched for the paper."""
NAMED, MEANT = 0.75, 0.4
"""Share of the words that tell which paper, by rarity, that it must have, and from which it is meant, but lacks what is
asked; dates and numbers must all stand on it."""
LINES = 4.0
"""Heights of a label within which its value stands below it."""
_PAPER = re.compile(
    r"\b(?:receipts?|invoices?|bills?|statements?|checks?|slips?|forms?|tickets?|vouchers?|quotes?|orders?|rechnung"
    r"|quittung|beleg|facture|reçu)\b|发票|收据|账单",
    re.I,
)
_MONEY = re.compile(
    r"(?:[£€$¥]|\b(?:eur|usd|gbp|chf)\b)? ?\d[\d ., ]*[.,](?:\d{2}|[-–—]{1,2})(?!\.?\d| ?%)"
    r"(?: ?(?:[£€$¥元]|(?:eur|usd|gbp|chf)\b))?",
    re.I,
)
_MONTHS = [name[:3] for name in ENGLISH[:12]]
_MONTH = rf"(?:{'|'.join(_MONTHS)})[a-z]*"
_DATE = re.compile(
    rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\.? (?P<m>{_MONTH})\.?,? (?P<y>\d{{4}})\b"
    rf"|\b(?P<M>{_MONTH}) (?P<D>\d{{1,2}}),? (?P<Y>\d{{4}})\b|\b(?P<m4>{_MONTH}) (?P<y4>\d{{4}})\b"
    r"|\b(?P<y2>\d{4})-(?P<m2>\d{2})-(?P<d2>\d{2})\b|\b(?P<d3>\d{1,2})[./](?P<m3>\d{1,2})[./](?P<y3>\d{4})\b",
    re.I,
)
_SLOT = re.compile(
    r"\b(?:how much|what|which|when|where|by|must|did|does|total|amount|sum|costs?|pay|paid|due|date|dated|day|tax|vat"
    r"|gst|address|(?:tele)?phone|call|number|no|business|company|have|give[ns]?|printed|match(?:es)?|agrees?"
    r"|(?:e-?)?mails?|letters?|slides?|notes|notebook|guest|speaker)\b",
    re.I,
)
"""Words that say what is asked of a paper, and where else it stands."""
_PHONE = re.compile(r"\+?\(?\d[\d ()/-]{7,}\d")
_NUMBER = re.compile(r"(?=[\w/-]*\d)[A-Z0-9][\w/-]{2,}")
_STREET = re.compile(
    r"\b\d{1,4}[a-z]?,? (?:[A-Z][\w'’-]+ ?){1,3}.*|.*\b(?:stra(?:ß|ss)e|weg|platz|rue|avenue) ?\d{0,4}.*", re.I
)
_TOWN = re.compile(r"[A-Za-z][A-Za-z '’-]{3,}")
_PRICE = re.compile(r"\b(?:how much|price|costs?|charged?)\b", re.I)


@dataclass(frozen=True)
class Field:
    """What may be asked of a paper: the question's words for it, its labels, the best first, and its values."""

    asked: re.Pattern[str]
    labels: tuple[re.Pattern[str], ...]
    value: re.Pattern[str]
    bare: bool = False
    """Whether a value tells itself, without a label."""


def _words(*forms: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(form, re.I) for form in forms)


_PAID = re.compile(
    r"^\W*(?:less\W+)?(?:(?:amount|total|sum|already) paid\b|paid (?:amount|to date)\b"
    r"|(?:paid|payments?(?: received| made)?)\W*(?:[a-z]{3} )?\d[\d., ]*[.,]\d{2}(?!\.?\d))",
    re.I,
)
"""A "Paid" without an amount may be a stamp."""
DUE = Field(
    re.compile(r"\b(?:total|amount|sum)\b.*\b(?:due|owed|owing|outstanding)\b|\b(?:pay|paid)\b", re.I),
    _words(
        r"\b(?:grand total|total due|amount due|balance due|to pay|zu zahlen|gesamtbetrag)\b",
        r"^\W*total\b(?!.*\btax)",
        r"^(?!.*\b(?:before|without|excl\w*|sub)).*\b(?:amount|total)\b",
        r"^\W*(?:sum|summe)\b",
    ),
    _MONEY,
)
PAID = Field(re.compile(r"(?<!be )\bpaid\b", re.I), (_PAID, *DUE.labels), _MONEY)
TOTAL = Field(
    re.compile(r"\b(?:total|amount|sum)\b|\bhow much\b.*\b(?:for|come to|cost)\W*$", re.I), DUE.labels, _MONEY
)
_WHOLE = _words(r"\b(?:grand total|gesamtbetrag)\b", r"^\W*total\b(?!.*\b(?:tax|(?:paid|due)\b))")
"""Labels of the total that come first on a paper that was paid in part: what is due is less."""

FIELDS = (
    Field(
        re.compile(r"\b(?:due date|deadline|by when)\b|\bwhen\b.*\b(?:due|paid|payable)\b|\bfällig|\béchéance", re.I),
        _words(r"\b(?:due(?! *:? *[£€$\d])|pay(?:able)? (?:by|before|until)|fällig|échéance)"),
        _DATE,
    ),
    Field(
        re.compile(r"\b(?:sales )?(?:tax(?:es)?|vat|gst|mwst|ust|tva)\b", re.I),
        _words(r"^(?!.*\b(?:before|without|excl\w*|net|id|no|number)\b).*\b(?:tax|vat|gst|mwst|ust|tva)\b"),
        _MONEY,
    ),
    Field(
        re.compile(r"\b(?:tele)?(?:phone|fax)(?: number)?\b|\bcall\b", re.I),
        _words(r"\b(?:tel|phone|telephone)\b"),
        _PHONE,
        True,
    ),
    Field(
        re.compile(r"\baddress\b|\bwhere\b|\badresse\b", re.I), _words(r"\b(?:address|adresse)\b"), _STREET, True
    ),
    Field(
        re.compile(r"\b(?:what|which)(?: is| was)? (?:the )?(?:\w+ )?(?:number|no\.)", re.I),
        _words(r"\b(?:no\b|number|nr\b|nummer)|#"),
        _NUMBER,
    ),
    Field(
        re.compile(r"\b(?:what|which) (?:date|day)\b|\bwhen\b|\bdated\b", re.I),
        _words(r"^(?!.*\b(?:due|pay)).*\b(?:date|issued|datum)\b"),
        _DATE,
        True,
    ),
    PAID,
    DUE,
    TOTAL,
)  # fmt: skip
"""The first whose words a question has is asked for."""


@dataclass(frozen=True)
class Cell:
    """A line that was read in a picture, with its place in the item's text and its box in pixels."""

    text: str
    start: int
    box: Box


async def record(desk: Desk, brief: Brief, page: Page) -> str | None:
    """Show the value that a question asks of one paper, with its box.

    Return None where it asks of no paper that can be told, "" where a value was shown, and else why none was.
    """
    field = next((f for f in FIELDS if f.asked.search(brief.question)), None)
    told = _SLOT.sub(" ", _PAPER.sub(" ", brief.question))
    wanted = content_terms(told)
    priced = _PRICE.search(brief.question) is not None
    paper = _PAPER.search(brief.question) is not None
    if not wanted or not (priced or (field and paper)):
        return None
    library = await desk.library()
    (lists,) = await library.search("image", [told], FOUND, (await within(desk)).sources)
    ids = [h.id for h in (*lists.lexical, *lists.dense)]
    ids += [e["id"] for e in brief.rows.values() if e["corpus"] == "image"]
    items = await library.items(list(dict.fromkeys(ids)))
    idf = await library.idf(wanted)
    fits = {i: _fit(told, item, idf) for i, item in items.items()}
    best = max(fits.values(), default=0.0)
    kept = collapse([items[i] for i, fit in fits.items() if fit == best])
    # Of those that name a thing, the one that sells it, or has what is asked: a figure only speaks of it.
    sells = [k for k in kept if goods(wanted, cells(k[0])) or (field and value_of(field, cells(k[0])))]
    kept = sells or kept
    if len(kept) > 1:  # a date that is named is that of the paper before it is the day when it is due
        kept = [k for k in kept if not _only_due(told, cells(k[0]))]
    if best < MEANT or len(kept) != 1:
        return None
    ((shown, also),) = kept
    read = cells(shown)
    if priced:
        field = goods(wanted, read) or (field if paper else None)
    found = value_of(field, read) if field is not None and best >= NAMED else None
    if found is None and not paper:
        return None
    if found is None and field and (said := _beside(told, field, brief)):
        page.show(said["text"], "verified", [said], 1.0)
        return ""
    if found is None:
        page.note(_strip(shown, also, shown.title, read[:1], brief.question))
        return phrase("weak", brief.question, title=shown.title)
    strip = _strip(shown, also, *found, brief.question)
    page.show(strip["text"], "verified", [strip], 1.0)
    return ""


def _beside(told: str, field: Field, brief: Brief) -> Strip | None:
    """Return the sentence of a text that speaks of the paper by its number and says what the paper does not."""
    numbers = set(re.findall(r"[\w/-]*\d[\w/-]*", told))
    for e in brief.rows.values():
        if e["corpus"] == "image" or not numbers & set(re.findall(r"[\w/-]+", e["text"])):
            continue
        for a, b in sentences(e["text"]):
            said = e["text"][a:b]
            if any(label.search(said) for label in field.labels) and field.value.search(said):
                return Strip(**{**as_strip(e), "text": said})
    return None


def _fit(told: str, item: Item, idf: dict[str, float]) -> float:
    """Return the share of the words that a paper has; 0 where a date or number of them does not stand on it."""
    have = set(terms(f"{item.title} {item.text} {item.meta.get('name', '')}"))
    dates = list(_dates(item.text))
    rest = told
    for m in _DATE.finditer(told):
        day = _date(m)
        if not any(_agree(day, other) for other in dates):
            return 0.0
        rest = rest.replace(m.group(), " ")
    if any(n not in item.text for n in re.findall(r"\d{3,}", rest)):
        return 0.0
    wanted = content_terms(rest)
    return share(wanted, have, lambda t: idf.get(t, 1.0)) if wanted else 1.0


def _dates(text: str) -> Iterator[tuple[int | None, int, int]]:
    return map(_date, _DATE.finditer(text))


def _date(m: re.Match[str]) -> tuple[int | None, int, int]:
    """Return (day or None, month, year) of a date as it is written."""
    g = m.groupdict()
    day = next((int(g[k]) for k in ("d", "D", "d2", "d3") if g[k]), None)
    year = next(int(g[k]) for k in ("y", "Y", "y2", "y3", "y4") if g[k])
    word = g["m"] or g["M"] or g["m4"]
    return day, _MONTHS.index(word[:3].lower()) + 1 if word else int(g["m2"] or g["m3"]), year


def _only_due(told: str, read: Sequence[Cell]) -> bool:
    """Tell whether the date that a question names is the one when a paper is due."""
    due = value_of(FIELDS[0], read)
    return due is not None and any(_agree(day, other) for day in _dates(told) for other in _dates(due[0]))


def _agree(day: tuple[int | None, int, int], other: tuple[int | None, int, int]) -> bool:
    return all(a in (None, b) for a, b in zip(day, other, strict=True))


def goods(wanted: Sequence[str], read: Sequence[Cell]) -> Field | None:
    """Return the line of a paper whose label has most of the words that are wanted, where an amount stands beside it.

    Of those that have as many, the one with the fewest other words is meant: espresso is no double espresso.
    """
    asked = {t for t in wanted if not t.isdigit()}
    able: list[tuple[tuple[int, int], Cell]] = []
    for cell in read:
        label = _MONEY.sub(" ", cell.text)
        beside = (*_right(cell, read)[:2], *_below(cell, read)[:1])
        amount = label != cell.text or any(_MONEY.search(c.text) and not _TOWN.search(c.text) for c in beside)
        has = set(content_terms(label))
        if asked & has and amount and not any(f.asked.search(label) for f in FIELDS):
            able.append(((len(asked & has), -len(has - asked)), cell))
    _, best = max(able, key=lambda row: row[0], default=(None, None))
    return Field(_SLOT, (re.compile(rf"^{re.escape(best.text)}$"),), _MONEY) if best else None


def cells(item: Item) -> list[Cell]:
    """Return the lines of a picture in reading order."""
    out = [Cell(item.text[s.start : s.end], s.start, s.bbox) for s in item.spans if s.bbox]
    return sorted(out, key=lambda c: (c.box[1], c.box[0]))


def value_of(field: Field, read: Sequence[Cell]) -> tuple[str, tuple[Cell, ...]] | None:
    """Return what a paper says of a field: the label with its value, and the cells that hold them.

    The value stands behind its label, else on the same line to the right of it, else below it.
    """
    part = field is TOTAL and any(_PAID.search(c.text) for c in read)
    for label in (*_WHOLE, *field.labels) if part else field.labels:
        for cell in reversed(read) if field.value is _MONEY else read:
            m = label.search(cell.text)
            if m is None:
                continue
            if inside := field.value.search(cell.text, m.end() if field.value is not _MONEY else 0):
                return _line(cell.text[: inside.start()], inside.group()), (cell,)
            for other in (*_right(cell, read), *_below(cell, read)):
                if found := field.value.search(other.text):
                    return _line(cell.text, found.group()), (cell, other)
    if field.bare:
        for n, cell in enumerate(read):
            if (found := field.value.search(cell.text)) and not (field.value is _STREET and _DATE.search(cell.text)):
                after = [
                    c
                    for c in _below(cell, read[n + 1 :])
                    if field.value is _STREET and re.fullmatch(r"[A-Za-z '’-]+", c.text)
                ]
                return " ".join([found.group().strip(), *(c.text for c in after[:1])]), (cell, *after[:1])
    return None


def _line(label: str, value: str) -> str:
    name = label.strip(" .:·…_-")
    return f"{name}: {value.strip()}" if name else value.strip()


def _right(cell: Cell, read: Sequence[Cell]) -> list[Cell]:
    """Return the cells on the line of one, to the right of it, the nearest first."""
    x0, y0, x1, y1 = cell.box
    able = [c for c in read if c is not cell and c.box[0] >= x0 + 0.5 * (x1 - x0)]
    level = [c for c in able if min(y1, c.box[3]) - max(y0, c.box[1]) >= 0.5 * min(y1 - y0, c.box[3] - c.box[1])]
    return sorted(level, key=lambda c: c.box[0])


def _below(cell: Cell, read: Sequence[Cell]) -> list[Cell]:
    """Return the cells under one, the nearest first."""
    x0, _, x1, y1 = cell.box
    height = y1 - cell.box[1]
    able = [c for c in read if c.box[1] >= y1 - 0.3 * height and c.box[1] - y1 <= LINES * height]
    return sorted((c for c in able if min(x1, c.box[2]) > max(x0, c.box[0])), key=lambda c: c.box[1])


def _strip(item: Item, also: Sequence[Locator], text: str, at: Sequence[Cell], question: str) -> Strip:
    place: Locator = {**item.locator, "bbox": list(union([c.box for c in at]))}
    row = as_strip(evidence_of(item, question, 0, 1.0, 1.0))
    spot = f"{item.id}#{at[-1].start}-{at[-1].start + len(at[-1].text)}"
    return Strip(**{**row, "id": spot, "text": text, "title": item.title, "locator": place, "also": [*also]})
