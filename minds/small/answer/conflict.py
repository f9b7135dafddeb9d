"""Other values for the same question: an older one that was replaced, or one that another source states instead."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from ragweave.corpora.meta import guess_language
from ragweave.minds.evidence import Evidence
from ragweave.minds.small.answer.sentences import Extract
from ragweave.minds.small.question.asked import ASKING, Asked, asked_of
from ragweave.minds.small.question.facts import counted, facts, with_noun
from ragweave.minds.small.question.value import HOW_MUCH
from ragweave.models.calendar import MONTHS, WEEKDAYS
from ragweave.models.text import STOP, content_terms, fold, names, stem, terms, words

RIVALS = 8
"""Best sentences among which another value is looked for."""
SUBJECT = 0.5
"""Share of the subject that another sentence must name, or of it what the best one names."""
RIVAL = 0.25
"""Share of the sureness of the best sentence at which another is a rival: what is less sure tells of other things."""
LEADS = 0.5
"""Share at which a newer one leads."""
_CLOCK = re.compile(r"\b\d{1,2}[:.]\d{2}\b")
_DAY = re.compile(rf"\b(?:{'|'.join(WEEKDAYS)})(?=s?\b)")
_CHANGES = re.compile(
    r"\b(?:now|no longer|from now on|until now|instead of|used to|so far|raised|changed|increased|decreased|new)\b"
    r"|\b(?:jetzt|bisher|künftig|neu|désormais|jusqu'ici)\b|现在|以前|改为",
    re.I,
)
_PLAN = re.compile(
    r"\bwould (?:be|go|rise|fall|cost|become|have to)\b"
    r"|\b(?:proposed|proposes|proposal|suggested|suggests|suggestion|motion to|voted down|rejected|turned down)\b"
    r"|\b(?:vorgeschlagen|vorschlag|antrag|abgelehnt|proposé\w*|proposition|rejetée?|propuesta|propuso)\b",
    re.I,
)
"""Words of what was only spoken of: it never was so, and nothing differs from it."""


class Told(NamedTuple):
    """The sentence to lead with, and one that states something else for the same: older, or simply otherwise."""

    first: Extract
    other: Extract
    how: Literal["before", "differs"]


def conflict(question: str, ranked: Sequence[Extract], rows: Mapping[str, Evidence] | None = None) -> Told | None:
    """Return two sentences of different documents that answer the same question differently, or None.

    The other says of the question whatever the best one says of it, and holds values of the kind asked for of which
    none agrees, or both stand in two versions of one document. The newer leads where both are dated; a document that
    states no date leads only when it answers better.
    """
    if not ranked:
        return None
    best, asked, dates = ranked[0], asked_of(question), rows or {}
    # What leads to the best sentence tells of something else.
    led = _source(best.partner) if best.partner is not None else ""
    others = [
        e for e in ranked[1:] if _source(e) != led and (_source(e) != _source(best) or _of_other_day(best, e, dates))
    ]
    told, own = _told(others), guess_language(question)
    found = []
    for n, e in enumerate(others[:RIVALS]):
        # SIGNS: subject, slot, both, fit. What a document names elsewhere it speaks of here as well.
        lacks, asks = best.covers - e.covers - ASKING - (asked.subject & told[_source(e)]), best.covers & asked.slot
        if guess_language(e.strip["text"]) not in (own, guess_language(best.strip["text"])):  # only names meet there
            lacks, asks = lacks & asked.subject, best.covers
        elsewhere = e.signs[0] < min(SUBJECT, best.signs[0]) and not best.covers & asked.subject
        if lacks or not asks or elsewhere or e.signs[3] < best.signs[3] or fold(e.text) == fold(best.text):
            continue
        if e.sure < RIVAL * best.sure or (_PLAN.search(e.text) and not _PLAN.search(best.text)):
            continue
        versions = _source(e) != _source(best) and _versions(best, e)
        if versions or _differ(asked, best, e):
            first, other = best, e
            ages = [_date(x, dates) for x in (best, e)]
            if all(ages) and ages[1] > ages[0] and e.sure >= LEADS * best.sure:
                first, other = e, best
            dated = all(ages) and ages[0] != ages[1] and (first is e) == (ages[1] > ages[0])
            changed = versions or bool(_CHANGES.search(first.text))
            # Of several the newest leads, else the one that answers best.
            found.append(
                (ages[1] if all(ages) else "", -n, Told(first, other, "before" if dated and changed else "differs"))
            )
    return max(found, key=lambda row: row[:2])[2] if found else None


def _told(ranked: Sequence[Extract]) -> dict[str, set[str]]:
    """Return the stems that each document says in any of its sentences."""
    told: dict[str, set[str]] = {}
    for source, text in dict.fromkeys((_source(e), f"{e.strip['title']} {e.strip['text']}") for e in ranked):
        told.setdefault(source, set()).update(terms(text))
    return told


def _source(e: Extract) -> str:
    place = e.strip["locator"]
    return place.get("file") or place.get("url") or e.strip["evidence"]


def _of_other_day(a: Extract, b: Extract, rows: Mapping[str, Evidence]) -> bool:
    """Tell whether two sentences of one file stand in sections, such as mails, that are of different days."""
    one, two = _date(a, rows), _date(b, rows)
    return bool(one and two) and one != two


def _date(e: Extract, rows: Mapping[str, Evidence]) -> str:
    return row["date"] if (row := rows.get(e.strip["evidence"])) else ""


def _versions(a: Extract, b: Extract) -> bool:
    """Tell whether two sentences stand in two versions of one document: their titles are the same but for dates."""
    one, two = ([w for w in words(e.strip["title"]) if not (w.isdigit() or w in MONTHS)] for e in (a, b))
    return all(e.strip["locator"].get("file") for e in (a, b)) and one == two and _alike(a, b)


def _alike(a: Extract, b: Extract) -> bool:
    """Tell whether two sentences say the same in most of their words, whatever their numbers."""
    ours, theirs = ({t for t in terms(e.text) if not t.isdigit()} for e in (a, b))
    return 2 * len(ours & theirs) > min(len(ours), len(theirs))


def _differ(asked: Asked, a: Extract, b: Extract) -> bool:
    if asked.kind in ("person", "name") and a.strip["origin"] == b.strip["origin"]:
        # Two names are two answers only where both lines say what they name: “Chair: ...”.
        if a.text.partition(":")[0] != b.text.partition(":")[0]:
            return False
    if asked.kind in ("", "yes") and asked.value is None and not _alike(a, b):
        return False  # only two that say the same in like words state values of one thing
    ours, theirs = _values(asked, a), _values(asked, b)
    return any(ours[k] and theirs[k] and ours[k].isdisjoint(theirs[k]) for k in ours.keys() & theirs.keys())


def _values(asked: Asked, e: Extract) -> dict[str, set[str]]:
    """Return the values that may answer, by what they can be compared with: a year, a day, a unit, a noun, a name."""
    said = {(f.value, f.unit) for f in facts(asked.question)}
    found = [f for f in facts(e.text) if (f.value, f.unit) not in said]
    if asked.kind == "time":
        years = {f.value for f in found if not f.unit and re.fullmatch(r"\d{4}", f.value) and f.value <= "2100"}
        months = {f.value for f in found if f.value.startswith("month ")}
        days = {f.value for f in found if months and re.fullmatch(r"\d\d?", f.value) and int(f.value) <= 31}
        return {
            "year": years, "month": months, "day": days, "clock": {m.group() for m in _CLOCK.finditer(e.text)},
            "weekday": {str(WEEKDAYS[m.group()]) for m in _DAY.finditer(fold(e.text))} if not months else set(),
        }  # fmt: skip
    if asked.kind in ("person", "name"):
        known = set(content_terms(f"{asked.question} {e.strip['title']}"))
        return {"name": {t for n in names(e.text) for t in content_terms(n) if not t.isdigit()} - known}
    if asked.counted and (near := counted(asked.counted, e.text)):
        return {asked.counted: {v for v in near if (v, "") not in said}}
    if (m := HOW_MUCH.search(asked.question)) and m[1] not in STOP and (near := with_noun(stem(m[1]), e.text)):
        return {m[1]: near}
    return {unit: {f.value for f in found if f.unit == unit} for unit in {f.unit for f in found if f.unit}}
