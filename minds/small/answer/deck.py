"""Slides that a question names, counts or asks an entry of; and what was said while one was shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ragweave.corpora.types import SURE, Item
from ragweave.corpora.video.places import KINDS
from ragweave.corpora.video.scope import named_scope, search_within
from ragweave.corpora.video.slides import Slide, slides_of
from ragweave.minds.contracts import Brief
from ragweave.minds.desk import Desk, idf_of, within
from ragweave.minds.evidence import Strip
from ragweave.minds.page import Page
from ragweave.minds.passages import as_strip, evidence_of
from ragweave.minds.small.answer import chapters
from ragweave.minds.small.answer.overview import subject_of
from ragweave.minds.small.question.asked import asked_of, share
from ragweave.minds.small.question.value import lacks, unidentified
from ragweave.models.text import content_terms, fold, terms, words

LONGEST = 100
"""Words of a slide, or of what was said to it, that are shown."""
FOUND, DECKS = 30, 4
"""Clips that are searched for a slide, and recordings whose slides are read."""
ABOUT = 0.5
"""Share of the other words of a question, by rarity, that a slide and its recording must have."""
NOUN = 0.5
"""Share of a title's words that must be the noun that is counted or listed."""
_ORDER = {
    **{w: n for n, w in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split())},
    **dict.fromkeys(("title", "opening"), 0),
    **dict.fromkeys(("last", "final", "closing"), -1),
}
_NTH = rf"(?P<nth>{'|'.join(_ORDER)})"
_QUOTED = r"[\"“«‘']?(?P<{}>[^\"”»?.,]{{1,80}}?)[\"”»’']?"
_ENDS = r"(?=\s*[?.,]|\s*$| (?:is|was|show)\b)"
_SLIDE = re.compile(
    r"\b(?P<side>before|after|follows|following|precedes|preceding)?\s*(?:the )?(?:"
    r"[\"“«](?P<a>[^\"”»]{1,80})[\"”»] slide\b"
    r"|slide [\"“«](?P<d>[^\"”»]{1,80})[\"”»]"
    r"|slide (?:that is |which is )?(?:called|titled|named|headed|entitled|with the title) "
    rf"{_QUOTED.format('b')}{_ENDS}|slide (?:about|on) (?:the )?{_QUOTED.format('c')}{_ENDS}"
    rf"|{_NTH} slide\b|slide (?:number |no\.? )?(?P<n>\d{{1,3}})\b)",
    re.I,
)
_WHAT = r"(?P<what>(?:[\w'’-]+ ){0,3}?[\w'’-]+)"
_COUNT = re.compile(
    rf"\bhow many {_WHAT}(?=\s*[?.]?$| (?:are|is|were|do|does|did|has|have|can|stand|will|of|on|in)\b)", re.I
)
_ENTRY = re.compile(
    rf"\b(?:what|which) (?:is|was) the {_NTH} {_WHAT}(?=\s*[?.]?$| (?:of|on|in|that|for|to|is|was)\b)", re.I
)
_LIST = re.compile(rf"^(?:what|which) (?:are|were) the {_WHAT}(?=\s*[?.]?$| (?:of|on|in|that|for|to)\b)", re.I)
_SAID = re.compile(
    r"\b(?:said|says?|tells?|told|talks?|talked|explains?|explained|speaks?|heard|comments?)\b"
    r".*\b(?:while|when|as|to|over|during|on)\b",
    re.I,
)
_MOMENT = re.compile(
    r"\b(?:what|which)\b.*\b(?:slides?|screen|shown|seen|see)\b.*\b(?:while|when|as)\b.*?"
    r"\b(?:says?|said|speaks? of|talks? about|mentions?)\b(?: that)? (?P<thing>.+?)[?.]?$",
    re.I,
)
_SHOWN = re.compile(r"\bslides?\b|\bon (?:the )?screen\b", re.I)
_TOPIC = re.compile(r"^(?:main )?(?:topics?|subjects?|items?|points?|parts?|sections?|chapters?)$", re.I)
_AGENDA = set(terms("agenda outline overview contents topics programme program plan today"))
_CLOSING = re.compile(r"^\W*(?:thanks?|thank you|questions?|q ?& ?a|the end|end|discussion)\b.{0,20}$", re.I)
_GENERIC = re.compile(
    rf"\b(?:{KINDS}|courses?|lessons?|slides?|screen|deck|lists?|listed|named?|given|gives?|shown?|shows?|mention\w*|stands?|written|writes?|called|according|contains?|states?|defined|said|says?)\b",
    re.I,
)


@dataclass(frozen=True)
class Deck:
    """The slides of one recording, and its clips."""

    clips: Sequence[Item]
    slides: Sequence[Slide]

    @cached_property
    def words(self) -> set[str]:
        """The words of its title and of its slides."""
        return set(terms(" ".join([self.clips[0].title, *(s.text for s in self.slides)])))


