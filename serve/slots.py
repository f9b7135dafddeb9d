"""How many answers may be under way at once, in all and for one caller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from ragweave.serve.problems import TooMany


class Slots:
    """Places for answers under way; all doors of the server share them.

    Args:
        total: places in all.
        each: places that one caller may take.
    """

    def __init__(self, total: int, each: int) -> None:
        self._total, self._each = total, each
        self._taken: Counter[str] = Counter()

    def take(self, who: str) -> None:
        """Take a place, to be given back with `give`.

        Raises:
            TooMany: there is none left.
        """
        if self._taken.total() >= self._total or self._taken[who] >= self._each:
            raise TooMany("too many answers are under way", "try again in a moment", after=2)
        self._taken[who] += 1

    def give(self, who: str) -> None:
        """Give a place back."""
        self._taken[who] -= 1
        if not self._taken[who]:
            del self._taken[who]

    @contextmanager
    def held(self, who: str) -> Iterator[None]:
        """Hold a place.

        Raises:
            TooMany: there is none left.
        """
        self.take(who)
        try:
            yield
        finally:
            self.give(who)
