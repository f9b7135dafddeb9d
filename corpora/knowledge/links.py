"""Names of one entity: found by spelling, initials, the parts of a person's name, and the cosine of their vectors.

Nothing is merged in the rows. A pair is a row of its own, found anew whenever the graph has changed, and can be set
apart for good; what a question asks for is read through the pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
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
    """Return the pairs of names that are one entity.

    Args:
        entities: all entities of a library.
        encode: vectors of names, of length 1.
        apart: pairs that must stay two.
    """
    rows = list(entities)
    kinds = {e.key: e.kind for e in rows}
    never = {tuple(sorted(p)) for p in apart}
    found: dict[tuple[str, str], str] = {}

    def join(a: str, b: str, why: str) -> None:
        pair = (a, b) if a < b else (b, a)
        if a != b and pair not in never and _fit(kinds[a], kinds[b]):
            found.setdefault(pair, why)

    for a, b in _equal(rows, lambda e: compact(e.name)):
        join(a, b, "spelling")
    _by_initials(rows, join)
    _by_person(rows, join)
    _by_vector(rows, encode, join)
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


def _fit(one: str, other: str) -> bool:
    """Tell whether two types may be one entity's: equal, or one of them says nothing."""
    return one == other or one in _UNTYPED or other in _UNTYPED


def _equal(rows: Sequence[Named], form: Callable[[Named], str]) -> Iterable[tuple[str, str]]:
    held: dict[str, str] = {}
    for e in rows:
        key = form(e)
        first = held.setdefault(key, e.key)
        if first != e.key and len(key) > 2:
            yield first, e.key


def _by_initials(rows: Sequence[Named], join: Callable[[str, str, str], None]) -> None:
    """Join an acronym with the one long name that has these initials."""
    long: dict[str, list[str]] = defaultdict(list)
    for e in rows:
        if len(e.name.split()) >= _ACRONYM:
            long[initials(e.name)].append(e.key)
    for e in rows:
        short = e.name.replace(".", "")
        if short.isupper() and short.isalpha() and len(short) >= _ACRONYM and len(long.get(short.lower(), ())) == 1:
            join(e.key, long[short.lower()][0], "initials")


def _by_person(rows: Sequence[Named], join: Callable[[str, str, str], None]) -> None:
    """Join a first or last name with the one full name that has it."""
    parts: dict[str, set[str]] = defaultdict(set)
    for e in rows:
        split = words(e.name)
        if len(split) in (2, 3) and e.name.istitle() and e.kind in ("person", "", "name"):
            parts[split[0]].add(e.key)
            parts[split[-1]].add(e.key)
    full = {e.key for e in rows if e.kind == "person"}
    for e in rows:
        form = " ".join(words(e.name))
        whole = parts.get(form, set())
        if " " not in form and e.name.istitle() and len(whole) == 1 and (next(iter(whole)) in full):
            join(e.key, next(iter(whole)), "part of a name")


def _by_vector(rows: Sequence[Named], encode: Encode, join: Callable[[str, str, str], None]) -> None:
    """Join names that share most words and lie near each other."""
    split = {e.key: set(normal(e.name).split()) for e in rows}
    blocks: dict[str, list[str]] = defaultdict(list)
    for key, parts in split.items():
        if len(parts) > 1:
            for word in parts:
                blocks[word].append(key)
    candidates = {
        (a, b)
        for held in blocks.values()
        if len(held) <= _BLOCK
        for a, b in combinations(sorted(held), 2)
        if len(split[a] & split[b]) / len(split[a] | split[b]) >= SHARED and not _numbers_differ(split[a], split[b])
    }
    if not candidates:
        return
    keys = sorted({key for pair in candidates for key in pair})
    shown = {e.key: e.name for e in rows}
    vectors = encode([shown[key] for key in keys])
    at = {key: n for n, key in enumerate(keys)}
    for a, b in sorted(candidates):
        if float(vectors[at[a]] @ vectors[at[b]]) >= NEAR:
            join(a, b, "likeness")


def _numbers_differ(one: set[str], other: set[str]) -> bool:
    """Tell whether two names differ by a number: GPT 2 is not GPT 3."""
    return {w for w in one if any(c.isdigit() for c in w)} != {w for w in other if any(c.isdigit() for c in w)}
