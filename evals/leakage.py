"""Overlap of two question files: exact, and near-duplicate by shared words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragweave.evals.data import NEAR
from ragweave.models.errors import InputError
from ragweave.models.text import words

_KEYS = ("query", "question", "text")


@dataclass(frozen=True, slots=True)
class Overlap:
    """What two lists of questions share.

    Attributes:
        exact: rows of the second list whose words equal those of a row in the first.
        near: rows of the second that are near-duplicates of a row in the first, exact ones included.
        pairs: (first, second) texts of the near-duplicates.
    """

    exact: int
    near: int
    pairs: tuple[tuple[str, str], ...]


def text_of(row: Mapping[str, Any]) -> str:
    """Return the question of a row, under whichever of the usual keys.

    Raises:
        InputError: it has none.
    """
    for key in _KEYS:
        if isinstance(row.get(key), str):
            return str(row[key])
    raise InputError("a row has no question", f"name it {' or '.join(_KEYS)}")


def overlap(first: Sequence[str], second: Sequence[str], near: float = NEAR) -> Overlap:
    """Find the texts of the second list that also stand, exactly or nearly, in the first.

    Args:
        first: for example training questions.
        second: for example evaluation questions.
        near: Jaccard similarity of word sets from which two texts are near-duplicates.
    """
    sequences = {tuple(words(t)) for t in first}
    sets = [frozenset(words(t)) for t in first]
    holders: dict[str, list[int]] = defaultdict(list)
    for i, own in enumerate(sets):
        for w in own:
            holders[w].append(i)
    exact = 0
    pairs: list[tuple[str, str]] = []
    for text in second:
        own = frozenset(words(text))
        exact += bool(own) and tuple(words(text)) in sequences
        shared = Counter(i for w in own for i in holders[w])
        close = [i for i, common in shared.items() if common >= near * len(own | sets[i])]
        if close:
            pairs.append((first[min(close)], text))
    return Overlap(exact, len(pairs), tuple(pairs))
