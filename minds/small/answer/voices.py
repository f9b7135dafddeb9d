"""Who speaks most of something, in which recording, and what two of them say of one point: counted, quoted, timed."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from ragweave.corpora.store.library import Library
from ragweave.corpora.video.mentions import Mention, mentions_of, whole
from ragweave.corpora.video.places import KINDS, named_in
from ragweave.corpora.video.scope import Scope
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk, within
from ragweave.minds.page import Page
from ragweave.minds.small.answer.tell import strip
from ragweave.models.text import clip, clock, fold, terms

MOST = 8
"""Recordings, or people, that are told."""
_QUOTE = 300
_PEOPLE = r"guests?|speakers?|hosts?|lecturers?|presenters?|people"
_SPEAK = r"(?:(?:do|does|did|has|have)\s+)?(?:speaks?|talks?|spoke|talked|discuss(?:es|ed)?)"
_DENSE = re.compile(
    rf"\W*(?:(?:which|what)(?:\s+of\s+(?:the|these|my))?\s+(?:(?P<people>{_PEOPLE})|{KINDS})|(?P<who>who))\s+{_SPEAK}\s+"
    r"(?:(?:the\s+)?most\s+)?(?:(?:about|of|on)\s+)?(?:the\s+most\s+about\s+)?(?P<a>.+?)(?:\s+(?:the\s+)?most)?\W*"
    rf"|\W*in\s+(?:which|what)\s+{KINDS}\s+(?:is|are|was|were)\s+(?P<b>.+?)\s+(?:discussed|talked\s+about|spoken\s+of)\W*",
    re.I,
)
_SAY = r"sa(?:y|ys|id)\s+(?:about|of|on)"
_PAIR = r"(?P<a>.+?)\s+and\s+(?P<b>.+?)"
_FORMS = tuple(
    re.compile(rf"\W*{form}\W*", re.I)
    for form in (
        rf"(?:compare\s+)?what\s+(?:(?:do|did)\s+)?{_PAIR}\s+(?:each\s+|both\s+)?{_SAY}\s+(?P<thing>.+?)",
        rf"how\s+(?:does|did)\s+what\s+(?P<a>.+?)\s+{_SAY}\s+(?P<thing>.+?)\s+differ\s+from\s+(?:what\s+)?(?P<b>.+?)(?:\s+sa(?:ys|id))?",
        rf"what\s+is\s+the\s+difference\s+between\s+{_PAIR}\s+(?:on|about|regarding)\s+(?P<thing>.+?)",
        rf"(?:how\s+do|compare)\s+{_PAIR}\s+(?:differ\s+)?(?:on|about|regarding)\s+(?P<thing>.+?)",
    )
)


async def voices(desk: Desk, brief: Brief, page: Page) -> bool:
    """Answer who speaks most of something, or what two say of it; False where neither is asked, or nobody does."""
    asked = brief.question.strip()
    library = await desk.library()
    if (m := _DENSE.fullmatch(asked)) and await library.recordings():
        return await _densest(library, desk, m, asked, page)
    pair = next((m for form in _FORMS if (m := form.fullmatch(asked))), None)
    if pair is None:
        return False
    thing, sides = _named(pair["thing"]), (pair["a"], pair["b"])
    if (kind := re.match(rf"\W*(?:the )?({KINDS})\b", sides[0], re.I)) and re.fullmatch(r"[\d ]+", sides[1]):
        sides = (sides[0], f"{kind[1]} {sides[1]}")
    found = await _mentions(library, desk, thing)
    by = [_of(side, found, [r.title for r in await library.recordings()]) for side in sides]
    if not all(moments for _, moments in by):
        return False
    for name, moments in by:
        _show(page, f"{name}{moments[0].item.title}", moments, asked)
    return True


async def _mentions(library: Library, desk: Desk, thing: str) -> list[Mention]:
    """Return the mentions of a thing, not of other words of its stem (“explain” of explainability)."""
    found = await mentions_of(library, thing, await within(desk))
    begins = fold(thing)[: max(3, len(thing) - 2)]
    return [m for m in found if fold(m.text).startswith(begins)] or found


async def _densest(library: Library, desk: Desk, m: re.Match[str], asked: str, page: Page) -> bool:
    """Show where something is spoken of most: recordings by mentions an hour, people by mentions."""
    people, thing = m["people"] or m["who"] or "", _named(m["a"] or m["b"])
    by: dict[str, list[Mention]] = defaultdict(list)
    for found in await _mentions(library, desk, thing):
        by[found.speaker if people else found.item.title].append(found)
    by.pop("", None)
    lasts = {r.title: max(r.end, 1.0) for r in await library.recordings()}
    if people.lower().startswith("guest"):
        # A guest comes once; who speaks in several recordings is at home there.
        heard = {
            who: {m.item.title for m in await mentions_of(library, who, Scope()) if m.speaker == who} for who in by
        }
        by = {who: rows for who, rows in by.items() if len(heard[who]) < 2}
    order = sorted(by, key=lambda k: (-len(by[k]) / (1.0 if people else lasts.get(k, 1.0)), k))
    for name in order[:MOST]:
        _show(page, name, by[name], asked, counted=True)
    return bool(order)


def _named(thing: str) -> str:
    """Return what is spoken of without its article and quotation marks."""
    return re.sub(r"^(?:the|an?)\s+", "", thing.strip(" \"'“”‘’"), flags=re.I)


def _of(side: str, found: Sequence[Mention], titles: Sequence[str]) -> tuple[str, list[Mention]]:
    """Return who or nothing, and what is said, of the speaker or the recording that a side of a comparison names."""
    named, wanted = named_in(f"in {side}", titles), set(terms(side))
    if named:
        return "", [m for m in found if m.item.title in named]
    said = [m for m in found if m.speaker and wanted and wanted <= set(terms(m.speaker))]
    return (f"{said[0].speaker}, " if said else ""), said


def _show(page: Page, name: str, moments: Sequence[Mention], question: str, counted: bool = False) -> None:
    """Show one quotation with its time: from the clip that speaks of the thing most, the first of them."""
    clips = Counter(m.item.id for m in moments)
    best = whole(max(moments, key=lambda m: clips[m.item.id]))
    times = f", {len(moments)} times" if counted and len(moments) > 1 else ""
    said = clip(" ".join(best.text.split()), _QUOTE)
    head = f"{name}{times}, at {clock(best.place.get('start', 0.0))}"
    page.show(f"{head}: “{said}”", "verified", [strip(best, question, 1)], 1.0, sign="-")
