"""Read the timeline of the recordings: every mention of a thing in order, and what stands around a moment."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item
from ragweave.minds.context import Context
from ragweave.minds.evidence import Strip, Timeline
from ragweave.minds.small.moments import Asked
from ragweave.minds.small.windows import stretch
from ragweave.models.text import UNSPACED, content_terms, fold, sentences, terms
from ragweave.nodes.retrieve_video import VideoTask
from ragweave.nodes.scope import in_time, within
from ragweave.nodes.utterances import pieces

MOST = 5_000
"""Clips in which one thing is looked for."""
LISTED = 20
"""Moments that are handed on; all are counted."""
AFTER = 3
"""Sentences that `after` and `before` hand on."""
WINDOW = 40
"""Sentences that a stretch of time hands on."""

_CHUNK = re.compile(r"\S+")
_UNSPACED = re.compile(rf"[{UNSPACED}]")


@dataclass(frozen=True)
class Mention:
    """One place in a clip's text.

    Attributes:
        item: the clip.
        start: first character.
        end: one past the last character.
    """

    item: Item
    start: int
    end: int

    @property
    def at(self) -> tuple[str, str, float, int]:
        """Its place on the timeline: source, recording, seconds, position in the text."""
        return (
            self.item.source,
            self.item.title,
            float(self.item.locate(self.start, self.end).get("start", 0.0)),
            self.start,
        )


async def read_timeline(library: Library, asked: Asked, task: VideoTask, context: Context) -> Timeline | None:
    """Return what the timeline says, or None where it says nothing.

    That a thing is never mentioned says something where its mentions are asked for: then there are no moments.
    """
    query, hop = task["query"], task.get("hop", 1)
    if asked.kind == "at":
        moments = await _window(library, asked, task, context)
        if not moments:
            return None
        return _timeline(asked, [strip(m, query, hop) for m in moments], [], len(moments))
    mentions = await mentions_of(library, asked.thing, task, context)
    if not mentions:
        return None if asked.kind in ("after", "before") else _timeline(asked, [], [], 0)
    if asked.kind in ("after", "before"):
        # Of several mentions the first one of a recording is meant.
        begin = mentions[0]
        around = await _around(library, begin, after=asked.kind == "after", context=context)
        if not around:
            return None
        return _timeline(asked, [strip(m, query, hop) for m in around], [strip(begin, query, hop)], len(around))
    others: list[Mention] = []
    if asked.kind == "order":
        others = await mentions_of(library, asked.other, task, context)
        if not others:
            return _timeline(Asked(asked.kind, asked.other), [], [], 0)
    if asked.kind == "last":
        mentions = list(reversed(mentions))
    listed = [strip(m if asked.kind == "count" else whole(m), query, hop) for m in _spread(mentions, asked.kind)]
    return _timeline(asked, listed, [strip(whole(m), query, hop) for m in others[:LISTED]], len(mentions))


def _timeline(asked: Asked, moments: list[Strip], others: list[Strip], total: int) -> Timeline:
    return {
        "kind": asked.kind,
        "thing": asked.thing,
        "other": asked.other,
        "late": asked.late,
        "moments": moments,
        "others": others,
        "total": total,
    }


def _spread(mentions: Sequence[Mention], kind: str) -> list[Mention]:
    """Return the mentions that are told: of each recording its first, and for a count all of them."""
    if kind == "count":
        return list(mentions[:LISTED])
    seen: dict[tuple[str, str], Mention] = {}
    for m in mentions:
        seen.setdefault((m.item.source, m.item.title), m)
    return list(seen.values())[:LISTED]


async def mentions_of(library: Library, thing: str, task: VideoTask, context: Context) -> list[Mention]:
    """Return every mention of a thing, recording by recording in the order of time.

    A mention is the thing's words one after another, by their stems, in what was said or stood on the screen. Where
    they never stand together, a sentence that holds all of its content words counts.
    """
    wanted = content_terms(thing) or terms(thing)
    if not wanted:
        return []
    (lists,) = await library.search("clip", [thing], MOST, task.get("sources", []))
    items = await library.items([h.id for h in lists.lexical])
    kept = [i for i in items.values() if within(i, task.get("titles", []), context)]
    return await asyncio.to_thread(_mentions, kept, thing)


def _mentions(items: Sequence[Item], thing: str) -> list[Mention]:
    found = [Mention(i, a, b) for i in items for a, b in phrases(i.text[: heard(i)], thing)]
    if not found:
        wanted = set(content_terms(thing))
        for item in items:
            text = item.text[: heard(item)]
            found += [Mention(item, a, b) for a, b in sentences(text) if wanted and wanted <= set(terms(text[a:b]))]
    return sorted(found, key=lambda m: m.at)


def heard(item: Item) -> int:
    """Return where what was said and shown ends in a clip's text, and its description begins."""
    parts = item.meta.get("parts")
    described = parts.get("caption") if isinstance(parts, dict) else None
    return int(described[0]) if described else len(item.text)


