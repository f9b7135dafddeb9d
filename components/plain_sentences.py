"""Find the plain sentences of passages: whole, clear by themselves, and disputed by no other sentence."""

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
"""A shorter sentence is a fragment; one with more numbers is hard to read."""
_ALIKE = 0.6
"""Share of the content words of a sentence from which another one is about the same."""
_ARTICLES = frozenset(("the", "a", "an"))
"""English articles. Otherwise a sentence opens with a name, or with a short word and a capitalised noun."""
_SHORT = 3
"""Letters of such a short word at most."""
_WORD = re.compile(r"[^\W_]+(?:[.,:'’-][^\W_]+)*")
_PIECE = re.compile(r"[^\W_]+")
_PAIR = re.compile(r"(?<![^\s(])([^\W\d_])[\w’'-]*,? (?=([^\W\d_][\w’'&-]*))")
_NO_PROSE = re.compile(
    r"[\"“”„«»‹›「」『』?!？！:;()\[\]{}<>|=*_#@/\\…]|(?<!\w)['‘’]|['‘’](?!\w)|\.\.|https?"
)


class PlainSentence(NamedTuple):
    """A plain sentence.

    Attributes:
        passage: number of its passage, from 1.
        text: the sentence.
        terms: its content words.
    """

    passage: int
    text: str
    terms: frozenset[str]


def statements(passages: Sequence[ShownPassage]) -> list[PlainSentence]:
    """Return the plain sentences of passages, without those that another one repeats in other words."""
    sentences: list[PlainSentence] = []
    for n, shown in enumerate(passages, 1):
        for part in parts(shown.text):
            sentences.append(PlainSentence(n, part, frozenset(text.content_terms(part))))
    with_term: dict[str, list[int]] = {}
    for at, sentence in enumerate(sentences):
        for term in sentence.terms:
            with_term.setdefault(term, []).append(at)
    found: list[PlainSentence] = []
    for at, sentence in enumerate(sentences):
        if is_clear(sentence.text, passages) and not _may_be_disputed(at, sentences, with_term):
            found.append(sentence)
    return found


def parts(written: str) -> list[str]:
    """Return the sentences of a text, on one line each; table rows as sentences with their column heads."""
    return [" ".join(part.split()) for part in tables.statements(written)]


def is_clear(said: str, passages: Sequence[ShownPassage]) -> bool:
    """Return whether a sentence is whole, plain, and clear without the one before it."""
    if len(said) > MOST_CHARS or not said.endswith("."):
        return False
    if _NO_PROSE.search(said) or text.UNSPACED_LETTER.search(said):
        return False
    if len(_WORD.findall(said)) < FEWEST_WORDS or len(text.numbers(said)) > MOST_NUMBERS:
        return False
    return is_plain(said) and opens_well(said, passages)


def opens_well(said: str, passages: Sequence[ShownPassage]) -> bool:
    """Return whether the first words of a sentence name its subject; a pronoun does not."""
    first, _, rest = said.partition(" ")
    second = rest.partition(" ")[0]
    if text.fold(first) in _ARTICLES:
        return second.isalpha() and second.islower() and second not in text.STOP
    if not first[:1].isupper() or text.fold(first) in text.STOP:
        return False
    name = opening_name(said)
    if name and is_name(name, passages):
        return True
    dated = text.fold(second) in MONTHS or text.fold(second) in WEEKDAYS
    noun = len(second) > _SHORT and second.isalpha() and second.istitle() and not dated
    return noun and first.isalpha() and len(first) <= _SHORT


def opening_name(said: str) -> str:
    """Return the name that opens a sentence, without a number after it; "" if none does."""
    for name in text.names(said):
        if said.startswith(f"{name} "):
            return re.split(r" (?=\d)", name)[0]
    return ""


def is_name(name: str, passages: Sequence[ShownPassage]) -> bool:
    """Return whether a capitalised opening is a name.

    The first word of a name is never in lower case elsewhere. A name of one word also follows a word in lower
    case somewhere.
    """
    seen = _seen(tuple(passages))
    first = _PIECE.search(name.lower())
    if first is None or first.group() in seen.words:
        return False
    return " " in name or name in seen.within


class _Seen(NamedTuple):
    """The words of passages as written, and the words after a word in lower case, so within a sentence."""

    words: frozenset[str]
    within: frozenset[str]


@lru_cache(maxsize=4)
def _seen(passages: tuple[ShownPassage, ...]) -> _Seen:
    """Read the words of passages; cached, because every sentence of them needs these."""
    words: set[str] = set()
    within: set[str] = set()
    for shown in passages:
        written = f"{shown.title}\n{shown.text}"
        words.update(_PIECE.findall(written))
        for m in _PAIR.finditer(written):
            if m[1].islower():
                within.add(m[2])
    return _Seen(frozenset(words), frozenset(within))


def _may_be_disputed(
    at: int, sentences: Sequence[PlainSentence], with_term: Mapping[str, Sequence[int]]
) -> bool:
    """Return whether another sentence is about the same in other words; also if it has no content words."""
    own = sentences[at]
    shared: Counter[int] = Counter()
    for term in own.terms:
        shared.update(with_term[term])
    least = _ALIKE * len(own.terms)
    for n, count in shared.items():
        if count >= least and sentences[n].text != own.text:
            return True
    return not own.terms
