"""Answer without a model: quote the closest passages, each cut to the lines around its best sentence.

What was found in one text is read together, so that no two quotes overlap or say the same; of a recording, what lies
within one stretch, so that the time of a quote is that of its words. A sentence is worth the
share of the question's words that it holds, by their rarity, what its headings hold of the rest, and how near it is by
meaning; its neighbours lend it some of theirs. What the title says goes for each sentence: one that says it again, as
a running line does, is worth no more. benchmarks/quotes.py measures what stands in the quotes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ragweave.components.answer_builder import AnswerBuilder
from ragweave.components.closing import nothing_found, show_pictures
from ragweave.components.local.surroundings import read_with_surroundings
from ragweave.components.passages import best_window, heading_title, strip_at, without_words
from ragweave.components.phrases import NOTHING, as_heard
from ragweave.components.protocols import GenerationInput
from ragweave.components.run_context import RunContext, idf_of
from ragweave.components.web_evidence import in_order
from ragweave.corpora.types import Item, Locator
from ragweave.corpora.video.places import window_of
from ragweave.corpora.video.scope import Scope
from ragweave.models import tables
from ragweave.models.relevance import embed
from ragweave.models.text import clip, content_terms, fold, terms

QUOTES = 3
"""Quotes of one answer, at most."""
CHARACTERS = 1_150
"""Characters of all quotes together; titles come on top."""
_PLACE = 1.0
"""Weight of standing at the time that was asked for."""
LONGEST = 26_000
"""Characters of one item that are read, a document whole: of a longer one the stretch that covers the question most."""
NEAR = 0.35
"""Cosine of the best sentence below which nothing is near, where no word is shared either."""
_BEFORE = 0.3
"""Weight of a word of the question before, beside one of the turn itself."""
_HEADINGS, _MEANING, _BESIDE = 0.5, 0.6, 0.4
"""Weights of what the headings hold, of the cosine, and of each neighbour, beside the words of the sentence itself."""
_BEST, _RANK = 2.0, 0.15
"""Weight of its best sentence in what a source is worth, and what it loses with each place further down."""
_NEW, _AGAIN = 0.6, 0.5
"""Weight of words of the question that no quote holds yet, and how far those count down that one holds."""
_SOURCE_GAIN = 2.0
"""Weight of the sentence that would be quoted of a source, beside what the source is worth."""
_JOINED, _LATER = 0.1, 0.03
"""Bonus of a sentence beside a quoted one; what a sentence loses for each quote before its own."""
_SENTENCE, _HEADING, _LEAST = 500, 60, 40
"""Characters of one sentence and of a heading, at most; and those that are left to fill."""

Idf = Callable[[str], float]


@dataclass(frozen=True)
class _Sentence:
    """A sentence or row of an item: its place there, its text as it is read, and the words of the question it holds."""

    item: Item
    start: int
    end: int
    told: str
    holds: frozenset[str]

    @property
    def text(self) -> str:
        """The sentence as it stands there, cut where it is too long."""
        return clip(self.item.text[self.start : self.end].strip(), _SENTENCE)


@dataclass(frozen=True)
class Quote:
    """What is quoted of one source: its sentences in order, and the best of them."""

    sentences: tuple[_Sentence, ...]
    best: _Sentence


@dataclass(frozen=True)
class _Source:
    """One source as it is read: its sentences in order, what each is worth, and the place that retrieval gave it."""

    sentences: tuple[_Sentence, ...]
    worth: NDArray[np.float64]
    rank: int
    nothing: bool
    """No sentence shares a word with the question or is near to it."""

    @property
    def value(self) -> float:
        """What the source is worth by its best sentence and its place."""
        return _BEST * float(self.worth.max()) - _RANK * self.rank


async def write(run: RunContext, given: GenerationInput, builder: AnswerBuilder) -> str:
    """Show quotes on the page; return why there are none. An answer that a model has begun and that holds stays."""
    if builder.sentences:
        return ""
    rows = in_order([e for e in given.rows.values() if e["origin"] != "model"])
    library, idf = await run.library(), await idf_of(run, given.question)

    asked = Scope(start=run.context.from_time, end=run.context.to_time)
    if window := window_of(given.question):
        asked = Scope(start=window[0], end=window[1])

    def chosen() -> list[Quote]:
        return quotes(given.question, read_with_surroundings(library, rows), idf, given.turn, asked)

    for quoted in await asyncio.to_thread(chosen):
        _show(quoted, builder, given)
    show_pictures(given, builder)
    return "" if builder.sentences else await nothing_found(run) if not rows else NOTHING


def quotes(
    question: str, read: Sequence[Sequence[Item]], idf: Idf, turn: str = "", asked: Scope | None = None
) -> list[Quote]:
    """Return the quotes, the best source first; none where no source shares a word with the question or is near to it.

    Args:
        question: what is asked.
        read: items of each source in their order, the sources in the order of retrieval.
        idf: how rare a term is.
        turn: the turn itself, where the question before stands in front of it; its own words weigh more.
        asked: the seconds of recordings that are asked for; what is said then is near whatever its words are.
    """
    weights, asked = _weights(question, idf, turn), asked or Scope()
    sources = [s for n, items in enumerate(read) if (s := _source(question, weights, items, n, asked)) is not None]
    if all(s.nothing for s in sources):
        return []
    picked = _Picked(weights)
    left, budget = list(sources), CHARACTERS
    order: list[_Source] = []
    while left and len(order) < QUOTES and budget > _LEAST:
        best = max(left, key=lambda s: s.value + (_SOURCE_GAIN * picked.best(s)[0] if order else 0.0))
        left.remove(best)
        _, n = picked.best(best)
        if not picked.is_new(best, n):
            continue
        order.append(best)
        budget -= picked.take(best, n)
    while budget > _LEAST:
        able = [
            (picked.gain(s, n) + _JOINED * picked.beside(s, n) - _LATER * at, -at, -n)
            for at, s in enumerate(order)
            for n in range(len(s.sentences))
            if picked.is_new(s, n) and len(s.sentences[n].text) < budget
        ]
        if not able:
            break
        _, at, n = max(able)
        budget -= picked.take(order[-at], -n)
    return [Quote(tuple(s.sentences[n] for n in sorted(picked.places(s))), s.sentences[picked.first(s)]) for s in order]


def _weights(question: str, idf: Idf, turn: str = "") -> dict[str, float]:
    """Return the share of a question that each of its terms is, by rarity; what is not of the turn counts less."""
    own = set(content_terms(turn or question))
    weights = {t: idf(t) * (1.0 if t in own else _BEFORE) for t in content_terms(question)}
    total = sum(weights.values()) or 1.0
    return {t: w / total for t, w in weights.items()}


class _Picked:
    """The sentences that are quoted so far, and the words of the question that they hold."""

    def __init__(self, weights: dict[str, float]) -> None:
        self._weights = weights
        self._held: set[str] = set()
        self._texts: set[str] = set()
        self._places: dict[int, list[int]] = {}

    def places(self, source: _Source) -> list[int]:
        """Return the numbers of the quoted sentences of a source, in the order in which they were taken."""
        return self._places.get(source.rank, [])

    def first(self, source: _Source) -> int:
        """Return the number of the sentence for which a source is quoted."""
        return self.places(source)[0]

    def gain(self, source: _Source, n: int) -> float:
        """Return what quoting a sentence adds: its worth, and the words that no quote holds yet."""
        new = sum(self._weights[t] * (-_AGAIN if t in self._held else 1.0) for t in source.sentences[n].holds)
        return float(source.worth[n]) + _NEW * new

    def best(self, source: _Source) -> tuple[float, int]:
        """Return the highest gain of a sentence of a source, and its number."""
        gain, n = max((self.gain(source, n), -n) for n in range(len(source.sentences)))
        return gain, -n

    def is_new(self, source: _Source, n: int) -> bool:
        """Tell whether no quote says the same."""
        return n not in self.places(source) and fold(source.sentences[n].told) not in self._texts

    def beside(self, source: _Source, n: int) -> bool:
        """Tell whether a neighbour of a sentence is quoted."""
        return n - 1 in self.places(source) or n + 1 in self.places(source)

    def take(self, source: _Source, n: int) -> int:
        """Quote a sentence, with what it introduces; return their length."""
        own, follows = source.sentences[n], source.sentences[n + 1 : n + 2]
        self._places.setdefault(source.rank, []).append(n)
        self._texts.add(fold(own.told))
        self._held |= own.holds
        length = len(own.text) + 1
        if follows and own.text.endswith((":", "：")) and own.item is follows[0].item and self.is_new(source, n + 1):
            length += self.take(source, n + 1)
        return length


def _source(question: str, weights: dict[str, float], items: Sequence[Item], rank: int, asked: Scope) -> _Source | None:
    sentences, lexical = list[_Sentence](), list[float]()
    placed = not asked.whole and any(asked.in_time(i.locator) for i in items)
    named: set[str] = set()
    for item in items:
        text = item.text
        cleared = replace(item, text=text)
        low, high = best_window(text, question, LONGEST)
        named = weights.keys() & set(terms(item.title))
        above = heads = weights.keys() & set(terms(heading_title(item)))
        for start, end in tables.spans(text[low:high]):
            a, b = low + start, low + end
            if not text[a:b].strip() or tables.is_heads(text, a, b):
                continue
            if placed and not asked.in_time(item.locate(a, b)):
                continue
            if _is_heading(text, a, b):
                heads = above | (weights.keys() & set(terms(text[a:b])))
                continue
            told = tables.told(text, a, b)
            holds = frozenset(named | weights.keys() & set(terms(told)))
            sentences.append(_Sentence(cleared, a, b, told, holds))
            lexical.append(sum(weights[t] for t in holds) + _HEADINGS * sum(weights[t] for t in heads - holds))
    if not sentences:
        return None
    vectors = embed([without_words(question, named), *(s.told for s in sentences)]).astype(np.float64)
    cosines = vectors[1:] @ vectors[0]
    own = np.array(lexical) + _MEANING * cosines
    worth = own.copy()
    worth[1:] += _BESIDE * own[:-1]
    worth[:-1] += _BESIDE * own[1:]
    worth += _PLACE * placed
    nothing = not placed and float(cosines.max()) < NEAR and not any(s.holds for s in sentences)
    return _Source(tuple(sentences), worth, rank, nothing)


def _is_heading(text: str, start: int, end: int) -> bool:
    """Tell whether a line stands alone between blank lines, short, without a number and without an end."""
    line = text[start:end]
    if len(line) > _HEADING or any(c.isdigit() or c in ".:!?|。：！？" for c in line):
        return False
    return text[:start].rstrip(" ")[-2:] in ("", "\n\n") and text[end:].lstrip(" ")[:2] == "\n\n"


def _show(quoted: Quote, builder: AnswerBuilder, given: GenerationInput) -> None:
    """Show the quote of one source; its citation opens the place of the best sentence."""
    text, marked = joined(quoted)
    if any(s.item.locate(s.start, s.end).get("doubtful") for s in quoted.sentences):
        text = as_heard(text, {"doubtful": True})
    best = quoted.best
    row = given.rows.get(best.item.id)
    strip = strip_at(best.item, best.start, best.end, given.question)
    strip = {**strip, "title": row["title"] if row else heading_title(best.item)}
    strip = {**strip, "origin": row["origin"] if row else "library"}
    builder.quote(text, strip, marked)


def joined(quoted: Quote) -> tuple[str, tuple[int, int]]:
    """Return quoted sentences as one text, gaps marked and rows of a table below their heads; and where the best is."""
    text, marked, under = "", (0, 0), ""
    before: _Sentence | None = None
    for s in quoted.sentences:
        row = tables.is_row(s.text)
        between = s.item.text[before.end : s.start] if before is not None and before.item.id == s.item.id else "…"
        follows = not between.strip()
        above = tables.heads_above(s.item.text, s.start) if row else ""
        heads = "" if above == under else above
        under = above or (" | ".join(tables.cells(s.text)) if row else "")  # a row may be the heads of the next
        rows = before is not None and (row or tables.is_row(before.text) or before.text[-1].isalnum())
        gap = "\n" if rows or "\n" in between else " " if between else ""
        if not follows and not heads:
            gap = "\n…\n" if rows else " … "
        gap = "" if before is None else gap
        text += gap + (f"{heads}\n" if heads else "")
        if s is quoted.best:
            marked = len(text), len(text) + len(s.text)
        text += s.text
        before = s
    return text, marked


def best_lines(question: str, title: str, text: str, idf: Idf, limit: int = 300) -> tuple[str, tuple[int, int]]:
    """Return the lines of one passage around its best sentence, and where that one stands in them.

    Of prose they are neighbours; of a table its best rows.

    Args:
        question: what is looked for.
        title: title of the passage with its headings.
        text: the passage.
        idf: how rare a term is.
        limit: characters that the lines have together, where the best sentence alone has no more; heads come on top.
    """
    weights = _weights(question, idf)
    source = _source(question, weights, [Item("", "paragraph", "", title, text, Locator())], 0, Scope())
    if source is None:
        return "", (0, 0)
    sentences = source.sentences
    best = int(source.worth.argmax())
    taken, left = {best}, limit - len(sentences[best].text)
    in_table = tables.is_row(sentences[best].text)
    while able := [
        n
        for n, s in enumerate(sentences)
        if n not in taken and len(s.text) < left and (tables.is_row(s.text) if in_table else {n - 1, n + 1} & taken)
    ]:
        n = max(able, key=lambda n: (source.worth[n], -n))
        taken.add(n)
        left -= len(sentences[n].text) + 1
    return joined(Quote(tuple(sentences[n] for n in sorted(taken)), sentences[best]))
