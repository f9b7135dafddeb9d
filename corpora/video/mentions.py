"""Read the timeline of the recordings: every mention of a thing in order, and what stands around a moment."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item, Locator
from ragweave.corpora.video.places import stretch
from ragweave.corpora.video.scope import Scope
from ragweave.corpora.video.utterances import pieces
from ragweave.models.text import UNSPACED, content_terms, fold, sentences, terms

Kind = Literal["first", "last", "count", "after", "before", "order", "at"]

MOST = 5_000
"""Clips in which one thing is looked for."""
LISTED = 20
"""Moments that are handed on; all are counted."""
AFTER = 3
"""Sentences that `after` and `before` hand on."""
SPEAKER = re.compile(r"^([^\W\d_][^:\n]{1,40}):\s", re.M)
"""The name before what somebody says."""
WINDOW = 40
"""Sentences that a stretch of time hands on."""


@dataclass(frozen=True)
class Asked:
    """What a question asks of the timeline.

    `thing` is empty for `at` where all that is there is asked for; `other` is the other thing of `order`, and `late`
    says that the later one is wanted. `start` and `end` are the seconds of `at`; a negative start counts from the end.
    """

    kind: Kind
    thing: str = ""
    other: str = ""
    start: float = 0.0
    end: float = 0.0
    late: bool = False


@dataclass(frozen=True)
class Mention:
    """One place in a clip's text: from the character `start` up to `end`."""

    item: Item
    start: int
    end: int

    @property
    def text(self) -> str:
        """Its words."""
        return self.item.text[self.start : self.end]

    @property
    def place(self) -> Locator:
        """Where it lies, to the second."""
        return self.item.locate(self.start, self.end)

    @property
    def speaker(self) -> str:
        """Who says it, where a transcript names speakers, or ""."""
        before = [m[1] for m in SPEAKER.finditer(self.item.text) if m.start() <= self.start]
        return before[-1] if before else ""

    @property
    def recording(self) -> tuple[str, str]:
        """Source and title of its recording."""
        return self.item.source, self.item.title


@dataclass(frozen=True)
class Told:
    """What the timeline says, in its order; without moments, `asked.thing` is never mentioned.

    `others` are mentions of the other thing, for `order`, or the moment that was asked from, for `after` and `before`;
    `total` counts all mentions, also where only the first ones are listed.
    """

    asked: Asked
    moments: tuple[Mention, ...] = ()
    others: tuple[Mention, ...] = ()
    total: int = 0


async def read_timeline(library: Library, asked: Asked, scope: Scope) -> Told | None:
    """Return what the timeline says, or None where it says nothing.

    That a thing is never mentioned says something where its mentions are asked for: then there are no moments.
    """
    if asked.kind == "at":
        moments = await _window(library, asked, scope)
        return Told(asked, tuple(moments), total=len(moments)) if moments else None
    mentions = await mentions_of(library, asked.thing, scope)
    if asked.kind in ("after", "before"):
        # Of several mentions the first one of a recording is meant.
        around = await _around(library, mentions[0], asked.kind == "after", scope) if mentions else []
        return Told(asked, tuple(around), (mentions[0],), len(around)) if around else None
    if not mentions:
        return Told(asked)
    if asked.kind == "count":
        return Told(asked, tuple(mentions[:LISTED]), total=len(mentions))
    others: list[Mention] = []
    if asked.kind == "order":
        others = await mentions_of(library, asked.other, scope)
        if not others:
            return Told(Asked("order", asked.other))
    # Of each recording the first mention is told, or the last.
    edges: dict[tuple[str, str], Mention] = {}
    for m in reversed(mentions) if asked.kind == "last" else mentions:
        edges.setdefault(m.recording, m)
    listed = [whole(m) for m in edges.values()][:LISTED]
    return Told(asked, tuple(listed), tuple(whole(m) for m in others[:LISTED]), len(mentions))


async def mentions_of(library: Library, thing: str, scope: Scope) -> list[Mention]:
    """Return every mention of a thing, recording by recording in the order of time.

    A mention is the thing's words one after another, by their stems, in what was said or stood on the screen. Where
    they never stand together, a sentence that holds all of its content words counts.
    """
    if not terms(thing):
        return []
    (lists,) = await library.search("clip", [thing], MOST, scope.sources)
    items = await library.items([h.id for h in lists.lexical])
    return await asyncio.to_thread(_mentions, [i for i in items.values() if scope.holds(i)], thing)


