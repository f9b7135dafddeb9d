"""Sentences of passages that a rule may take as they are: whole, plain, clear by themselves, disputed by no other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ragweave.components.verdicts import ShownPassage
from ragweave.models import tables, text
from ragweave.models.calendar import MONTHS, WEEKDAYS
from ragweave.models.doubt import is_plain

FEWEST_WORDS, MOST_CHARS, MOST_NUMBERS = 6, 240, 3
"""A shorter sentence is a fragment; one with more numbers takes a reader too long."""
_ALIKE = 0.6
"""Share of the content words of a sentence from which another one speaks of the same."""
_ARTICLES = frozenset(("the", "a", "an"))
"""In other languages a sentence opens with a name, or with a short word and a noun in capitals."""
_SHORT = 3
"""Letters of an article in those."""
_WORD = re.compile(r"[^\W_]+(?:[.,:'’-][^\W_]+)*")
_PIECE = re.compile(r"[^\W_]+")
_PAIR = re.compile(r"(?<![^\s(])([^\W\d_])[\w’'-]*,? (?=([^\W\d_][\w’'&-]*))")
_NO_PROSE = re.compile(
    r"[\"“”„«»‹›「」『』?!？！:;()\[\]{}<>|=*_#@/\\…]|(?<!\w)['‘’]|['‘’](?!\w)|\.\.|https?"
)


class PlainSentence(NamedTuple):
    """A plain sentence of a passage: the number of the passage from 1, the sentence, its content words."""

    passage: int
    text: str
    terms: frozenset[str]


def statements(passages: Sequence[ShownPassage]) -> list[PlainSentence]:
    """Return the plain sentences of passages, without those of which another sentence speaks in other words."""
    numbered = [(n, part) for n, shown in enumerate(passages, 1) for part in parts(shown.text)]
    texts = [part for _, part in numbered]
    terms = [frozenset(text.content_terms(part)) for part in texts]
    holding: dict[str, list[int]] = {}
    for at, own in enumerate(terms):
        for term in own:
            holding.setdefault(term, []).append(at)
    out = []
    for at, (n, part) in enumerate(numbered):
        if is_clear(part, passages) and not _touched(at, texts, terms, holding):
            out.append(PlainSentence(n, part, terms[at]))
    return out


def parts(written: str) -> list[str]:
    """Return the sentences of a text, on one line each; rows of tables as what their columns say."""
    return [" ".join(part.split()) for part in tables.statements(written)]


def is_clear(said: str, passages: Sequence[ShownPassage]) -> bool:
    """Tell whether a sentence is whole, states something plainly, and is clear without the one before it."""
    if (
        len(said) > MOST_CHARS
        or not said.endswith(".")
        or _NO_PROSE.search(said)
        or text.UNSPACED_LETTER.search(said)
    ):
        return False
    if len(_WORD.findall(said)) < FEWEST_WORDS or len(text.numbers(said)) > MOST_NUMBERS:
        return False
    return is_plain(said) and opens_well(said, passages)


def opens_well(said: str, passages: Sequence[ShownPassage]) -> bool:
    """Tell whether the first words of a sentence name what it is about; a pronoun does not."""
    first, _, rest = said.partition(" ")
    second = rest.partition(" ")[0]
    if text.fold(first) in _ARTICLES:
        return second.isalpha() and second.islower() and second not in text.STOP
    if not first[:1].isupper() or text.fold(first) in text.STOP:
        return False
    if (name := opening_name(said)) and is_name(name, passages):
        return True
    dated = text.fold(second) in MONTHS or text.fold(second) in WEEKDAYS
    noun = len(second) > _SHORT and second.isalpha() and second.istitle() and not dated
    return noun and first.isalpha() and len(first) <= _SHORT


def opening_name(said: str) -> str:
    """Return the name with which a sentence opens, without the number behind it; "" if it opens with none."""
    name = next((n for n in text.names(said) if said.startswith(f"{n} ")), "")
    return re.split(r" (?=\d)", name)[0]


def is_name(name: str, passages: Sequence[ShownPassage]) -> bool:
    """Tell whether a capitalised opening is a name: its first word is never small, and it follows a small word.

    A name of two words need not be anywhere else.
    """
    seen = _seen(tuple(passages))
    first = _PIECE.search(name.lower())
    if first is None or first.group() in seen.words:
        return False
    return " " in name or name in seen.within


class _Seen(NamedTuple):
    """The words of passages as they are written, and those that follow a small word, as within a sentence."""

    words: frozenset[str]
    within: frozenset[str]


@lru_cache(maxsize=4)
def _seen(passages: tuple[ShownPassage, ...]) -> _Seen:
    """Read passages once; kept, because each of their sentences is looked at."""
    words: set[str] = set()
    within: set[str] = set()
    for shown in passages:
        written = f"{shown.title}\n{shown.text}"
        words.update(_PIECE.findall(written))
        within.update(m[2] for m in _PAIR.finditer(written) if m[1].islower())
    return _Seen(frozenset(words), frozenset(within))


def _touched(
    at: int, texts: Sequence[str], terms: Sequence[frozenset[str]], holding: Mapping[str, list[int]]
) -> bool:
    """Tell whether another sentence speaks of the same in other words: it may dispute what this one says."""
    shared = Counter(n for term in terms[at] for n in holding[term])
    least = _ALIKE * len(terms[at])
    return not shared or any(count >= least and texts[n] != texts[at] for n, count in shared.items())
