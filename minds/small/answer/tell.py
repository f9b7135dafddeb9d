"""Tell what the timeline says in sentences that rest on its moments, by rule and for both minds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from ragweave.corpora.video.mentions import Mention, Told
from ragweave.corpora.video.summary import most_telling
from ragweave.minds.evidence import Strip, Timeline
from ragweave.minds.passages import strip_at
from ragweave.models.text import clip, clock, content_terms, script, terms

QUOTED = ("after", "before", "at")
"""Kinds whose answer is what was said there: a language model may put it into words of its own."""
_TIMES = 12
"""Times that one sentence lists."""
_QUOTE = 240


class Row(NamedTuple):
    """One sentence, and the moments it rests on."""

    text: str
    rests: tuple[Strip, ...]


def timeline_of(told: Told, query: str, hop: int) -> Timeline:
    """Return what the timeline says as the state keeps it."""
    return {
        "kind": told.asked.kind,
        "thing": told.asked.thing,
        "other": told.asked.other,
        "late": told.asked.late,
        "moments": [strip(m, query, hop) for m in told.moments],
        "others": [strip(m, query, hop) for m in told.others],
        "total": told.total,
    }


def strip(mention: Mention, query: str, hop: int) -> Strip:
    """Return a place on the timeline as a strip, with the seconds of exactly its text."""
    return strip_at(mention.item, mention.start, mention.end, query, hop)


def tell(timeline: Timeline, question: str, most: int) -> list[Row]:
    """Return the sentences that answer from the timeline, `most` of those that are quoted (`after`, `before`, `at`)."""
    chinese = script(question) == "han"
    if timeline["kind"] in QUOTED:
        return [Row(" ".join(m["text"].split()), (m,)) for m in _chosen(timeline, most)]
    if timeline["kind"] == "count":
        return _count(timeline, chinese)
    if timeline["kind"] == "order":
        return _order(timeline, chinese)
    return [_edge(m, timeline, chinese) for m in timeline["moments"][:3]]


def _chosen(timeline: Timeline, most: int) -> list[Strip]:
    """Choose from a stretch of time what has most of what is asked about, else what says most of each part of it."""
    moments = timeline["moments"]
    if timeline["kind"] != "at" or len(moments) <= most:
        return moments[:most]
    wanted = set(content_terms(timeline["thing"]))
    if wanted:
        covers = [len(wanted & set(terms(m["text"]))) for m in moments]
        return [m for m, n in zip(moments, covers, strict=True) if n == max(covers)][:most]
    said = [m["text"] for m in moments]
    return [moments[n] for n in most_telling(said, [len(said) * k // most for k in range(most)])]


def _at(strip: Strip) -> float:
    return float(strip["locator"].get("start", 0.0))


def _edge(moment: Strip, timeline: Timeline, chinese: bool) -> Row:
    said = clip(" ".join(moment["text"].split()), _QUOTE)
    at, thing, title, which = clock(_at(moment)), timeline["thing"], moment["title"], timeline["kind"]
    if chinese:
        edge = "最后一次" if which == "last" else "第一次"
        return Row(f"“{thing}”在《{title}》中{edge}出现在 {at}:“{said}”", (moment,))
    return Row(f"“{thing}” is {which} mentioned at {at} in {title}: “{said}”", (moment,))


def _count(timeline: Timeline, chinese: bool) -> list[Row]:
    moments, total, thing = timeline["moments"], timeline["total"], timeline["thing"]
    rows = [list(group) for _, group in groupby(moments, key=lambda m: m["title"])]
    partly = total > len(moments)
    out: list[Row] = []
    if len(rows) > 1 or partly:
        known = len(moments)
        if chinese:
            text = f"“{thing}”共出现 {total} 次{f',前 {known} 次如下' if partly else ''}。"
        else:
            listed = f"; the first {known} are listed" if partly else ""
            text = f"“{thing}” is mentioned {_times(total)} in all{listed}."
        out.append(Row(text, tuple(row[0] for row in rows)))
    for row in rows:
        at, title = _clocks(row), row[0]["title"]
        if partly:
            text = f"《{title}》:{at}。" if chinese else f"{title}: {at}."
        elif chinese:
            text = f"“{thing}”在《{title}》中出现 {len(row)} 次:{at}。"
        else:
            text = f"“{thing}” is mentioned {_times(len(row))} in {title}: at {at}."
        out.append(Row(text, tuple(row[:_TIMES])))
    return out


def _clocks(moments: Sequence[Strip]) -> str:
    """List the times of mentions; several within one second are counted."""
    counted = Counter(clock(_at(m)) for m in moments)
    shown = [at if n == 1 else f"{at} ({n}×)" for at, n in counted.items()]
    return ", ".join(shown[:_TIMES]) + (", …" if len(shown) > _TIMES else "")


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def _order(timeline: Timeline, chinese: bool) -> list[Row]:
    """Compare first mentions, recording by recording where both are mentioned."""
    out: list[Row] = []
    for one in timeline["moments"]:
        place = (one["title"], one["locator"].get("file"))
        other = next((m for m in timeline["others"] if (m["title"], m["locator"].get("file")) == place), None)
        if other is None:
            continue
        pair = [(_at(one), timeline["thing"], one), (_at(other), timeline["other"], other)]
        (at, first, a), (later, second, b) = sorted(pair, key=lambda row: row[0])
        title = one["title"]
        if chinese:
            text = f"《{title}》中先提到“{first}”({clock(at)}),后提到“{second}”({clock(later)})。"
        elif timeline["late"]:
            text = f"“{second}” comes later in {title}, at {clock(later)}; “{first}” is mentioned at {clock(at)}."
        else:
            text = f"“{first}” comes first in {title}, at {clock(at)}; “{second}” is mentioned at {clock(later)}."
        out.append(Row(text, (a, b)))
    return out
