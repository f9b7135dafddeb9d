"""Names of one entity: found by spelling, initials, the parts of a person's name, and the cosine of their vectors.

Nothing is merged in the rows. A pair is a row of its own, found anew whenever the graph has changed, and can be set
apart for good; what a question asks for is read through the pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ragweave.corpora.knowledge.facts import compact, initials, normal
from ragweave.corpora.knowledge.store import APART, Named
from ragweave.models.text import words

NEAR = 0.93
"""Lowest cosine of two names that share most of their words."""
SHARED = 0.6
"""Share of the words of two names, together, that they have in common before their vectors are compared."""
_BLOCK = 40
"""Names that share a word; a word of more names says nothing."""
_UNTYPED = frozenset(("", "phrase", "unknown", "other", "name"))
_ACRONYM = 3

Pair = tuple[str, str, str]
"""(digest of one name, digest of the other, reason); the first is the smaller."""
Encode = Callable[[Sequence[str]], NDArray[np.float32]]


def pairs(entities: Iterable[Named], encode: Encode, apart: Iterable[tuple[str, str]] = ()) -> list[Pair]:
    """Return the pairs of names that are one entity, but for those that must stay apart."""
    rows = list(entities)
    kinds = {e.key: e.kind for e in rows}
    never = {tuple(sorted(p)) for p in apart}
    found: dict[tuple[str, str], str] = {}
    for a, b, why in (*_by_spelling(rows), *_by_initials(rows), *_by_person(rows), *_by_vector(rows, encode)):
        pair = (a, b) if a < b else (b, a)
        # Two types are one entity's where they are equal, or one of them says nothing.
        if a != b and pair not in never and (kinds[a] == kinds[b] or kinds[a] in _UNTYPED or kinds[b] in _UNTYPED):
            found.setdefault(pair, why)
    return [(a, b, why) for (a, b), why in sorted(found.items())]


def groups(rows: Iterable[Pair]) -> dict[str, str]:
    """Return, for each digest that stands in a pair, the digest that stands for its whole group."""
    root: dict[str, str] = {}

    def find(key: str) -> str:
        while root.setdefault(key, key) != key:
            root[key] = root[root[key]]
            key = root[key]
        return key

    for a, b, why in rows:
        if why != APART:
            one, other = sorted((find(a), find(b)))
            root[other] = one
    return {key: find(key) for key in list(root)}


def _by_spelling(rows: Sequence[Named]) -> Iterator[Pair]:
    held: dict[str, str] = {}
    for e in rows:
        form = compact(e.name)
        if len(form) > 2:
            yield held.setdefault(form, e.key), e.key, "spelling"


def _by_initials(rows: Sequence[Named]) -> Iterator[Pair]:
    """Join an acronym with the one long name that has these initials."""
    long: dict[str, list[str]] = defaultdict(list)
    for e in rows:
        if len(e.name.split()) >= _ACRONYM:
            long[initials(e.name)].append(e.key)
    for e in rows:
        short = e.name.replace(".", "")
        if short.isupper() and short.isalpha() and len(short) >= _ACRONYM and len(long.get(short.lower(), ())) == 1:
            yield e.key, long[short.lower()][0], "initials"


def _by_person(rows: Sequence[Named]) -> Iterator[Pair]:
    """Join a first or last name with the one full name that has it."""
    parts: dict[str, set[Named]] = defaultdict(set)
    for e in rows:
        split = words(e.name)
        if len(split) in (2, 3) and e.name.istitle() and e.kind in ("person", "", "name"):
            parts[split[0]].add(e)
            parts[split[-1]].add(e)
    for e in rows:
        whole = list(parts.get(" ".join(words(e.name)), ()))
        if e.name.istitle() and len(whole) == 1 and whole[0].kind == "person":
            yield e.key, whole[0].key, "part of a name"


def _by_vector(rows: Sequence[Named], encode: Encode) -> Iterator[Pair]:
    """Join names that share most words and lie near each other; not those that differ by a number, as GPT 2 and 3."""
    split = {e: set(normal(e.name).split()) for e in rows}
    blocks: dict[str, list[Named]] = defaultdict(list)
    for e, parts in split.items():
        for word in parts if len(parts) > 1 else ():
            blocks[word].append(e)
    candidates = {
        (a, b)
        for held in blocks.values()
        if len(held) <= _BLOCK
        for a, b in combinations(sorted(held, key=lambda e: e.key), 2)
        if len(split[a] & split[b]) / len(split[a] | split[b]) >= SHARED
        and not any(c.isdigit() for word in split[a] ^ split[b] for c in word)
    }
    named = sorted({e.name for pair in candidates for e in pair})
    vectors = dict(zip(named, encode(named), strict=True)) if named else {}
    for a, b in candidates:
        if float(vectors[a.name] @ vectors[b.name]) >= NEAR:
            yield a.key, b.key, "likeness"
