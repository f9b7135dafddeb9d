"""Hold what one chunk says: entities and relations."""

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
"""Characters of a name; a longer text is a sentence."""
_LONGEST_TYPE = 40
"""Characters of a type."""
_ARTICLES = frozenset(("the", "a", "an"))
_POSSESSIVE = re.compile(r"['’]s\b|['’](?=\s|$)")
_EDGES = " \t\r\n\"'“”‘’«»「」『』()[]{}<>*_`.,;:|"


@dataclass(frozen=True, slots=True)
class Entity:
    """What one chunk says about an entity; `items` are (item id, times) of its items that name the entity."""

    name: str
    kind: str = ""
    description: str = ""
    items: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """What one chunk says about two entities; a larger weight means a closer relation."""

    head: str
    tail: str
    description: str = ""
    weight: float = 1.0


@dataclass
class Facts:
    """What one chunk says: entities by their digests, and relations by the sorted digests of their ends."""

    entities: dict[str, Entity] = field(default_factory=dict)
    relations: dict[tuple[str, str], Relation] = field(default_factory=dict)


_Thing = TypeVar("_Thing")
_Reply = TypeVar("_Reply")
Found = tuple[list[Entity], list[Relation]]
Same = Callable[[Sequence[tuple[str, str]]], Awaitable[set[int]]]
Merge = Callable[[Sequence[tuple[str, Sequence[str]]]], Awaitable[Mapping[int, str]]]


@dataclass(frozen=True, slots=True)
class Extractor:
    """A language model that extracts entities; two extractors of one name give the same results.

    All calls raise a typed error if the model fails.

    Attributes:
        name: model and prompts, for the ledger.
        ask: returns the entities and relations of a chunk's text.
        same: returns the positions of the pairs that are one thing. Each of a pair is a name with its type
            and description.
        merge: returns one description of each thing, by its position. A thing is a name and its descriptions.
    """

    name: str
    ask: Callable[[str], Awaitable[Found]]
    same: Same | None = None
    merge: Merge | None = None


async def ask_all(
    ask: Callable[[Sequence[_Thing]], Awaitable[_Reply]], things: Sequence[_Thing], at_once: int, undone: str
) -> tuple[list[tuple[Sequence[_Thing], _Reply]], str]:
    """Call a model with lists of at most `at_once` things, all lists in parallel.

    Returns:
        Each list with its reply, and a sentence about how many lists are `undone` and why, or "".
    """
    failed: list[str] = []

    async def reply(part: Sequence[_Thing]) -> list[tuple[Sequence[_Thing], _Reply]]:
        try:
            return [(part, await ask(part))]
        except RagweaveError as error:
            failed.append(str(error))
            return []

    parts = in_parts(things, at_once)
    replies = []
    for rows in await asyncio.gather(*map(reply, parts)):
        replies += rows
    why = f"{len(failed)} of {len(parts)} lists of {undone}: {failed[0]}" if failed else ""
    return replies, why


def facts_of(entities: Iterable[Entity], relations: Iterable[Relation]) -> Facts:
    """Join the entities and relations of one chunk.

    Equal names become one entity, and both ends of a relation become entities. Weights of one pair add up;
    the first known type stays; different descriptions are joined.
    """
    out = Facts()
    for entity in entities:
        _add(out, entity)
    for relation in relations:
        _add_relation(out, relation)
    return out


def _add_relation(out: Facts, relation: Relation) -> None:
    """Add a relation and its ends; leave it out if a name is empty or too long, or if both ends are equal."""
    head, tail = key_of(relation.head), key_of(relation.tail)
    head_name, tail_name = clean(relation.head), clean(relation.tail)
    if not head or not tail or head == tail:
        return
    if max(len(head_name), len(tail_name)) > LONGEST:
        return
    _add(out, Entity(relation.head))
    _add(out, Entity(relation.tail))
    pair = (head, tail) if head < tail else (tail, head)
    before = out.relations.get(pair, Relation("", "", "", 0.0))
    description = together((before.description, relation.description))
    weight = before.weight + max(0.0, relation.weight)
    out.relations[pair] = Relation(head_name, tail_name, description, weight)


def _add(out: Facts, entity: Entity) -> None:
    """Add an entity, or join it with an equal one; leave it out if its name is empty or too long."""
    name = clean(entity.name)
    key = key_of(name)
    if not key or len(name) > LONGEST:
        return
    before = out.entities.get(key, Entity(name))
    counts = dict(before.items)
    for item, times in entity.items:
        counts[item] = max(counts.get(item, 0), times)
    kind = before.kind or clean(entity.kind).lower()[:_LONGEST_TYPE]
    description = together((before.description, entity.description))
    out.entities[key] = Entity(before.name, kind, description, tuple(counts.items()))


def together(descriptions: Iterable[str]) -> str:
    """Join descriptions in order, without repetitions, up to `DESCRIPTION` characters."""
    out = ""
    for description in descriptions:
        text = " ".join(description.split())
        if text not in out:
            out = clip(f"{out} {text}".strip(), DESCRIPTION)
    return out


def clean(name: str) -> str:
    """Return a name for display: on one line, HTML entities decoded, without quotation marks around it."""
    kept = []
    for character in html.unescape(name):
        if character.isprintable() or character.isspace():
            kept.append(character)
    return " ".join("".join(kept).split()).strip(_EDGES)


def normal(name: str) -> str:
    """Return the normal form of a name: folded words without a leading article, each as its stem.

    >>> normal("The Neural Networks"), normal("neural network")
    ('neural network', 'neural network')
    """
    found = words(_POSSESSIVE.sub("", clean(name)))
    while len(found) > 1 and found[0] in _ARTICLES:
        found = found[1:]
    return " ".join(map(stem, found))


def key_of(name: str) -> str:
    """Return the digest of a name's normal form; empty if the name has no word."""
    form = normal(name)
    return digest(form) if form else ""
