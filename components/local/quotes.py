"""Answer without a model: show the passages that match best, as a page of search results does.

A passage is a stretch of one place of one file. It is never joined with another place, and it begins and ends
where sentences or rows do. The stretches of what was found and of its neighbours compete: each is worth what
its best sentence is worth (the question's words that it holds, by their rarity, and its nearness by meaning),
something for its other sentences, and most for words of the question that no passage before it holds.
`ragweave search` lists the same passages in the same order. benchmarks/quotes.py measures what they hold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.closing import nothing_found, show_pictures
from ragweave.components.evidence import Evidence
from ragweave.components.generation_input import GenerationInput
from ragweave.components.local.highlights import Stretches, highlights
from ragweave.components.local.kinds import Kinds, kinds_of, share_of
from ragweave.components.local.places import Part, places
from ragweave.components.local.surroundings import SEEN, read_with_surroundings
from ragweave.components.passages import best_window, heading_title, strip_at, without_doubt, without_words
from ragweave.components.phrases import FEW, NOTHING, as_heard
from ragweave.components.run_context import RunContext, idf_of
from ragweave.components.scope import Scope
from ragweave.components.web_evidence import in_order
from ragweave.corpora.store.document_names import Leads, NamedDocument, clear
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item
from ragweave.corpora.video.places import window_of
from ragweave.models import tables
from ragweave.models.relevance import embed
from ragweave.models.text import content_terms, fold, terms

QUOTES = 3
"""Passages of one answer, at most."""
CHARACTERS = 1_150
"""Characters of these together; titles and heads of columns come on top."""
_PASSAGE, _LATER = 500, 300
"""Characters of a passage, and of one that `ragweave search` lists after the first three; a single row may be
longer."""
_SPOKEN = 200
"""Characters of a passage of a recording: its first second is to be near what answers."""
_LEAST = 40
"""Characters that are left for one more passage, at least."""
LONGEST = 26_000
"""Characters that are read of one item, such as a whole document; of a longer one the stretch that covers the
question most."""
_NEAR = 0.35
"""Cosine of the best sentence below which nothing is near, if no word is shared either."""
_LITTLE = 0.35
"""Share of the question's words, by rarity, below which even the best passage shares few."""
_BEFORE = 0.3
"""Weight of a word of the question before, if that of a word of the turn itself is 1."""
_HEADINGS, _MEANING, _BESIDE = 0.5, 1.5, 0.2
"""Weights of the words in headings, of the cosine, and of each neighbour; a sentence's own words have 1."""
_MORE, _NEW, _RANK = 0.2, 1.5, 0.03
"""Weights of each sentence of a stretch, of words that no passage holds yet, and of each further rank."""
_LEAD, _KIND = 1.0, 0.75
"""What a stretch gains whose document the question names clearly, and one of the kind that it asks for."""
_PLACE = 1.0
"""What a sentence gains that is said at the time that was asked for."""
_OPENS = 0.3
"""What a stretch loses if it ends before what its last sentence introduces."""

Idf = Callable[[str], float]


@dataclass(frozen=True)
class Named:
    """What a question names: documents, and the kind of thing that it asks for."""

    leads: Leads
    kinds: Kinds

    def gain(self, item: Item, rank: int) -> float:
        """Return what passages of an item gain that was found at a rank.

        The text about a picture is short, so the search, which has compared more, decides among pictures.
        """
        lead = self.leads.get(NamedDocument(item.source, item.title), 0.0)
        kind = share_of(item, self.kinds)
        if item.corpus == "image":
            kind *= 1 + 2 / (1 + rank)
        return _LEAD * lead + _KIND * kind


def named_by(library: Library, question: str) -> Named:
    """Return what a question names in a library. CPU work: async callers use `asyncio.to_thread`."""
    return Named(clear(library.leads(question)), kinds_of(question))


@dataclass(frozen=True)
class Quote:
    """One passage: a stretch of an item, and the terms of the question."""

    item: Item
    start: int
    end: int
    first: Part
    last: Part
    wanted: frozenset[str]
    share: float
    """Share of the question's words, by rarity, that it holds with its titles."""

    @property
    def text(self) -> str:
        """The passage as shown: rows below their column heads, “…” where it is cut within a sentence."""
        heads = "" if self.start < self.first.start else tables.heads_above(self.item.text, self.first.start)
        said = self.item.text[self.start : self.end]
        return (
            (f"{heads}\n" if heads else "")
            + "… " * (not self.first.opens)
            + said
            + " …" * (not self.last.closes)
        )

    @property
    def marked(self) -> Stretches:
        """Where the question's words stand in the text."""
        return highlights(self.text, self.wanted)