def phrases(text: str, phrase: str) -> list[tuple[int, int]]:
    """Return [start, end) of each place where the words of a phrase stand one after another, compared by stems.

    >>> phrases("The rovers drove. A Rover stopped.", "rover")
    [(4, 10), (20, 25)]
    """
    if _UNSPACED.search(phrase):
        # Letter by letter, so that every place stays where it is.
        one, other = ("".join(f if len(f := fold(c)) == 1 else c for c in s) for s in (phrase, text))
        return [(m.start(), m.end()) for m in re.finditer(re.escape(one), other)]
    wanted = terms(phrase)
    if not wanted:
        return []
    words: list[tuple[str, int, int]] = []
    for chunk in _CHUNK.finditer(text):
        words += [(t, chunk.start(), chunk.end()) for t in terms(chunk.group())]
    out: list[tuple[int, int]] = []
    for i in range(len(words) - len(wanted) + 1):
        if [w for w, _, _ in words[i : i + len(wanted)]] == wanted:
            start, end = words[i][1], words[i + len(wanted) - 1][2]
            said = text[start:end]
            out.append((start + len(said) - len(said.lstrip(_EDGES)), start + len(said.rstrip(_EDGES))))
    return out


_EDGES = "\"'“”‘’()[]«».,;:!?…-–—"


def whole(mention: Mention) -> Mention:
    """Widen a mention to the sentence that it stands in."""
    text = mention.item.text
    for a, b in sentences(text[: heard(mention.item)]):
        if a <= mention.start < b:
            return Mention(mention.item, a, max(b, mention.end))
    return mention


async def _around(library: Library, begin: Mention, *, after: bool, context: Context) -> list[Mention]:
    """Return the sentences that follow a mention's own sentence, or that precede it, in the order of time."""
    line = await asyncio.to_thread(_line, await _clips(library, begin.item.source, begin.item.title), context)
    own = whole(begin)
    at = next((n for n, m in enumerate(line) if m.item.id == own.item.id and m.start == own.start), None)
    if at is None:
        return []
    return line[at + 1 : at + 1 + AFTER] if after else line[max(0, at - AFTER) : at]


async def _window(library: Library, asked: Asked, task: VideoTask, context: Context) -> list[Mention]:
    """Return what was said and shown in a stretch of time of each recording, all of it or what it was asked about.

    What has less than half of the words that it was asked about leaves nothing, but where it is hardly more than an
    answer.
    """
    sources, titles = task.get("sources", []), task.get("titles", [])
    wanted = set(content_terms(asked.thing))
    out: list[Mention] = []
    for r in await library.recordings():
        if (sources and r.source not in sources) or (titles and r.title not in titles):
            continue
        if len(out) >= WINDOW and not wanted:
            break
        line = await asyncio.to_thread(_line, await _clips(library, r.source, r.title), context, pieces)
        if not line:
            continue
        last = max(float(m.item.locator.get("end", 0.0)) for m in line)
        start, end = stretch((asked.start, asked.end), last)
        out += [m for m in line if _overlaps(m, start, end)]
    covers = [len(wanted & set(terms(m.item.text[m.start : m.end]))) for m in out]
    if max(covers, default=0) * 2 >= len(wanted) > 0:
        best = set(sorted(range(len(out)), key=lambda n: -covers[n])[:WINDOW])
        return [m for n, m in enumerate(out) if n in best and covers[n]]
    return out[:WINDOW] if not wanted or len(out) <= AFTER else []


def _overlaps(mention: Mention, start: float, end: float) -> bool:
    place = mention.item.locate(mention.start, mention.end)
    return place.get("end", 0.0) > start and place.get("start", 0.0) < end


async def _clips(library: Library, source: str, title: str) -> list[Item]:
    return [i for i in await library.items_of(source, "clip") if i.title == title]


def _line(
    items: Iterable[Item], context: Context, cut: Callable[[str], list[tuple[int, int]]] = sentences
) -> list[Mention]:
    """Return every sentence of clips in the order of time."""
    return [
        Mention(i, a, b)
        for i in sorted(items, key=lambda i: i.ordinal)
        if in_time(i.locator, context)
        for a, b in cut(i.text[: heard(i)])
    ]


def strip(mention: Mention, query: str, hop: int) -> Strip:
    """Return a place on the timeline as a strip, with the seconds of exactly its text."""
    item, start, end = mention.item, mention.start, mention.end
    return {
        "id": f"{item.id}#{start}-{end}",
        "evidence": item.id,
        "text": item.text[start:end],
        "title": item.title,
        "locator": item.locate(start, end),
        "origin": "library",
        "query": query,
        "hop": hop,
        "score": 1.0,
    }
