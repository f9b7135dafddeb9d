"""Score stretches of sources against a question, and choose the best ones.

The score of a stretch is the score of its best sentence (the rarity of the question's words in it, and its
similarity), a share of the scores of its other sentences, and a bonus for words of the question that no
chosen stretch has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ragweave.components.local.places import Part, places
from ragweave.components.passages import best_window, heading_title, without_words
from ragweave.components.scope import Scope
from ragweave.corpora.types import Item
from ragweave.models import tables
from ragweave.models.relevance import embed
from ragweave.models.text import content_terms, fold, terms

QUOTES = 3
"""Most passages of one answer."""
CHARACTERS = 1_150
"""Most characters of all of them, without titles and column headers."""
_PASSAGE, _LATER = 500, 300
"""Most characters of one of the first three passages, and of a later one; a row may be longer."""
_SPOKEN = 200
"""Most characters of a passage of a recording: it has to start close to the answer."""
_LEAST = 40
"""Fewest characters for which one more passage is shown."""
LONGEST = 26_000
"""Most characters of an item that are read; of a longer one, the window that covers the question best."""
_SENTENCE = 24
"""Fewest characters of a sentence that repeats another by lying within it."""
_NEAR = 0.35
"""Lowest cosine of a sentence that counts as a match without a shared word."""
_BEFORE = 0.3
"""Weight of a word that only the previous question has; a word of the turn itself has 1."""
_HEADINGS, _MEANING, _NEIGHBOUR = 0.5, 1.5, 0.2
"""Weights of words in headings, of the cosine, and of each neighbour's score; own words have 1."""
_MORE, _NEW, RANK = 0.2, 1.5, 0.03
"""Weights of the sum of sentence scores, of words that no passage has yet, and of each lower rank."""
_PLACE = 1.0
"""Bonus for a sentence at the requested time of a recording."""
_OPENS = 0.3
"""Penalty for a stretch that ends with a colon, before what it introduces."""

Idf = Callable[[str], float]


class QuoteStretch(NamedTuple):
    """Successive parts of one place that may become a passage."""

    item: Item
    parts: tuple[Part, Part]
    """The first and the last."""
    score: float
    terms: frozenset[str]
    """Terms of the question in it."""
    sentences: frozenset[str]
    """Its folded sentences."""

    @property
    def length(self) -> int:
        """The number of characters from the first part to the last."""
        return self.parts[1].end - self.parts[0].start


def best_stretches(
    candidates: list[QuoteStretch], weights: Mapping[str, float], most: int
) -> list[QuoteStretch]:
    """Take the best stretches one by one, at most one of each item.

    The first three share `CHARACTERS`; later ones are short. A single part, such as a row, may be longer.
    """
    taken: list[QuoteStretch] = []
    covered: set[str] = set()
    left = CHARACTERS
    while len(taken) < most:
        first_three = len(taken) < QUOTES and left > _LEAST
        if not first_three and most <= QUOTES:
            break
        limit = min(_PASSAGE, left) if first_three else _LATER
        longest_part = left if first_three else _PASSAGE
        best = _best_within(candidates, limit, longest_part, weights, covered)
        if best is None:
            break
        taken.append(best)
        covered |= best.terms
        left -= best.length
        candidates = _without(candidates, best)
    return taken


def _best_within(
    candidates: Sequence[QuoteStretch],
    limit: int,
    longest_part: int,
    weights: Mapping[str, float],
    covered: set[str],
) -> QuoteStretch | None:
    """Return the best stretch that is short enough; words that are not yet covered add to its score."""
    best: QuoteStretch | None = None
    highest = -math.inf
    for stretch in candidates:
        alone = stretch.parts[0] is stretch.parts[1]
        if stretch.length > (longest_part if alone else limit):
            continue
        score = stretch.score
        for term in stretch.terms - covered:
            score += _NEW * weights[term]
        if score > highest:
            best, highest = stretch, score
    return best


def _without(candidates: Sequence[QuoteStretch], taken: QuoteStretch) -> list[QuoteStretch]:
    """Return the stretches of other items that repeat no sentence of the taken one.

    The words of a scanned page are held twice, as a text in lines and as a picture's words in one piece: a
    long sentence also counts as repeated if it lies within the taken stretch, or holds one of its sentences.
    """
    near: set[str] = set()
    for stretch in candidates:
        if stretch.item is not taken.item and stretch.item.source == taken.item.source:
            near |= stretch.sentences
    low, high = taken.parts
    whole = _in_one_line(fold(taken.item.text[low.start : high.end]))
    repeated = set(taken.sentences)
    for sentence in near:
        words = _in_one_line(sentence)
        if len(words) >= _SENTENCE and (words in whole or _holds_any(words, taken.sentences)):
            repeated.add(sentence)
    rest: list[QuoteStretch] = []
    for stretch in candidates:
        if stretch.item is not taken.item and stretch.sentences.isdisjoint(repeated):
            rest.append(stretch)
    return rest


