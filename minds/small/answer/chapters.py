"""What a recording is about: its key phrases, and its chapters with their times, a sentence each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ragweave.corpora.store.library import Library
from ragweave.corpora.store.rows import Recording
from ragweave.corpora.types import Item, Span
from ragweave.corpora.video.places import KINDS
from ragweave.corpora.video.scope import Scope, named_scope
from ragweave.minds.evidence import Strip
from ragweave.minds.page import Page
from ragweave.minds.passages import as_strip, evidence_of
from ragweave.minds.phrases import phrase
from ragweave.minds.small.question.asked import share
from ragweave.models.text import clip, clock, content_terms, terms, words

NAMED = 0.6
"""Share of the words, by rarity, that the title of a recording must hold."""
LEAST, MOST = 6, 12
"""Chapters that are told: of fewer none, for a short recording is told by its sentences; of more, at equal steps."""
_QUOTE = 300
_CHAPTER = re.compile(r"\b(?:chapter|kapitel|chapitre)\b(.+)", re.I | re.S)
_OF = ("of", "in", "from", "von", "aus", "de", "du")
PHRASES = re.compile(r"^Key phrases: (.+)\.$", re.M)
"""The line of the whole that has the key phrases."""


async def recordings_in(library: Library, scope: Scope) -> list[Recording]:
    """Return the recordings that lie within a scope."""
    held = [r for r in await library.recordings() if not scope.sources or r.source in scope.sources]
    return [r for r in held if not scope.titles or r.title in scope.titles]


async def named(library: Library, about: str, scope: Scope, source: str = "") -> Item | None:
    """Return the whole of the recording whose title or topic a subject names, of one source where it is given."""
    scope = replace(scope, sources=(source,)) if source else scope
    known = await recordings_in(library, scope)
    wanted = content_terms(re.sub(rf"\b{KINDS}\b", " ", about, flags=re.I))
    idf = await library.idf(wanted)

    def names(title: str) -> float:
        return share(wanted, set(terms(title)), idf.__getitem__)

    best = max(known, key=lambda r: names(r.title), default=None)
    only = source and len(known) == 1
    if best is None or (not only and names(best.title) < NAMED):
        meant = await named_scope(library, f"in {about}", scope)
        best = next((r for r in known if meant.titles == (r.title,)), None)
    if best is None:
        return None
    return (await library.items([best.id])).get(best.id)


async def asked(
    library: Library, about: str, scope: Scope, alone: bool = False
) -> tuple[Item, float, float, str] | None:
    """Return the whole, the seconds and the title of the one chapter that a subject names, or None.

    `alone` tells that nothing else than one source can be meant.
    """
    m = _CHAPTER.search(about)
    if m is None:
        return None
    # “Chapter 3” may be all of its title.
    wanted = [words(m[1]), words(m[0])]
    wholes = (await library.items([r.id for r in await recordings_in(library, scope)])).values()
    found: list[tuple[int, Item, float, float, str]] = []
    for whole in wholes:
        for start, end, title in whole.chapters:
            said = words(title)
            rest = next((w[len(said) :] for w in wanted if said and w[: len(said)] == said), None)
            if rest is None:
                continue
            of = set(content_terms(" ".join(rest[1:]))) if rest and rest[0] in _OF else set()
            # “Chapter 3” is a chapter of anything: of a film only where that is named, or there is nothing else.
            if (alone or not _CHAPTER.match(title)) if not rest else (of and of <= {*content_terms(whole.title)}):
                found.append((len(said), whole, start, end, title))
    longest = [row[1:] for row in found if row[0] == max(n for n, *_ in found)]
    return longest[0] if len(longest) == 1 else None


def sections(item: Item) -> list[str]:
    """Return the headings that the sentences of an item stand under: the chapters of a clip, else the innermost."""
    return [title for *_, title in item.chapters] or [*item.heading[-1:]]


def under(item: Item, start: int, end: int) -> Item:
    """Return a clip of several chapters under that in which text[start:end] is said, any other item as it is."""
    held = item.chapters
    if item.corpus != "clip" or not held:
        return item
    at = item.locate(start, end)["start"]
    return replace(item, heading=tuple(title for low, high, title in held if low <= at < high)[-1:])


def show(whole: Item, clips: Sequence[Item], question: str, page: Page) -> bool:
    """Show the chapters of a recording, each by a frame of its clip; False where more can be said of it."""
    rows = outline(whole)
    if len(rows) < LEAST:
        return False
    row = as_strip(evidence_of(whole, "", 1, 0.0, 1.0))
    found = PHRASES.search(whole.text)
    facts = [clock(whole.locator.get("end", 0.0)), *([found[1]] if found else [])]
    lead = Strip(**{**row, "text": found[0] if found else whole.title})
    page.show(phrase("excerpts", question, title=whole.title, facts=" – ".join(facts)), "verified", [lead], 1.0)
    for head, span in rows:
        place = whole.locate(span.start, span.end)
        start, end = place["start"], place["end"]
        seen = next((c for c in clips if c.frames and c.locator["start"] <= start < c.locator["end"]), None)
        if seen is not None:
            place["image"] = seen.during(start, end)["image"]
        strip = Strip(**{**row, "text": whole.text[span.start : span.end], "locator": place})
        said = clip(" ".join(strip["text"].split()), _QUOTE)
        page.show(f"{head}: {said}" if head and head not in said else said, "verified", [strip], 1.0, sign="-")
    return True


def outline(whole: Item) -> list[tuple[str, Span]]:
    """Return (time and chapter, place of the telling sentence) in order; a chapter without one stands by its title."""
    timed = [s for s in whole.spans if s.time]
    named = whole.chapters
    titles, told = timed[: len(named)], timed[len(named) :]
    out = [(clock(s.time[0]), s) for s in told if s.time] if not named else []
    for (start, end, title), own in zip(named, titles, strict=False):
        inside = next((s for s in told if s.time and start <= s.time[0] < end), own)
        out.append((" ".join(filter(None, (clock(start), title))), inside))
    if len(out) > MOST:
        out = [out[n * len(out) // MOST] for n in range(MOST)]
    return out
