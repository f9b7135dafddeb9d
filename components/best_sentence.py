"""Find the sentence of a passage that a citation quotes."""

from __future__ import annotations

from typing import NamedTuple

from ragweave.models import tables
from ragweave.models.text import numbers, terms

_Span = tuple[int, int]


class _Match(NamedTuple):
    """How well a sentence of a passage matches a text; the greatest is the best.

    Attributes:
        numbers: numbers that both state.
        foreign: minus the other numbers of the sentence, 0 if it shares none.
        words: terms that both have.
    """

    numbers: int
    foreign: int
    words: int


def best_sentence(text: str, passage: str) -> str:
    """Return the sentence of a passage that a citation of a text quotes.

    It shares the most numbers with the text, then has the fewest other numbers, then shares the most words,
    then has the fewest words. A table row counts with its column heads. If several rows of one table match
    equally, the quote runs from the first to the last; with the first row among them, it starts at the heads.
    """
    spans = tables.spans(passage)
    figures = _figures(text)
    wanted = set(terms(text))
    matches: dict[_Span, _Match] = {}
    lengths: dict[_Span, int] = {}
    for span in spans:
        if not tables.is_heads(passage, *span):
            sentence = tables.as_sentence(passage, *span)
            said = set(terms(sentence))
            own = _figures(sentence)
            same = len(figures & own)
            foreign = len(own - figures) if same else 0
            matches[span] = _Match(same, -foreign, len(wanted & said))
            lengths[span] = len(said)
    if not matches:
        return passage
    best = max(matches, key=lambda s: (matches[s], -lengths[s] if any(matches[s]) else 0))
    start, end = best
    if tables.is_row(passage[start:end]):
        start, end = _rows(passage, best, spans, matches)
    return passage[start:end]


def _rows(passage: str, best: _Span, spans: list[_Span], matches: dict[_Span, _Match]) -> _Span:
    """Return the span of all rows that match as well as the best one of their table."""
    top = passage.rfind("\n\n", 0, best[0])
    bottom = passage.find("\n\n", best[1]) % (len(passage) + 1)
    alike: list[_Span] = []
    for span in matches:
        if top < span[0] < bottom and matches[span] == matches[best]:
            alike.append(span)
    if len(alike) < 2:
        return best
    first = alike[0]
    above = spans[max(0, spans.index(first) - 1)]
    if above not in matches:  # the heads
        first = above
    return first[0], alike[-1][1]


def _figures(text: str) -> set[str]:
    """Return the numbers of a text, 74,0 % as 74.0."""
    return {n.rstrip("%").replace(",", ".") for n in numbers(text)}
