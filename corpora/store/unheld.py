"""A library that holds nothing, for texts that come from elsewhere."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection, Iterable, Mapping, Set

from ragweave.corpora.store.library import PRIOR, Library
from ragweave.corpora.store.stores import stores
from ragweave.corpora.types import Item
from ragweave.models import embed

NAME = "no library"


class Unheld(Library):
    """A library that no catalog knows: every word is as rare as any other, and nothing has a vector."""

    async def items(self, ids: Iterable[str]) -> dict[str, Item]:
        """Return no item."""
        return {}

    def nearness(self, query: str, ids: Collection[str]) -> dict[str, float]:
        """Return no distance."""
        return {}

    async def idf(self, terms: Iterable[str]) -> dict[str, float]:
        """Return the same rarity for each term."""
        return dict(self.weights(set(terms)))

    def weights(self, wanted: Set[str]) -> Mapping[str, float]:
        """Return the rarity of a word that an empty library lacks."""
        return dict.fromkeys(wanted, math.log((PRIOR + 1) / 1.5))


async def no_library() -> Library:
    """Return a library that holds nothing; the stores of this process are opened, and nothing is written."""
    held = await asyncio.to_thread(stores)
    return Unheld(NAME, "", held, embed.encoder())