async def deck(desk: Desk, brief: Brief, page: Page) -> bool:
    """Answer from the slide that a question means; False where it means none, or more than one alike."""
    asked = brief.question.strip()
    named, moment = _SLIDE.search(asked), _MOMENT.search(asked)
    noun = _COUNT.search(asked) or _ENTRY.search(asked) or _LIST.search(asked)
    shown = _SHOWN.search(asked) is not None
    if not (named or noun or shown or any(e["corpus"] == "clip" for e in brief.rows.values())):
        return False
    decks = await decks_of(desk, brief, asked, named is not None or moment is not None or shown)
    if not decks:
        return False
    idf = await idf_of(desk, asked)
    if moment is not None and (found := _at(decks, moment["thing"], idf)) is not None:
        show_block(page, *found, brief.question)
        return True
    meant = _named(decks, named, asked, idf) if named else _of_noun(decks, noun, asked, idf) if noun else None
    if meant is None and named is None:
        about = subject_of(asked)
        if about and await chapters.named(await desk.library(), about, await within(desk)) is not None:
            return False  # a recording may be called by its first slide
        meant = _titled(decks, asked, idf) or (_covering(decks, asked, idf) if shown else None)
    if meant is None:
        return False
    of, slide = meant
    if named and _SAID.search(asked):
        return _show_said(page, of, slide, brief.question)
    told = ""
    if noun and noun.re is _COUNT and len(slide.entries) > 1:
        told = f"“{slide.title}” lists {len(slide.entries)}: {'; '.join(slide.entries)}"
    elif noun and noun.re is _ENTRY and (named is None or not named["nth"]):
        told = _entry(of, slide, noun)
    if told:
        _show(page, of, slide, told, brief.question)
    else:
        show_block(page, of, slide, brief.question)
    return True


async def decks_of(desk: Desk, brief: Brief, asked: str, free: bool) -> list[Deck]:
    """Return the recordings that are looked through: the one that is named, those found, or, of a slide, any."""
    library = await desk.library()
    scope = await named_scope(library, asked, await within(desk))
    if scope.titles:
        keys = [(r.source, r.title) for r in await chapters.recordings_in(library, scope)]
    else:
        rows = [e["id"] for e in brief.rows.values() if e["corpus"] == "clip"]
        if free:
            (lists,) = await search_within(library, "clip", [asked], scope, FOUND)
            rows += [h.id for h in (*lists.lexical, *lists.dense)]
        held = await library.items(list(dict.fromkeys(rows)))
        keys = list(dict.fromkeys((held[i].source, held[i].title) for i in rows if i in held))
    out = []
    for source, title in keys[:DECKS]:
        clips = [i for i in await library.items_of(source, "clip") if i.title == title and scope.in_time(i.locator)]
        if slides := slides_of(clips):
            out.append(Deck(clips, slides))
    return out


def _named(
    decks: Sequence[Deck], m: re.Match[str], asked: str, idf: Callable[[str], float]
) -> tuple[Deck, Slide] | None:
    """Return the slide of a title or a number; by number only where one recording is meant."""
    name = m["a"] or m["b"] or m["c"] or m["d"]
    able: list[tuple[float, Deck, int]] = []
    for of in decks:
        titles = [s.title for s in of.slides]
        if name:
            wanted = set(terms(name))
            exact = [n for n, t in enumerate(titles) if fold(t).strip(" :.") == fold(name).strip(" :.")]
            near = [n for n, t in enumerate(titles) if wanted and wanted <= set(terms(t))]
            body = [n for n, s in enumerate(of.slides) if m["c"] and wanted and wanted <= set(terms(s.text))]
            at = next((rows for rows in (exact, near, body) if rows), [])
        else:
            n = int(m["n"]) - 1 if m["n"] else _ORDER[m["nth"].lower()]
            at = [n % len(titles)] if -len(titles) <= n < len(titles) else []
        rest = content_terms(_GENERIC.sub(" ", asked.replace(m.group(), " ")))
        able += [(share(rest, of.words | set(terms(of.slides[n].text)), idf), of, n) for n in at[:1]]
    best = max(able, key=lambda row: row[0], default=None)
    if best is None or (not name and sum(row[0] == best[0] for row in able) > 1):
        return None
    _, of, n = best
    n += {"b": -1, "p": -1, "a": 1, "f": 1}.get((m["side"] or " ")[0].lower(), 0)
    return (of, of.slides[n]) if 0 <= n < len(of.slides) else None


def _of_noun(
    decks: Sequence[Deck], m: re.Match[str], asked: str, idf: Callable[[str], float]
) -> tuple[Deck, Slide] | None:
    """Return the slide whose title is what is counted or listed, where the rest of the question is about it."""
    wanted = content_terms(m["what"])
    if not wanted:
        return None
    rest = content_terms(_GENERIC.sub(" ", asked.replace(m.group(), " ")))
    able: list[tuple[float, Deck, Slide]] = []
    for of in decks:
        for slide in of.slides:
            title = content_terms(slide.title)
            agenda = _TOPIC.match(m["what"]) and set(terms(slide.title)) & _AGENDA
            if (wanted[-1] in title and len(set(wanted) & set(title)) >= NOUN * len(title)) or agenda:
                have = of.words | set(terms(slide.text))
                able.append((share(rest, have, idf) if rest else 1.0, of, slide))
        if _TOPIC.match(m["what"]) and not any(row[1] is of for row in able):
            body = [s for s in of.slides if not _CLOSING.match(s.title)]
            able += [(share(rest, of.words, idf) if rest else 1.0, of, body[-1])] if body else []
    return _alone(able)


