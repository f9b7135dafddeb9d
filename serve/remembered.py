"""Remember turns by a client's thread id, in memory, for endpoints without stored conversations."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

THREADS = 1_000
"""Maximum number of conversations; the least recently used one is dropped first."""
TURNS = 10
"""Number of last turns that are kept of a conversation."""
LONGEST_ID = 200


class RememberedThreads:
    """Turns of conversations by caller, library and thread id."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, list[AnyMessage]] = OrderedDict()

    def earlier(self, key: Hashable) -> list[AnyMessage]:
        """Return the turns of a thread, oldest first; none for an unknown thread."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return list(self._kept.get(key, ()))

    def add(self, key: Hashable, question: str, answer: str) -> None:
        """Add a turn."""
        turns = [*self.earlier(key), HumanMessage(question), AIMessage(answer)]
        self._kept[key] = turns[-2 * TURNS :]
        while len(self._kept) > THREADS:
            self._kept.popitem(last=False)
