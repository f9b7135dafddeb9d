"""One passage of a recording as an answer: the best sentence and what is said around it, or its slide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from ragweave.corpora.types import SURE, Item, Locator
from ragweave.corpora.video.slides import Slide, slides_of
from ragweave.corpora.video.title import filed_as
from ragweave.corpora.video.utterances import pieces, spoken
from ragweave.minds.desk import Desk
from ragweave.minds.evidence import Strip
from ragweave.minds.small.answer.sentences import Extract, parts_of
from ragweave.minds.small.question.asked import Idf, share
from ragweave.models.text import content_terms, terms, words

LONGEST = 100
"""Words of a passage; the sentence itself may be longer."""
SIDE = 2
"""Sentences on either side of the best one that a passage may reach for further words of the question."""
ORDER = "<>>"
"""Whether the sentence before or after joins next, where there is room."""
SILENCE = 3.0
"""Seconds of silence between two passages."""
AROUND, READ = 0.5, 40
"""What the question's words in the passage count beside its sentence, and sentences that are read so."""
ANSWERABLE = 0.65
"""How sure of the sentence, and which share of the question the passage must have, added up, to answer with it."""


def is_recorded(strip: Strip) -> bool:
    """Tell whether a strip is of a recording."""
    return strip["locator"].get("kind") == "time"


def by_passage(ranked: Sequence[Extract], question: str, idf: Idf) -> list[Extract]:
    """Order the sentences of recordings by themselves and by what is said around them: people come to a point."""
    cut: dict[str, list[tuple[int, int]]] = {}
    wanted, out = content_terms(question), []
    for e in ranked[:READ]:
        parts = cut.setdefault(e.strip["id"], parts_of(e.strip))
        at = next((n for n, (a, b) in enumerate(parts) if a <= e.start < b), 0)
        near = parts[max(0, at - 1) : at + SIDE + 1]
        title = filed_as(e.strip["title"], e.strip["locator"].get("file", ""))
        said = " ".join([title, *(e.strip["text"][a:b] for a, b in near)])
        out.append(replace(e, score=e.score + AROUND * share(wanted, set(terms(said)), idf)))
    return [*sorted(out, key=lambda e: (-e.score, e.strip["id"], e.start)), *ranked[READ:]]


def answers(best: Extract, told: Strip, question: str, idf: Idf) -> bool:
    """Tell whether a passage is sure enough of to answer with it."""
    have, wanted = set(terms(f"{told['title']} {told['text']}")), content_terms(question)
    # A word may be written as two, or two as one: a clean room is a cleanroom.
    asked = terms(question)
    for one, other in pairwise(asked):
        have |= {one, other} if one + other in have else set()
    have |= {a + b for a, b in pairwise(terms(told["text"]))} & set(wanted)
    spelt = {_spelling(t) for t in have}
    have |= {t for t in wanted if _spelling(t) in spelt}
    return best.sure + share(wanted, have, idf) >= ANSWERABLE


def _spelling(term: str) -> str:
    """Return a stem as either side of the Atlantic would write it: centre, colour, licence, organise."""
    return re.sub(r"er$", "r", re.sub(r"(?<=.)our", "or", re.sub(r"c$", "s", re.sub(r"iz$", "is", term))))


async def passage(desk: Desk, best: Extract, question: str, idf: Idf) -> Strip:
    """Return the passage of a sentence as one strip with one time range; across the borders of clips."""
    library = await desk.library()
    item = (await library.items([best.strip["evidence"]])).get(best.strip["evidence"])
    if item is None:
        return best.narrowed
    start = (best.strip["locator"].get("chars") or [0])[0] + best.start
    end = start + best.end - best.start
    if item.text[start:end] != best.narrowed["text"]:
        return best.narrowed
    clips = [i for i in await library.items_of(item.source, "clip") if i.title == item.title]
    image, doubt = "", False
    low, high = item.part("screen")
    if low <= start < high:
        text, seconds, image = slide(clips, item, start)
    else:
        near = [i for i in clips if abs(i.ordinal - item.ordinal) <= 1]
        text, seconds = around(near, item, start, end, {t: idf(t) for t in content_terms(question)})
        said = ((i, s) for i in near for s in i.spans if s.time and s.time[0] < seconds[1] and s.time[1] > seconds[0])
        doubt = any(i.sureness(s.start, s.end) < SURE for i, s in said)
    # What is seen while the sentence itself is said: a passage may pass several slides.
    place: Locator = {**item.during(*_seconds(item, start, end)), "start": seconds[0], "end": seconds[1]}
    if image:
        place["image"] = image
    if doubt:
        place["doubtful"] = True
    return Strip(**{**best.strip, "text": text, "locator": place})


