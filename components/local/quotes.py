"""Answer without a model: show the passages that match best, as a page of search results does.

A passage is a stretch of one place in one file, cut at the ends of sentences or rows. All stretches of the
found items and their neighbours compete. The score of a stretch is the score of its best sentence (the rarity
of the question's words in it, and its similarity), a share of the scores of its other sentences, and a bonus
for words of the question that no earlier passage has. `ragweave search` lists the same passages in the same
order. benchmarks/quotes.py measures them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.closing import nothing_found, show_pictures
from ragweave.components.evidence import Evidence
from ragweave.components.generation_input import GenerationInput
from ragweave.components.local.highlights import Stretches, highlights
from ragweave.components.local.kinds import Kinds, kinds_of, share_of
from ragweave.components.local.places import Part
from ragweave.components.local.stretches import (
    QUOTES,
    RANK,
    Idf,
    QuoteStretch,
    SourceReading,
    best_stretches,
    question_weights,
    sum_of,
)
from ragweave.components.local.surroundings import SEEN, read_with_surroundings
from ragweave.components.passages import heading_title, strip_at, without_doubt
from ragweave.components.phrases import FEW, NOTHING, as_heard
from ragweave.components.run_context import RunContext, idf_of
from ragweave.components.scope import Scope
from ragweave.components.web_evidence import in_order
from ragweave.corpora.store.document_names import Leads, NamedDocument, clear
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item
from ragweave.corpora.video.places import window_of
from ragweave.models import tables
from ragweave.models.text import terms

_LITTLE = 0.35
"""Share of the question's words, by rarity, below which a note says that the passages share few."""
_LEAD, _KIND = 1.0, 0.75
"""Bonus for a document that the question names clearly, and for the kind of thing that it asks for."""


@dataclass(frozen=True)
class Named:
    """The documents that a question names, and the kinds of things that it asks for."""

    leads: Leads
    kinds: Kinds

    def gain(self, item: Item, rank: int) -> float:
        """Return the bonus for passages of an item that was found at a rank.

        Texts about pictures are short, so for pictures the rank in the search counts more.
        """
        lead = self.leads.get(NamedDocument(item.source, item.title), 0.0)
        kind = share_of(item, self.kinds)
        if item.corpus == "image":
            kind *= 1 + 2 / (1 + rank)
        return _LEAD * lead + _KIND * kind


def named_by(library: Library, question: str) -> Named:
    """Return the documents and kinds that a question names. CPU work: use `asyncio.to_thread`."""
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
    """Share of the question's words, by rarity, in the passage and its titles."""

    @property
    def text(self) -> str:
        """The displayed passage: rows below their column headers, “…” where a sentence is cut."""
        text = self.item.text[self.start : self.end]
        if not self.first.opens:
            text = f"… {text}"
        if not self.last.closes:
            text = f"{text} …"
        if self.start < self.first.start:  # the passage includes its headers
            return text
        headers = tables.heads_above(self.item.text, self.first.start)
        return f"{headers}\n{text}" if headers else text

    @property
    def marked(self) -> Stretches:
        """The spans of the question's words in the text."""
        return highlights(self.text, self.wanted)


async def write(run: RunContext, given: GenerationInput, builder: AnswerBuilder) -> str:
    """Show passages, and return the reason if there are none; an answer that a model has begun stays."""
    if builder.sentences:
        return ""
    rows = in_order([row for row in given.rows.values() if row["origin"] != "model"])
    library, idf = await run.library(), await idf_of(run, given.question)
    times = Scope(start=run.context.from_time, end=run.context.to_time)
    found = await asyncio.to_thread(best_quotes, library, given.question, rows, idf, given.turn, times)
    shares = [quoted.share for quoted in found]
    if shares and max(shares) < _LITTLE:
        builder.say_above(FEW)
    for quoted in found:
        _show(quoted, builder, given.rows)
    show_pictures(given, builder)
    if builder.sentences:
        return ""
    return NOTHING if rows else await nothing_found(run)


def best_quotes(
    library: Library,
    question: str,
    rows: Sequence[Evidence],
    idf: Idf,
    turn: str = "",
    times: Scope | None = None,
    most: int = QUOTES,
) -> list[Quote]:
    """Return the best passages of the found items, best first. CPU work: use `asyncio.to_thread`.

    Args:
        library: holds the items.
        question: the question; seconds of recordings that it names override `times`.
        rows: the found items, best first.
        idf: returns how rare a term is.
        turn: the turn itself, if `question` begins with the previous question.
        times: the requested seconds of recordings.
        most: largest number of passages.
    """
    read = read_with_surroundings(library, rows)
    window = window_of(question)
    asked = Scope(start=window[0], end=window[1]) if window else times
    return quotes(question, read, idf, turn, asked, most, named_by(library, question))


def _show(quoted: Quote, builder: AnswerBuilder, rows: Mapping[str, Evidence]) -> None:
    """Show one passage; its citation opens the place where it begins."""
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
    """Return passages, best first; none if no source shares a word with the question or is similar to it.

    Args:
        question: the question.
        read: the items of each source in their order, sources in the order of retrieval.
        idf: returns how rare a term is.
        turn: the turn itself, if `question` begins with the previous question; its own words count more.
        asked: the requested seconds of recordings; sentences in them always match.
        most: largest number of passages; the first three do not depend on it.
        named: the documents and kinds that the question names.
    """
    weights = question_weights(question, idf, turn)
    candidates: list[QuoteStretch] = []
    matches = False
    for rank, items in enumerate(read):
        source = SourceReading(question, weights, items, asked or Scope())
        matches = matches or source.matches
        gain = named.gain(items[0], rank) if named else 0.0
        candidates += source.stretches(gain - RANK * rank)
    if not matches:
        return []
    return [_quote(stretch, weights) for stretch in best_stretches(candidates, weights, most)]


def _quote(stretch: QuoteStretch, weights: Mapping[str, float]) -> Quote:
    """Return a stretch as a quote; it includes the row of column headers if that is directly above."""
    item, (first, last) = stretch.item, stretch.parts
    start = first.start
    headers = tables.heads_above(item.text, start)
    if headers:
        above = item.text.rfind("\n", 0, start - 1) + 1
        if " | ".join(tables.cells(item.text[above : start - 1])) == headers:
            start = above
    present = {*terms(heading_title(item)), *terms(item.text[start : last.end])}
    share = sum_of(weights, present)
    return Quote(item, start, last.end, first, last, frozenset(weights), share)
