"""Names of one entity: found by spelling, initials and the parts of a person's name.

Nothing is merged in the rows. A pair is a row of its own, found anew whenever the graph has changed; what a question
asks for is read through the pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from ragweave.corpora.knowledge.facts import compact, initials
from ragweave.corpora.knowledge.store import Named
from ragweave.models.text import words

_UNTYPED = frozenset(("", "phrase", "unknown", "other", "name"))
_ACRONYM = 3

Pair = tuple[str, str, str]
"""(digest of one name, digest of the other, reason); the first is the smaller."""


def pairs(entities: Iterable[Named]) -> list[Pair]:
    """Return the pairs of names that are one entity."""
    rows = list(entities)
    kinds = {e.key: e.kind for e in rows}
    found: dict[tuple[str, str], str] = {}
    for a, b, why in (*_by_spelling(rows), *_by_initials(rows), *_by_person(rows)):
        # Two types are one entity's where they are equal, or one of them says nothing.
        if a != b and (kinds[a] == kinds[b] or kinds[a] in _UNTYPED or kinds[b] in _UNTYPED):
            found.setdefault((a, b) if a < b else (b, a), why)
    return [(a, b, why) for (a, b), why in sorted(found.items())]


def groups(rows: Iterable[Pair]) -> dict[str, str]:
    """Return, for each digest that stands in a pair, the digest that stands for its whole group."""
    root: dict[str, str] = {}

    def find(key: str) -> str:
        while root.setdefault(key, key) != key:
            root[key] = root[root[key]]
            key = root[key]
        return key

    for a, b, _ in rows:
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
