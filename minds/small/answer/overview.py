"""An overview without a model: what a library holds, or a file's most central sentences, one per heading and cited."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import PurePath

from ragweave.corpora.store.library import Library
from ragweave.corpora.store.rows import Source
from ragweave.corpora.types import Corpus, Item
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk, within
from ragweave.minds.evidence import Strip
from ragweave.minds.page import Page
from ragweave.minds.passages import as_strip, evidence_of, without_doubt
from ragweave.minds.phrases import phrase
from ragweave.minds.small.answer import chapters
from ragweave.minds.small.answer.sentences import parts_of
from ragweave.minds.small.answer.themes import themes
from ragweave.models import tables
from ragweave.models.embed import encoder
from ragweave.models.text import clock, content_terms, names, numbers, terms, words

MOST = 10
"""Excerpts of a file, and groups of files of a library: more than the sentences of an answer to one question."""
NAMED = 0.6
"""Share of the subject's words, by rarity, that a file's title, name and folder must hold."""
SAID = 0.5
"""What a word of the subject counts that stands in the file and not in its name."""
LEAD, EXACT = 0.1, 0.05
"""Worth of the first sentence under a heading, and of each name or number up to three, beside the cosine."""
_TITLES, _HEADS = 4, 15
_WHOLE_FIRST: tuple[Corpus, ...] = ("document", "paragraph", "video", "clip", "image")
_ASKS = re.compile(
    r"\W*(?:please\s+)?(?:(?:can|could)\s+you\s+)?(?:(?P<do>summari[sz]e|sum\s+up|outline|recap|fasse?|résume[rz]?)\b\s*(?P<a>.*?)"
    r"(?:\s+zusammen)?"
    r"|(?:(?:give|show|write|make)\s+(?:me|us)?\s*)?(?:an?|the)?\s*(?:(?:short|brief|quick|general|concise|rough)\s+)*"
    r"(?:summary|overview|outline|gist|recap|history|description|digest|zusammenfassung|überblick|résumé)\s+"
    r"(?:of|on|about|over|von|über|de|du|des)\s+(?P<b>.+?)"
    r"|(?:what(?:['’]s|\s+(?:is|are|was|were))\s+)?(?:the\s+)?(?:main|key|most\s+important)\s+"
    r"(?:points?|topics?|ideas?|themes?)\s+(?:of|in|from)\s+(?P<c>.+?)"
    r"|what(?:['’]s|\s+(?:is|was|are|were))\s+(?P<e>.+?)\s+(?:all\s+)?about"
    r"|what\s+(?:is|was|were)\s+(?:\w+\s+or\s+)?(?:decided|discussed|reported|agreed|resolved|covered|said)\s+(?:\w+\s+)?(?:at|in|during)\s+(?P<f>.+?)"
    r"|what(?:['’]s|\s+is|\s+are)\s+(?:there\s+)?(?:in|inside)\s+(?P<g>.+?)|what\s+does\s+(?P<h>.+?)\s+(?:cover|contain|hold)"
    r"|what\s+did\s+(?P<k>.+?\s+(?:get\s+up\s+to|do)\s+(?:at|in|on|during)\s+.+?)"
    r"|worum\s+geht\s+es\s+in\s+(?P<i>.+?)|de\s+quoi\s+(?:parle|traite)\s+(?P<j>.+?))\s*[?.!]*",
    re.I,
)
_WHICH = re.compile(r"\W*(?:which|what)\s+\w+s\s+are\b.+", re.I)
_ALL = re.compile(
    r"(?:all\s+(?:of\s+)?)?(?:the|this|my|our|these|your|dieser|meiner|cette|ma)?\s*"
    r"(?:library|libraries|bibliothek|bibliothèque|notes|files|documents|collection|folder|archive|knowledge base)"
    r"(?:\s+here)?",
    re.I,
)
_THIS = re.compile(
    r"(?:this|the|dies\w*|ce)?\s*(?:file|document|text|page|recording|video|note|it|datei|fichier)", re.I
)


def subject_of(question: str) -> str | None:
    """Return what an overview is asked of, or None where none is asked for."""
    m = _ASKS.fullmatch(question.strip())
    if m is None:
        return None
    return next((v for k, v in m.groupdict().items() if v and k != "do"), "")


async def overview(desk: Desk, brief: Brief, page: Page) -> bool:
    """Show the overview that a question asks for; False where it asks for none, or names no file of the library."""
    if await themes(desk, brief, page):
        return True
    about = subject_of(brief.question)
    if about is None and not _WHICH.match(brief.question):
        return False
    library, scope = await desk.library(), await within(desk)
    held = [s for s in await library.sources() if s.items and (not scope.sources or s.id in scope.sources)]
    chapter = None if about is None else await chapters.asked(library, about, scope, len(held) == 1)
    if chapter is not None and await _chapter(desk, library, chapter, brief.question, page):
        return True
    if about is not None and _ALL.fullmatch(about) and len(held) > 1:
        return await _whole(library, held, brief.question, page)
    if about is not None and len(held) == 1 and (_THIS.fullmatch(about) or _ALL.fullmatch(about)):
        found: Source | None = held[0]
    else:
        found = await _named(library, held, brief, about)
    whole = None if about is None else await chapters.named(library, about, scope, found.id if found else "")
    if whole is not None:
        clips = [c for c in await library.items_of(whole.source, "clip") if c.title == whole.title]
        if chapters.show(whole, clips, brief.question, page):
            return True
        found = (await library.source_of([whole.id])).get(whole.id)
    if found is None:
        return False
    items = [i for c in ("paragraph", "clip") for i in await library.items_of(found.id, c)]
    items = [i for i in items if whole is None or i.title == whole.title]
    chosen = excerpts(items, max(MOST, desk.context.sentences))
    if not chosen:
        return False
    facts = [found.kind, *([found.date.date().isoformat()] if found.date else [])]
    heads = list(dict.fromkeys(h for i in items for h in chapters.sections(i) if h != found.title))
    told = phrase("excerpts", brief.question, title=found.title, facts=", ".join(facts))
    if len(heads) > 1:
        told = f"{told[:-1]} – {'; '.join(heads[:_HEADS])}{'; …' if len(heads) > _HEADS else ''}:"
    page.show(told, "verified", [_strip(items[0], 0, 0)], 1.0)
    _tell(chosen, page)
    return True


def _tell(chosen: Sequence[Strip], page: Page) -> None:
    for strip in chosen:
        # A sentence of a section is read with its heading.
        under = strip["title"].split(" · ")[-1] if " · " in strip["title"] else ""
        said = " ".join(strip["text"].split())
        at = [clock(strip["locator"]["start"])] if strip["locator"].get("kind") == "time" else []
        head = " ".join([*at, *([under] if under and under not in said else [])])
        page.show(f"{head}: {said}" if head else said, "verified", [strip], 1.0)


async def _chapter(
    desk: Desk, library: Library, chapter: tuple[Item, float, float, str], question: str, page: Page
) -> bool:
    """Show what is said in a chapter of a recording; False where nothing is."""
    whole, start, end, title = chapter
    clips = [c for c in await library.items_of(whole.source, "clip") if c.title == whole.title]
    chosen = excerpts(clips, max(MOST, desk.context.sentences), title)
    if not chosen:
        return False
    told = phrase("excerpts", question, title=f"{whole.title} · {title}", facts=f"{clock(start)}–{clock(end)}")
    page.show(told, "verified", [_strip(whole, 0, 0)], 1.0)
    _tell(chosen, page)
    return True


async def _named(library: Library, held: Sequence[Source], brief: Brief, about: str | None) -> Source | None:
    """Return the file that a subject names by words of its title, name and folder; what was found breaks ties."""
    wanted = content_terms(brief.question if about is None else about)
    if not wanted or (about is None and len(wanted) < 2):
        return None
    every = content_terms(brief.question)
    idf = await library.idf({*wanted, *every})
    rows = [e for e in brief.rows.values() if e["origin"] == "library"]
    seen = Counter(str(e["locator"].get("file", "")) for e in rows)
    text: dict[str, set[str]] = {}
    for e in rows:
        text.setdefault(str(e["locator"].get("file", "")), set()).update(terms(e["text"]))

    def share(s: Source, of: Sequence[str]) -> float:
        path = PurePath(s.path)
        name, said = {*terms(f"{s.title} {path.stem.replace('_', ' ')} {path.parent.name}")}, text.get(s.path, set())
        have = sum(idf[t] * (1.0 if t in name else SAID if t in said else 0.0) for t in of)
        return have / (sum(idf[t] for t in of) or 1.0)

    def order(s: Source) -> tuple[float, float, int, float]:
        return (
            round(share(s, wanted), 2),
            round(share(s, every), 2),
            seen[s.path],
            s.date.timestamp() if s.date else 0.0,
        )

    best = max(held, key=order, default=None)
    return best if best is not None and share(best, wanted) >= NAMED else None


def excerpts(items: Sequence[Item], most: int, heading: str = "") -> list[Strip]:
    """Return the most central sentences in reading order, one per heading, and more of each where there are few.

    `heading` is the only one of which they are taken, where it is given.
    The centre is the mean of all sentences; where there are more headings than `most`, the most central ones stay.
    """
    spans: list[tuple[Item, int, int]] = []
    for item in items:
        whole = as_strip(evidence_of(item, "", 1, 0.0, 0.0))
        placed = [(chapters.under(item, a, b), a, b) for a, b in parts_of(whole)]
        said = [(i, a, b) for i, a, b in placed if _says(i, whole["text"][a:b])]
        spans += [row for row in said if not heading or heading in row[0].heading]
    if not spans:
        return []
    texts = [tables.told(i.text, a, b) for i, a, b in spans]
    vectors = encoder().texts(texts)
    near = vectors @ vectors.mean(axis=0)
    groups = [
        [n for n, _ in g] for _, g in groupby(enumerate(spans), key=lambda row: row[1][0].heading or row[1][0].id)
    ]
    worth = [float(v) + EXACT * min(3, len(names(t)) + len(numbers(t))) for v, t in zip(near, texts, strict=True)]
    for g in groups:
        worth[g[0]] += LEAD
    each = max(1, most // len(groups))
    kept = [n for g in groups for n in sorted(g, key=lambda n: -worth[n])[:each]]
    kept = sorted(sorted(kept, key=lambda n: -worth[n])[:most])
    return [_strip(*spans[n]) for n in kept]


def _says(item: Item, sentence: str) -> bool:
    said = words(sentence)
    return len(said) >= 4 and not set(said) <= set(words(" ".join((item.title, *item.heading))))


def _strip(item: Item, start: int, end: int) -> Strip:
    row = as_strip(evidence_of(item, "", 1, 0.0, 1.0))
    # That a file is there is told by its title, and not by what was heard in it.
    named = not end and row["locator"].get("kind") == "time"
    place = item.locate(start, end) if end else without_doubt(item.locator)
    text = item.title if named else item.text[start:end] or row["text"][:200]
    return Strip(**{**row, "id": f"{item.id}#{start}-{end}", "text": text, "locator": place})


async def _whole(library: Library, held: Sequence[Source], question: str, page: Page) -> bool:
    """Say what a library holds: how many files of which kind, between which days, and what lies in each folder."""
    kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(s.kind for s in held).most_common(6))
    dates = sorted(s.date.date().isoformat() for s in held if s.date)
    span = f", {dates[0]} – {dates[-1]}" if dates else ""
    page.show(phrase("holds", question, n=str(len(held)), kinds=f"{kinds}{span}"), "verified", [], 1.0)
    folders: dict[str, list[Source]] = {}
    for s in held:
        folders.setdefault(PurePath(s.path).parent.name, []).append(s)
    for name, inside in sorted(folders.items(), key=lambda row: -len(row[1]))[:MOST]:
        rests = []
        for s in inside[:_TITLES]:
            for corpus in _WHOLE_FIRST:
                if items := await library.items_of(s.id, corpus):
                    rests.append(_strip(items[0], 0, 0))
                    break
        titles = ", ".join(f"“{s.title}”" for s in inside[:_TITLES]) + (", …" if len(inside) > _TITLES else "")
        page.show(f"{name} ({len(inside)}): {titles}", "verified", rests, 1.0)
    return True
