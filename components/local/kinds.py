"""Recognise what a question asks for: a picture, a recording, a table or a slide.

The router's head distinguishes pictures and recordings from text. Tables and slides have no corpora of their
own; a question asks for one if one of its words is near the kind's name in the embedded encoder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Literal

import numpy as np

from ragweave.corpora.types import Item
from ragweave.models import router, tables
from ragweave.models.relevance import embed
from ragweave.models.text import STOP, words

Asked = Literal["picture", "recording", "table", "slide"]
Kinds = Mapping[Asked, float]
"""Confidence that a question asks for each kind, in (0, 1]; other kinds are left out."""

NAMES: tuple[Asked, ...] = ("table", "slide")
"""Kinds that their names identify."""
NEAR = 0.6
"""Cosine from which a word means the kind."""
_CORPORA: dict[str, Asked] = {"image": "picture", "clip": "recording", "video": "recording"}
_DECKS = (".pptx", ".ppt", ".odp", ".key")
_ROWS = 0.5
"""Share of a text in rows from which it is a table."""


def kinds_of(question: str) -> dict[Asked, float]:
    """Return the kinds that a question asks for. CPU work of two milliseconds."""
    chances: dict[Asked, float] = {}
    for label, chance in router.predict(question).items():
        kind = _CORPORA.get(label)
        if kind is not None:
            chances[kind] = chances.get(kind, 0.0) + chance
    found: dict[Asked, float] = {}
    for asked, chance in chances.items():
        if chance > 0.5:
            found[asked] = 2 * chance - 1
    content: list[str] = []
    for word in dict.fromkeys(words(question)):
        if word not in STOP:
            content.append(word)
    if not content:
        return found
    vectors = embed([*NAMES, *content]).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    nearest = (vectors[: len(NAMES)] @ vectors[len(NAMES) :].T).max(axis=1)
    for kind, cosine in zip(NAMES, nearest.tolist(), strict=True):
        if cosine >= NEAR:
            found[kind] = 1.0
    return found


def share_of(item: Item, kinds: Kinds) -> float:
    """Return the confidence that a question asks for the kind of an item."""
    if not kinds:
        return 0.0
    if item.corpus in _CORPORA:
        return kinds.get(_CORPORA[item.corpus], 0.0)
    slide = PurePath(item.locator.get("file", "")).suffix.lower() in _DECKS
    found = kinds.get("slide", 0.0) if slide else 0.0
    if "table" in kinds and _is_table(item.text):
        found = max(found, kinds["table"])
    return found


def _is_table(text: str) -> bool:
    rows = sum(len(line) for line in text.split("\n") if tables.is_row(line))
    return rows > _ROWS * len(text)
