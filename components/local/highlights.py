"""Where the words of a question stand in a text, for a reader to see why it was found."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ragweave.components.markdown import TEX
from ragweave.models.text import UNSPACED, terms

Stretches = tuple[tuple[int, int], ...]
"""[start, end) of each stretch of a text, in order."""

_WORD = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+(?:[.,'’·-][^\W_{UNSPACED}]+)*")
_UNSPACED = re.compile(rf"[{UNSPACED}]")


def highlights(text: str, wanted: Collection[str]) -> Stretches:
    """Return where words of a text have one of the wanted terms; words with a space between them are one stretch.

    A formula is left as it is: half of one cannot be drawn.
    """
    formulas = [m.span() for m in TEX.finditer(text)]
    found: list[tuple[int, int]] = []
    for start, end in _words(text, frozenset(wanted)):
        if any(a < end and start < b for a, b in formulas):
            continue
        if found and text[found[-1][1] : start] in ("", " "):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return tuple(found)


def _words(text: str, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    for word in _WORD.finditer(text):
        start, end = word.span()
        if not _UNSPACED.match(word[0]):
            if not wanted.isdisjoint(terms(word[0])):
                yield start, end
            continue
        # Without spaces every pair of letters is a term.
        reached = start
        for at in range(start, max(end - 1, start + 1)):
            pair = min(at + 2, end)
            if not wanted.isdisjoint(terms(text[at:pair])):
                yield max(at, reached), pair
                reached = pair
