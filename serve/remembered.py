"""What was said under the thread id of a client, at doors that keep no conversation: for as long as the server runs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

THREADS = 1_000
"""Conversations that are kept; the one that was used longest ago goes first."""
TURNS = 10
"""Last turns of a conversation that are kept."""
LONGEST_ID = 200


class RememberedThreads:
    """Turns by caller, library and thread id."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, list[AnyMessage]] = OrderedDict()

    def earlier(self, key: Hashable) -> list[AnyMessage]:
        """Return the turns of a thread, oldest first; none of one that is not known."""
        if key in self._kept:
            self._kept.move_to_end(key)
        return list(self._kept.get(key, ()))

    def add(self, key: Hashable, question: str, answer: str) -> None:
        """Keep a turn."""
        turns = [*self.earlier(key), HumanMessage(question), AIMessage(answer)]
        self._kept[key] = turns[-2 * TURNS :]
        while len(self._kept) > THREADS:
            self._kept.popitem(last=False)