def slide(clips: Sequence[Item], item: Item, start: int) -> tuple[str, tuple[float, float], str]:
    """Return the slide whose line stands at `start` of a clip, the seconds for which it was seen, and its frame.

    Of many lines the title and the nearest are told.
    """

    def held(of: Slide) -> int:
        rows = (n for n, x in enumerate(of.lines) if x.text == line and x.since <= until and x.until >= since)
        return next(rows, -1)

    own = next((s for s in item.spans if s.start <= start < s.end and s.time), None)
    if own is None or own.time is None:
        return item.text[start : item.part("screen")[1]], _seconds(item, start, start + 1), ""
    line, (since, until) = item.text[own.start : own.end], own.time
    shown = next((s for s in slides_of(clips) if held(s) >= 0), None)
    if shown is None:
        return line, own.time, ""
    at, told = held(shown), [x.text for x in shown.lines]
    head = told.index(shown.title)
    kept, room = {head}, LONGEST - len(words(shown.title))
    for n in sorted(range(len(told)), key=lambda n: (abs(n - at), -n)):
        room -= len(words(told[n])) if n != head else 0
        if room < 0 and n != at:
            break
        kept.add(n)
    return "\n".join(told[n] for n in sorted(kept)), (shown.since, shown.until), shown.image


def around(
    clips: Sequence[Item], item: Item, start: int, end: int, wanted: Mapping[str, float]
) -> tuple[str, tuple[float, float]]:
    """Return the sentences around text[start:end] of a clip that say most of what is wanted, and their seconds.

    `clips` are the clip and those beside it, in order; `wanted` is how much each term of the question weighs.
    """
    said: list[tuple[Item, int, int]] = []
    for clip in clips:
        low, high = clip.part("transcript")
        said += [(clip, low + a, low + b) for a, b in pieces(clip.text[low:high])]
    own = [n for n, (c, a, b) in enumerate(said) if c.id == item.id and a < end and b > start]
    if not own:
        return item.text[start:end], _seconds(item, start, end)
    times = [_seconds(*row) for row in said]
    # What is said after a silence is another passage; who speaks into a long sentence ends before it does.
    ends = [*accumulate((end for _, end in times), max)]
    first, last = own[0], own[-1] + 1
    while first and times[first][0] - ends[first - 1] <= SILENCE:
        first -= 1
    while last < len(said) and times[last][0] - ends[last - 1] <= SILENCE:
        last += 1
    said, times, own = said[first:last], times[first:last], [n - first for n in own]
    texts = [c.text[a:b] for c, a, b in said]
    lengths = [len(words(t)) for t in texts]
    held = [set(terms(t)) for t in texts]

    def worth(low: int, high: int) -> tuple[float, int]:
        have = set().union(*held[low:high])
        return round(sum(w for t, w in wanted.items() if t in have), 2), -sum(lengths[low:high])

    first, last = own[0], own[-1] + 1
    spans = [
        (a, b) for a in range(max(0, first - SIDE), first + 1) for b in range(last, min(len(said), last + SIDE) + 1)
    ]
    able = [s for s in spans if s == (first, last) or sum(lengths[slice(*s)]) <= LONGEST]
    low, high = max(able, key=lambda s: worth(*s))
    count = sum(lengths[low:high])
    for side in ORDER:
        at = low - 1 if side == "<" else high
        if 0 <= at < len(said) and count + lengths[at] <= LONGEST:
            low, high, count = min(low, at), max(high, at + 1), count + lengths[at]
    # A clip may begin and end within a sentence.
    while high < len(said) and said[high][0] is not said[high - 1][0] and _open(texts[high - 1]):
        high += 1
    while low and said[low][0] is not said[low - 1][0] and _open(texts[low - 1]):
        low -= 1
    return _joined(said[low:high]), (min(a for a, _ in times[low:high]), max(b for _, b in times[low:high]))


def _joined(said: Sequence[tuple[Item, int, int]]) -> str:
    """Join sentences of clips; each clip names its first speaker again, which is left out where nobody else spoke."""
    texts = [clip.text[a:b] for clip, a, b in said]
    out = texts[0]
    for (before, _, end), (clip, start, _), told in zip(said, said[1:], texts[1:], strict=False):
        if clip.id == before.id:
            out += ("\n" if "\n" in clip.text[end:start] else " ") + told
        else:
            heads = [_voice(line) for line in before.text[:end].split("\n\n")]
            same = _voice(told) == next((h for h in reversed(heads) if h), "")
            out += " " + (spoken(told) if same else told)
    return out


def _voice(text: str) -> str:
    """Return the name of the speaker that a transcript puts before a text, or ""."""
    return text[: len(text) - len(spoken(text))]


def _open(text: str) -> bool:
    return not text.rstrip().endswith((".", "!", "?", "…", "。", '"', "”"))


def _seconds(item: Item, start: int, end: int) -> tuple[float, float]:
    place = item.locate(start, end)
    return place["start"], place["end"]
