"""Which documents of a library a text names by their titles."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlalchemy import select

from ragweave.corpora.store.schema import items
from ragweave.corpora.store.stores import Stores
from ragweave.models.text import words

LONGEST = 8
"""Words of a title that is looked for."""
SHORTEST = 4
"""Letters that a title has at least: shorter ones turn up anywhere."""
_BRACKETS = re.compile(r"\s*[(（][^)）]*[)）]")

Phrase = tuple[str, ...]


def titles_in(held: Stores, library: str, text: str) -> list[str]:
    """Return the titles of a library that a text holds word for word, in the order of the text.

    What a title has in brackets need not be in the text. Of two that begin with the same word the longer
    counts.
    """
    known = _titles(held, library)
    said = words(text)
    found: list[str] = []
    at = 0
    while at < len(said):
        phrase = _longest(known, said, at)
        if phrase:
            found.append(known[phrase])
        at += max(1, len(phrase))
    return list(dict.fromkeys(found))


def _phrase_of(title: str) -> Phrase:
    """Return the words by which a text names a title."""
    return tuple(words(_BRACKETS.sub("", title)))


def _longest(known: dict[Phrase, str], said: Sequence[str], at: int) -> Phrase:
    for length in range(min(LONGEST, len(said) - at), 0, -1):
        phrase = tuple(said[at : at + length])
        if phrase in known:
            return phrase
    return ()


def _titles(held: Stores, library: str) -> dict[Phrase, str]:
    memory = held.catalog.memory(library)
    if "titles" not in memory:
        with held.catalog.reading(library) as connection:
            found = connection.execute(select(items.c.title).distinct()).scalars()
            phrases = {}
            for title in found:
                phrases[_phrase_of(title)] = title
        able = {}
        for p, t in phrases.items():
            if len(p) <= LONGEST and len("".join(p)) >= SHORTEST:
                able[p] = t
        memory["titles"] = able
    titles: dict[Phrase, str] = memory["titles"]
    return titles
