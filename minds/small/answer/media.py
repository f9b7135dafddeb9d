"""Where a question names two media, “the invoice” and “the mail”, what the other one says stands beside the answer."""

from __future__ import annotations

import asyncio
import re

from ragweave.corpora.types import Corpus, Item, Locator
from ragweave.corpora.video.scope import search_within
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk, idf_of, within
from ragweave.minds.evidence import Strip
from ragweave.minds.page import Page
from ragweave.minds.passages import as_read, as_strip, evidence_of, floors
from ragweave.minds.small.answer.deck import decks_of, show_block
from ragweave.minds.small.answer.sentences import Extract, rank
from ragweave.minds.small.answer.spoken import is_recorded, passage
from ragweave.minds.small.question.asked import Idf, share
from ragweave.models.text import content_terms, terms

READ = 10
"""Items of a medium that are read."""
ABOUT = 0.5
"""How much of what was asked and told must stand in what is shown beside it."""
_MAIL = re.compile(r"\A(?:from|von|de): .*@", re.I)
MEDIA: dict[str, tuple[Corpus, re.Pattern[str]]] = {
    "slide": ("clip", re.compile(r"\bslides?\b|\bon (?:the )?screen\b", re.I)),
    "speech": ("clip", re.compile(r"\b(?:the|our|my) (?:guest|speaker|host|lecturer|presenter|narrator)s?\b", re.I)),
    "mail": ("paragraph", re.compile(r"\b(?:e-?)?mails?\b", re.I)),
    "paper": ("image", re.compile(r"\b(?:receipts?|invoices?|bills?)\b", re.I)),
}
"""The medium, the corpus that holds it, and what names it."""
_SAYS = re.compile(
    r"\baccording to (?:the|our|my) (?P<a>[\w-]+)|\b(?:in|from|by) (?:the|our|my) (?P<b>e?-?mail)\b"
    r"|\b(?P<c>guest|speaker|host|lecturer|presenter|narrator|e?-?mail) (?:says?|said|tells?|told|thinks?|explains?)\b",
    re.I,
)
"""Who or what is to say it: nothing else answers."""

_VERBS = frozenset(content_terms("say tell state show give"))


def named(question: str) -> list[str]:
    """Return the media that a question names."""
    return [name for name, (_, form) in MEDIA.items() if form.search(question)]


def plain(question: str) -> str:
    """Return a question without the words that name media; "" where it asks no more than what one of them says."""
    for _, form in MEDIA.values():
        question = form.sub(" ", question)
    return " ".join(question.split()) if set(content_terms(question)) - _VERBS else ""


async def attributed(desk: Desk, question: str) -> list[Strip]:
    """Return what the one medium holds that is to say it; nothing where the question leaves that open."""
    m = _SAYS.search(question) if len(named(question)) == 1 else None
    name = next(iter(named(f"the {m[m.lastgroup]}")), "") if m and m.lastgroup else ""
    if name not in ("speech", "mail"):
        return []
    strips = await _held(desk, name, plain(question))
    scores = await floors(await desk.library(), question, [as_read(s) for s in strips])
    return [Strip(**{**s, "score": score}) for s, score in zip(strips, scores, strict=True)]


async def beside(desk: Desk, brief: Brief, page: Page) -> None:
    """Show what each medium that a question names says to it, where the answer cites nothing of that medium."""
    asked = named(brief.question)
    if len(asked) < 2 or not page.sentences:
        return
    library = await desk.library()
    cited = await library.items([c.id for c in page.citations])
    said, titles = " ".join(s.text for s in page.sentences), " ".join(i.title for i in cited.values())
    # What a file is called says where it was found; only where nothing else is said is it what was spoken of.
    told = " ".join(set(content_terms(said)) - set(content_terms(titles))) or f"{said} {titles}"
    for name in asked:
        if any(is_of(name, i) for i in cited.values()):
            continue
        if name == "slide":
            await _slide(desk, brief, plain(brief.question), told, page)
        elif (best := await _best(desk, name, brief.question, told)) is not None:
            strip = best.narrowed
            if is_recorded(strip):
                strip = await passage(desk, best, brief.question, await idf_of(desk, brief.question))
            page.show(strip["text"], "verified", [strip], best.sure)


def is_of(name: str, item: Item) -> bool:
    """Tell whether an item is of a medium."""
    if name in ("slide", "speech"):
        of = item.part("screen" if name == "slide" else "transcript") if item.corpus == "clip" else (0, 0)
        return of[1] > of[0]
    if name == "paper":
        return item.corpus == "image"
    return item.locator.get("file", "").endswith(".eml") or bool(_MAIL.match(item.text))


async def _slide(desk: Desk, brief: Brief, asked: str, told: str, page: Page) -> None:
    """Show the slide that speaks of what was asked and told."""
    answer = set(content_terms(told))
    idf = await idf_of(desk, f"{asked} {told}")
    about = " ".join(w for w in asked.split() if answer.issuperset(content_terms(w))) or asked
    decks = await decks_of(desk, brief, about, True)
    able = [
        (_near(asked, told, s.text, idf), len(answer & set(terms(s.title))), of, s) for of in decks for s in of.slides
    ]
    best = max(able, key=lambda row: row[:2], default=None)
    if best is not None and best[0] >= ABOUT:
        show_block(page, *best[2:], asked)


def _near(asked: str, told: str, text: str, idf: Idf) -> float:
    """Return how much of what a question and its answer share, or of the answer, stands in a text, by rarity."""
    answer, have = set(content_terms(told)), set(terms(text))
    return max(share(set(content_terms(asked)) & answer, have, idf), share(answer, have, idf))


async def _best(desk: Desk, name: str, question: str, told: str) -> Extract | None:
    """Return the sentence of a medium that is best by the question, where its item speaks of what was told."""
    asked = plain(question)
    strips = await _held(desk, name, asked)
    idf = await idf_of(desk, f"{asked} {told}")
    found = await asyncio.to_thread(rank, asked, strips, idf)

    def about(e: Extract) -> float:
        return _near(asked, told, f"{e.strip['title']} {e.strip['text']}", idf)

    return next((e for e in found if about(e) >= ABOUT), None)


async def _held(desk: Desk, name: str, query: str) -> list[Strip]:
    """Return what a search of a medium finds, as strips; of a recording what was said."""
    library = await desk.library()
    (lists,) = await search_within(library, MEDIA[name][0], [query], await within(desk), READ)
    items = await library.items([h.id for h in (*lists.lexical, *lists.dense)])
    out = []
    for item in items.values():
        low, high = item.part("transcript") if name == "speech" else (0, len(item.text))
        if is_of(name, item):
            row = as_strip(evidence_of(item, query, 1, 0.0, 0.0))
            place: Locator = {**item.locator, "chars": [low, high]}
            out.append(Strip(**{**row, "text": item.text[low:high], "locator": place}))
    return out