def _alone(able: Sequence[tuple[float, Deck, Slide]]) -> tuple[Deck, Slide] | None:
    """Return the slide that the question is about most; None where it is about none, or about two alike."""
    best = max(able, key=lambda row: row[0], default=None)
    alike = best is not None and sum(row[0] == best[0] for row in able) > 1
    return None if best is None or best[0] < ABOUT or alike else best[1:]


def _titled(decks: Sequence[Deck], asked: str, idf: Callable[[str], float]) -> tuple[Deck, Slide] | None:
    """Return the slide whose title the question has as a phrase, where the rest is about its recording."""
    said = terms(asked)
    least = 1 if _SHOWN.search(asked) else 2
    able: dict[int, list[tuple[float, Deck, Slide]]] = {}
    for of in decks:
        for slide in of.slides:
            title = terms(slide.title)
            begins = [n for n in range(len(said)) if title and said[n : n + len(title)] == title]
            if begins and len(title) >= least and content_terms(slide.title):
                rest = set(content_terms(_GENERIC.sub(" ", asked))) - set(title)
                row = (share(rest, of.words, idf) if rest else 1.0, of, slide)
                able.setdefault(len(title), []).append(row)
    return _alone(able[max(able)]) if able else None


def _covering(decks: Sequence[Deck], asked: str, idf: Callable[[str], float]) -> tuple[Deck, Slide] | None:
    """Return the slide that has most of what is asked of slides, where it is one and has a value of that kind."""
    rest, kind = content_terms(_GENERIC.sub(" ", asked)), asked_of(asked)
    slides = [(of, s) for of in decks for s in of.slides if not (unidentified(kind, s.text) or lacks(kind, s.text))]
    return _alone([(share(rest, set(terms(s.text)), idf), of, s) for of, s in slides])


def _entry(of: Deck, slide: Slide, m: re.Match[str]) -> str:
    """Return the entry of a list by its number; of recordings without a list of their topics, the title of a slide."""
    n = _ORDER[m["nth"].lower()]
    if _TOPIC.match(m["what"]) and not set(terms(slide.title)) & (_AGENDA | set(content_terms(m["what"]))):
        body = [s for s in of.slides if not _CLOSING.match(s.title)]
        return body[n].title if -len(body) <= n < len(body) else ""
    rows = slide.entries
    return f"{slide.title}: {rows[n]}" if -len(rows) <= n < len(rows) else ""


def _at(decks: Sequence[Deck], thing: str, idf: Callable[[str], float]) -> tuple[Deck, Slide] | None:
    """Return the slide that was shown while something was said."""
    wanted = content_terms(thing)
    best: tuple[float, Deck, Slide] | None = None
    for of in decks:
        for slide in of.slides:
            for clip, a, b in slide.said(of.clips):
                worth = share(wanted, set(terms(clip.text[a:b])), idf)
                if worth >= ABOUT and (best is None or worth > best[0]):
                    best = worth, of, slide
    return best[1:] if best else None


def _show_said(page: Page, of: Deck, slide: Slide, question: str) -> bool:
    rows = slide.said(of.clips)
    said = " ".join(" ".join(clip.text[a:b] for clip, a, b in rows).split()[:LONGEST])
    if not said:
        return False
    strip = _strip(of, slide, said, question)
    if any(item.sureness(a, b) < SURE for item, a, b in rows):
        strip["locator"]["doubtful"] = True
    page.show(said, "verified", [strip], 1.0)
    return True


def show_block(page: Page, of: Deck, slide: Slide, question: str) -> None:
    """Show a slide; of a long one its title and the lines that have words of the question, else the first."""
    wanted, lines = set(content_terms(question)), [x.text for x in slide.lines]
    order = sorted(range(len(lines)), key=lambda n: (lines[n] != slide.title, -len(wanted & set(terms(lines[n]))), n))
    kept, room = [], LONGEST
    for n in order:
        room -= len(words(lines[n]))
        kept += [n] if room >= 0 else []
    _show(page, of, slide, "\n".join(lines[n] for n in sorted(kept)), question)


def _show(page: Page, of: Deck, slide: Slide, told: str, question: str) -> None:
    page.show(told, "verified", [_strip(of, slide, slide.text, question)], 1.0)


def _strip(of: Deck, slide: Slide, text: str, question: str) -> Strip:
    item = next(c for c in of.clips if c.id == slide.lines[0].item.id)
    place = item.during(round(slide.since, 3), round(slide.until, 3))
    if slide.image:
        place["image"] = slide.image
    return Strip(**{**as_strip(evidence_of(item, question, 1, 0.0, 1.0)), "text": text, "locator": place})