def _mentions(items: Sequence[Item], thing: str) -> list[Mention]:
    said = [(i, i.text[: heard(i)]) for i in items]
    found = [Mention(i, a, b) for i, text in said for a, b in phrases(text, thing)]
    wanted = set(content_terms(thing))
    if not found and wanted:
        found = [Mention(i, a, b) for i, text in said for a, b in sentences(text) if wanted <= set(terms(text[a:b]))]
    return sorted(found, key=lambda m: (*m.recording, m.place.get("start", 0.0), m.start))


def heard(item: Item) -> int:
    """Return where what was said and shown ends in a clip's text, and its description or another language begins."""
    parts = item.meta.get("parts")
    ends = [parts[k][0] for k in ("caption", "also") if k in parts] if isinstance(parts, dict) else []
    return int(min(ends, default=len(item.text)))


_UNSPACED = re.compile(rf"[{UNSPACED}]")
_EDGES = "\"'“”‘’()[]«».,;:!?…-–—"


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
    words = [(t, m.start(), m.end()) for m in re.finditer(r"\S+", text) for t in terms(m.group())]
    out: list[tuple[int, int]] = []
    for i in range(len(words) - len(wanted) + 1):
        if [w for w, _, _ in words[i : i + len(wanted)]] == wanted:
            start, end = words[i][1], words[i + len(wanted) - 1][2]
            said = text[start:end]
            out.append((start + len(said) - len(said.lstrip(_EDGES)), start + len(said.rstrip(_EDGES))))
    return out


def whole(mention: Mention) -> Mention:
    """Widen a mention to the sentence that it stands in."""
    spans = sentences(mention.item.text[: heard(mention.item)])
    held = next(((a, b) for a, b in spans if a <= mention.start < b), (mention.start, mention.end))
    return Mention(mention.item, held[0], max(held[1], mention.end))


async def _around(library: Library, begin: Mention, after: bool, scope: Scope) -> list[Mention]:
    """Return the sentences that follow a mention's own sentence, or that precede it, in the order of time."""
    line = await _line(library, begin.recording, scope)
    own = whole(begin)
    at = next((n for n, m in enumerate(line) if (m.item.id, m.start) == (own.item.id, own.start)), None)
    if at is None:
        return []
    return line[at + 1 : at + 1 + AFTER] if after else line[max(0, at - AFTER) : at]


async def _window(library: Library, asked: Asked, scope: Scope) -> list[Mention]:
    """Return what was said and shown in a stretch of time of each recording, all of it or what it was asked about.

    What has less than half of the words that it was asked about leaves nothing, but where it is hardly more than an
    answer.
    """
    wanted = set(content_terms(asked.thing))
    out: list[Mention] = []
    for r in await library.recordings():
        if (scope.sources and r.source not in scope.sources) or (scope.titles and r.title not in scope.titles):
            continue
        if len(out) >= WINDOW and not wanted:
            break
        line = await _line(library, (r.source, r.title), scope, pieces)
        start, end = stretch((asked.start, asked.end), max((m.item.locator.get("end", 0.0) for m in line), default=0.0))
        out += [m for m in line if m.place.get("end", 0.0) > start and m.place.get("start", 0.0) < end]
    covers = [len(wanted & set(terms(m.text))) for m in out]
    if max(covers, default=0) * 2 >= len(wanted) > 0:
        best = set(sorted(range(len(out)), key=lambda n: -covers[n])[:WINDOW])
        return [m for n, m in enumerate(out) if n in best and covers[n]]
    return out[:WINDOW] if not wanted or len(out) <= AFTER else []


async def _line(
    library: Library,
    recording: tuple[str, str],
    scope: Scope,
    cut: Callable[[str], Iterable[tuple[int, int]]] = sentences,
) -> list[Mention]:
    """Return every sentence of a recording within the scope, in the order of time."""
    source, title = recording
    clips = [i for i in await library.items_of(source, "clip") if i.title == title and scope.in_time(i.locator)]
    ordered = sorted(clips, key=lambda i: i.ordinal)
    return await asyncio.to_thread(lambda: [Mention(i, a, b) for i in ordered for a, b in cut(i.text[: heard(i)])])