class _Stretch(NamedTuple):
    """Parts of one place that could be shown: what they are worth by themselves, and what they hold."""

    item: Item
    parts: tuple[Part, Part]
    """The first and the last."""
    worth: float
    holds: frozenset[str]
    said: frozenset[str]
    """Its sentences, folded."""

    @property
    def length(self) -> int:
        """Characters from the first part to the last."""
        return self.parts[1].end - self.parts[0].start


async def write(run: RunContext, given: GenerationInput, builder: AnswerBuilder) -> str:
    """Show passages on the page; return why there are none.

    An answer that a model has begun and that holds stays.
    """
    if builder.sentences:
        return ""
    rows = in_order([e for e in given.rows.values() if e["origin"] != "model"])
    library, idf = await run.library(), await idf_of(run, given.question)
    times = Scope(start=run.context.from_time, end=run.context.to_time)
    found = await asyncio.to_thread(best_quotes, library, given.question, rows, idf, given.turn, times)
    if found and max(q.share for q in found) < _LITTLE:
        builder.say_above(FEW)
    for quoted in found:
        _show(quoted, builder, given.rows)
    show_pictures(given, builder)
    return "" if builder.sentences else await nothing_found(run) if not rows else NOTHING


def best_quotes(
    library: Library,
    question: str,
    rows: Sequence[Evidence],
    idf: Idf,
    turn: str = "",
    times: Scope | None = None,
    most: int = QUOTES,
) -> list[Quote]:
    """Return the passages of what was found, the best first. CPU work: async callers use `asyncio.to_thread`.

    Args:
        library: holds the items.
        question: what is asked; the seconds of recordings that it names come before `times`.
        rows: what was found, best first.
        idf: how rare a term is.
        turn: the turn itself, if the question before stands in front of it.
        times: the seconds of recordings that are asked for.
        most: passages at most.
    """
    read = read_with_surroundings(library, rows)
    window = window_of(question)
    asked = Scope(start=window[0], end=window[1]) if window else times
    return quotes(question, read, idf, turn, asked, most, named_by(library, question))


def _show(quoted: Quote, builder: AnswerBuilder, rows: Mapping[str, Evidence]) -> None:
    """Show one passage; its citation opens the place where its words begin."""
    strip = strip_at(quoted.item, quoted.start, quoted.end, "")
    row = rows.get(quoted.item.id)
    strip["title"] = row["title"] if row else heading_title(quoted.item)
    strip["origin"] = row["origin"] if row else "library"
    if SEEN in quoted.item.meta:
        strip["locator"] = without_doubt(quoted.item.locator)
    builder.quote(as_heard(quoted.text, strip["locator"]), strip, quoted.marked)


def quotes(
    question: str,
    read: Sequence[Sequence[Item]],
    idf: Idf,
    turn: str = "",
    asked: Scope | None = None,
    most: int = QUOTES,
    named: Named | None = None,
) -> list[Quote]:
    """Return the passages, the best first; none if no source shares a word with the question or is near it.

    Args:
        question: what is asked.
        read: items of each source in their order, the sources in the order of retrieval.
        idf: how rare a term is.
        turn: the turn itself, if the question before stands in front of it; its own words weigh more.
        asked: the seconds of recordings that are asked for; what is said then is near whatever its words are.
        most: passages at most; the first three do not depend on it.
        named: documents and kinds of things that the question names.
    """
    weights = _weights(question, idf, turn)
    able, near = list[_Stretch](), False
    for rank, items in enumerate(read):
        source = _Source(question, weights, items, asked or Scope())
        near = near or source.near
        able += source.stretches((named.gain(items[0], rank) if named else 0.0) - _RANK * rank)
    if not near:
        return []
    taken = _taken(able, weights, most)
    return [_quote(s, weights) for s in taken]


def _taken(able: list[_Stretch], weights: Mapping[str, float], most: int) -> list[_Stretch]:
    """Take the best stretches in turn, one of each item: three that share their length, then short ones."""
    taken, held, left = list[_Stretch](), set[str](), CHARACTERS
    while len(taken) < most:
        opening = len(taken) < QUOTES and left > _LEAST
        limit = min(_PASSAGE, left) if opening else _LATER
        longest = left if opening else _PASSAGE
        short = [s for s in able if s.length <= (longest if s.parts[0] is s.parts[1] else limit)]
        if not short or not (opening or most > QUOTES):
            break
        best = max(short, key=lambda s: s.worth + _NEW * sum(weights[t] for t in s.holds - held))
        taken.append(best)
        held |= best.holds
        left -= best.length
        able = [s for s in able if s.item is not best.item and s.said.isdisjoint(best.said)]
    return taken