def _holds_any(words: str, sentences: Iterable[str]) -> bool:
    """Return whether a text in one line holds one of some sentences, if that is long."""
    for sentence in sentences:
        if len(sentence) >= _SENTENCE and _in_one_line(sentence) in words:
            return True
    return False


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def question_weights(question: str, idf: Idf, turn: str = "") -> dict[str, float]:
    """Return the weight of each term of the question, by rarity; the weights sum to 1."""
    own = set(content_terms(turn or question))
    weights: dict[str, float] = {}
    for term in content_terms(question):
        weights[term] = idf(term) * (1.0 if term in own else _BEFORE)
    total = sum(weights.values()) or 1.0
    for term in weights:
        weights[term] /= total
    return weights


def sum_of(weights: Mapping[str, float], present: Container[str]) -> float:
    """Return the sum of the weights of the terms that are present."""
    total = 0.0
    for term, weight in weights.items():
        if term in present:
            total += weight
    return total


class SourceReading:
    """One source: its parts, place by place, and their scores.

    Attributes:
        matches: whether a part shares a word with the question, is similar, or is in the requested time.
    """

    def __init__(
        self, question: str, weights: Mapping[str, float], items: Sequence[Item], asked: Scope
    ) -> None:
        self._weights = weights
        self._named: set[str] = set()
        self._texts: list[str] = []
        self._with_headings: list[str] = []
        self._terms: list[frozenset[str]] = []
        self._word_scores: list[float] = []
        self._places: list[tuple[Item, list[Part]]] = []
        in_time = not asked.whole and any(asked.in_time(item.locator) for item in items)
        for item in items:
            self._read_item(item, question, asked if in_time else Scope())
        self.matches = in_time
        self._folded: list[str] = []
        self._scores: list[float] = []
        if self._texts:
            self._score(question, in_time)

    def _read_item(self, item: Item, question: str, asked: Scope) -> None:
        """Read the parts of an item that lie in the requested time."""
        low, high = best_window(item.text, question, LONGEST)
        self._named = self._weights.keys() & set(terms(item.title))
        in_titles = self._weights.keys() & set(terms(heading_title(item)))
        heading = ""
        for part_of_path in item.heading:
            if part_of_path != item.title:
                heading = part_of_path
        for place in places(item, low, high):
            parts = [
                part for part in place if asked.whole or asked.in_time(item.locate(part.start, part.end))
            ]
            if parts:
                self._places.append((item, parts))
            for part in parts:
                self._read_part(item, part, part.heading or heading, in_titles)

    def _read_part(self, item: Item, part: Part, heading: str, in_titles: set[str]) -> None:
        """Read one part and the question's words in it and in its headings."""
        text = tables.as_sentence(item.text, part.start, part.end)
        own = frozenset(self._named | (self._weights.keys() & set(terms(text))))
        above = (in_titles | (self._weights.keys() & set(terms(part.heading)))) - own
        self._texts.append(text)
        self._with_headings.append(f"{heading}: {text}" if heading else text)
        self._terms.append(own)
        self._word_scores.append(sum_of(self._weights, own) + _HEADINGS * sum_of(self._weights, above))

    def _score(self, question: str, in_time: bool) -> None:
        """Score each part by its words, its similarity and the scores of its neighbours."""
        query = without_words(question, self._named)
        vectors = embed([query, *self._with_headings]).astype(np.float64)
        cosines = vectors[1:] @ vectors[0]
        own = np.array(self._word_scores) + _MEANING * cosines
        scores = own + _PLACE * in_time
        scores[1:] += _NEIGHBOUR * own[:-1]
        scores[:-1] += _NEIGHBOUR * own[1:]
        self._scores = scores.tolist()
        self._folded = list(map(fold, self._texts))
        self.matches = in_time or float(cosines.max()) >= _NEAR or any(self._terms)

    def stretches(self, gain: float) -> Iterator[QuoteStretch]:
        """Yield every stretch that is short enough, and every single part, with a bonus."""
        offset = 0
        for item, parts in self._places:
            longest = _SPOKEN if item.locator.get("kind") == "time" else _PASSAGE
            for first in range(len(parts)):
                yield from self._stretches_from(item, parts, first, offset, longest, gain)
            offset += len(parts)

    def _stretches_from(
        self, item: Item, parts: Sequence[Part], first: int, offset: int, longest: int, gain: float
    ) -> Iterator[QuoteStretch]:
        """Yield the stretches of a place that begin with one part."""
        best, total = -math.inf, 0.0
        present: frozenset[str] = frozenset()
        sentences: frozenset[str] = frozenset()
        for last in range(first, len(parts)):
            if last > first and parts[last].end - parts[first].start > longest:
                break
            n = offset + last
            best = max(best, self._scores[n])
            total += self._scores[n]
            present |= self._terms[n]
            sentences |= {self._folded[n]}
            score = best + _MORE * total + gain
            if self._texts[n].endswith((":", "：")):
                score -= _OPENS
            yield QuoteStretch(item, (parts[first], parts[last]), score, present, sentences)
