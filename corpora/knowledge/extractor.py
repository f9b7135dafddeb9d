"""The language model that extracts entities, where one was given; the prompts are not this room's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from ragweave.corpora.knowledge.facts import Entity, Relation

Found = tuple[list[Entity], list[Relation]]


@dataclass(frozen=True, slots=True)
class Extractor:
    """A language model, ready to be asked.

    Attributes:
        name: model, host and rounds: what was extracted by the same name is the same.
        ask: returns what a chunk's text says; raises a typed error where the model fails.
    """

    name: str
    ask: Callable[[str], Awaitable[Found]]


_current: Extractor | None = None


def use(extractor: Extractor | None) -> None:
    """Set the extractor of this process."""
    global _current
    _current = extractor


def current() -> Extractor | None:
    """Return the extractor of this process, or None."""
    return _current
