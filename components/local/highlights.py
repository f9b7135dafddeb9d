"""Find the words of a question in a text, so that readers see why it was found."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from ragweave.components.markdown import TEX
from ragweave.models.text import UNSPACED, terms

Stretches = tuple[tuple[int, int], ...]
"""[start, end) of each stretch of a text, in order."""

_WORD = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+(?:[.,'’·-][^\W_{UNSPACED}]+)*")
_UNSPACED = re.compile(rf"[{UNSPACED}]")


def highlights(text: str, wanted: Collection[str]) -> Stretches:
    """Return the stretches of a text whose words have one of the wanted terms.

    Neighbouring words form one stretch. Formulas are left out: half a formula cannot be displayed.
    """
    formulas = [match.span() for match in TEX.finditer(text)]
    found: list[tuple[int, int]] = []
    for start, end in _words(text, frozenset(wanted)):
        if _overlaps(start, end, formulas):
            continue
        if found and text[found[-1][1] : start] in ("", " "):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return tuple(found)


def _overlaps(start: int, end: int, spans: Iterable[tuple[int, int]]) -> bool:
    """Return whether [start, end) overlaps one of several spans."""
    for first, last in spans:
        if first < end and start < last:
            return True
    return False


def _words(text: str, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield [start, end) of the words that have a wanted term."""
    for word in _WORD.finditer(text):
        start, end = word.span()
        if not _UNSPACED.match(word[0]):
            if not wanted.isdisjoint(terms(word[0])):
                yield start, end
            continue
        # In a script without spaces every pair of letters is a term.
        reached = start
        for at in range(start, max(end - 1, start + 1)):
            pair = min(at + 2, end)
            if not wanted.isdisjoint(terms(text[at:pair])):
                yield max(at, reached), pair
                reached = pair