def _quote(stretch: _Stretch, weights: Mapping[str, float]) -> Quote:
    """Return a stretch as shown: rows begin with the heads of their columns if these are right above."""
    item, (first, last) = stretch.item, stretch.parts
    start = first.start
    if heads := tables.heads_above(item.text, start):
        above = item.text.rfind("\n", 0, start - 1) + 1
        if " | ".join(tables.cells(item.text[above : start - 1])) == heads:
            start = above
    said = {*terms(heading_title(item)), *terms(item.text[start : last.end])}
    share = sum(weight for term, weight in weights.items() if term in said)
    return Quote(item, start, last.end, first, last, frozenset(weights), share)


def _weights(question: str, idf: Idf, turn: str = "") -> dict[str, float]:
    """Return the share of each term in a question, by rarity; terms from before this turn count less."""
    own = set(content_terms(turn or question))
    weights = {t: idf(t) * (1.0 if t in own else _BEFORE) for t in content_terms(question)}
    total = sum(weights.values()) or 1.0
    return {t: w / total for t, w in weights.items()}


class _Source:
    """One source as it is read: its parts, place by place, and what each is worth."""

    def __init__(
        self, question: str, weights: Mapping[str, float], items: Sequence[Item], asked: Scope
    ) -> None:
        self._weights = weights
        self._named: set[str] = set()
        self._told: list[str] = []
        self._said: list[str] = []
        self._read: list[str] = []
        self._holds: list[frozenset[str]] = []
        self._words: list[float] = []
        self._places: list[tuple[Item, list[Part]]] = []
        placed = not asked.whole and any(asked.in_time(i.locator) for i in items)
        for item in items:
            self._read_item(item, question, asked if placed else Scope())
        self.near = placed
        self._worth: list[float] = []
        if self._told:
            self._rate(question, placed)

    def _read_item(self, item: Item, question: str, asked: Scope) -> None:
        """Read the parts of an item that lie in the time that is asked for."""
        low, high = best_window(item.text, question, LONGEST)
        self._named = named = self._weights.keys() & set(terms(item.title))
        above = self._weights.keys() & set(terms(heading_title(item)))
        heading = next((h for h in item.heading[::-1] if h != item.title), "")
        for place in places(item, low, high):
            parts = [p for p in place if asked.whole or asked.in_time(item.locate(p.start, p.end))]
            if not parts:
                continue
            self._places.append((item, parts))
            for part in parts:
                told = tables.as_sentence(item.text, part.start, part.end)
                holds = frozenset(named | (self._weights.keys() & set(terms(told))))
                heads = (above | (self._weights.keys() & set(terms(part.heading)))) - holds
                self._told.append(told)
                self._read.append(f"{part.heading or heading}: {told}" if part.heading or heading else told)
                self._holds.append(holds)
                self._words.append(self._share(holds) + _HEADINGS * self._share(heads))

    def _share(self, held: Iterable[str]) -> float:
        return sum(self._weights[t] for t in held)

    def _rate(self, question: str, placed: bool) -> None:
        """Rate each part by its words, its nearness, and a share of the ratings of its neighbours."""
        vectors = embed([without_words(question, self._named), *self._read]).astype(np.float64)
        cosines = vectors[1:] @ vectors[0]
        own = np.array(self._words) + _MEANING * cosines
        worth = own + _PLACE * placed
        worth[1:] += _BESIDE * own[:-1]
        worth[:-1] += _BESIDE * own[1:]
        self._worth = worth.tolist()
        self._said = [fold(told) for told in self._told]
        self.near = placed or float(cosines.max()) >= _NEAR or any(self._holds)

    def stretches(self, gain: float) -> Iterator[_Stretch]:
        """Yield every stretch that is short enough, and every single part, each worth so much more."""
        at = 0
        for item, parts in self._places:
            longest = _SPOKEN if item.locator.get("kind") == "time" else _PASSAGE
            for first in range(len(parts)):
                best = total = 0.0
                holds, said = frozenset[str](), frozenset[str]()
                for last in range(first, len(parts)):
                    if last > first and parts[last].end - parts[first].start > longest:
                        break
                    n = at + last
                    worth = self._worth[n]
                    best, total = worth if last == first else max(best, worth), total + worth
                    holds, said = holds | self._holds[n], said | {self._said[n]}
                    value = best + _MORE * total + gain - _OPENS * self._told[n].endswith((":", "："))
                    yield _Stretch(item, (parts[first], parts[last]), value, holds, said)
            at += len(parts)
