"""What one chunk says: entities and relations."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from ragweave.corpora.store.schema import in_parts
from ragweave.corpora.types import digest
from ragweave.models.errors import RagweaveError
from ragweave.models.text import clip, stem, words

DESCRIPTION = 600
"""Characters of one description."""
LONGEST = 120
"""Characters of a name; what is longer is a sentence."""
_ARTICLE = frozenset(("the", "a", "an"))
_POSSESSIVE = re.compile(r"['’]s\b|['’](?=\s|$)")
_EDGES = " \t\r\n\"'“”‘’«»「」『』()[]{}<>*_`.,;:|"


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity as one chunk speaks of it; `items` are (item id, times) of the chunk's items that name it."""

    name: str
    kind: str = ""
    description: str = ""
    items: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """Two entities as one chunk speaks of them together; the weight says how strongly they are joined."""

    head: str
    tail: str
    description: str = ""
    weight: float = 1.0


@dataclass
class Facts:
    """What one chunk says: entities by the digest of their normal form, relations by the two digests in order."""

    entities: dict[str, Entity] = field(default_factory=dict)
    relations: dict[tuple[str, str], Relation] = field(default_factory=dict)


_Thing = TypeVar("_Thing")
_Reply = TypeVar("_Reply")
Found = tuple[list[Entity], list[Relation]]
Same = Callable[[Sequence[tuple[str, str]]], Awaitable[set[int]]]
Merge = Callable[[Sequence[tuple[str, Sequence[str]]]], Awaitable[Mapping[int, str]]]


@dataclass(frozen=True, slots=True)
class Extractor:
    """A language model, ready to be asked; what was extracted by one name is the same.

    `ask` returns what a chunk's text says; `same` the places of the pairs, each a name with its type and
    description, that are of one thing; `merge` one description, by place, of each thing, given as its name
    and what passages say of it. All raise a typed error where the model fails.
    """

    name: str
    ask: Callable[[str], Awaitable[Found]]
    same: Same | None = None
    merge: Merge | None = None


async def ask_all(
    ask: Callable[[Sequence[_Thing]], Awaitable[_Reply]], things: Sequence[_Thing], at_once: int, undone: str
) -> tuple[list[tuple[Sequence[_Thing], _Reply]], str]:
    """Ask a model about lists of at most so many things, all side by side.

    Returns:
        Each list with its reply, and how many are `undone` and why, in words, or "".
    """
    failed: list[str] = []

    async def reply(part: Sequence[_Thing]) -> list[tuple[Sequence[_Thing], _Reply]]:
        try:
            return [(part, await ask(part))]
        except RagweaveError as error:
            failed.append(str(error))
            return []

    parts = in_parts(things, at_once)
    replies = [row for rows in await asyncio.gather(*map(reply, parts)) for row in rows]
    return replies, f"{len(failed)} of {len(parts)} lists of {undone}: {failed[0]}" if failed else ""


def facts_of(entities: Iterable[Entity], relations: Iterable[Relation]) -> Facts:
    """Join what was found in one chunk: equal names become one entity, an unknown end of a relation an entity too.

    Weights of one pair add up; the first type that is known stays; descriptions that differ are joined.
    """
    out = Facts()
    for e in entities:
        _add(out, e)
    for r in relations:
        head, tail = key_of(r.head), key_of(r.tail)
        if not head or not tail or head == tail or max(len(clean(r.head)), len(clean(r.tail))) > LONGEST:
            continue
        for name in (r.head, r.tail):
            _add(out, Entity(name))
        pair = (head, tail) if head < tail else (tail, head)
        before = out.relations.get(pair, Relation("", "", "", 0.0))
        told = together((before.description, r.description))
        out.relations[pair] = Relation(clean(r.head), clean(r.tail), told, before.weight + max(0.0, r.weight))
    return out


def _add(out: Facts, e: Entity) -> None:
    name = clean(e.name)
    key = key_of(name)
    if not key or len(name) > LONGEST:
        return
    before = out.entities.get(key, Entity(name))
    counts = dict(before.items)
    for item, n in e.items:
        counts[item] = max(counts.get(item, 0), n)
    kind = before.kind or clean(e.kind).lower()[:40]
    out.entities[key] = Entity(
        before.name, kind, together((before.description, e.description)), tuple(counts.items())
    )


def together(told: Iterable[str]) -> str:
    """Join what is said of a thing in its order, without what was said before, up to DESCRIPTION characters."""
    out = ""
    for text in (" ".join(t.split()) for t in told):
        if text not in out:
            out = clip(f"{out} {text}".strip(), DESCRIPTION)
    return out


def clean(name: str) -> str:
    """Return a name as it is shown: one line, without quotation marks around it, entities of HTML read."""
    plain = "".join(c for c in html.unescape(name) if c.isprintable() or c.isspace())
    return " ".join(plain.split()).strip(_EDGES)


def normal(name: str) -> str:
    """Return the form in which names of one entity are equal: folded words, no articles, phrases by their stems.

    >>> normal("The Neural Networks"), normal("neural network")
    ('neural network', 'neural network')
    """
    found = words(_POSSESSIVE.sub("", clean(name)))
    while len(found) > 1 and found[0] in _ARTICLE:
        found = found[1:]
    return " ".join(stem(w) for w in found)


def key_of(name: str) -> str:
    """Return the digest of a name's normal form; empty where the name has no word."""
    form = normal(name)
    return digest(form) if form else ""
