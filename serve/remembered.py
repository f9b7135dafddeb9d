"""Remember conversations in memory, for endpoints that do not store them: by thread id, or by response id."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

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


@dataclass(frozen=True)
class EarlierTurns:
    """The conversation up to a response, and the names of its files by their ids."""

    messages: list[AnyMessage] = field(default_factory=list)
    files: Mapping[str, str] = field(default_factory=dict)


class RememberedResponses:
    """The conversations up to the last responses, by caller and response id."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], EarlierTurns] = OrderedDict()

    def earlier(self, owner: str, id: str) -> EarlierTurns | None:
        """Return the conversation up to a response of a caller, or None if it is not known."""
        return self._kept.get((owner, id))

    def add(self, owner: str, id: str, turns: EarlierTurns) -> None:
        """Remember the last turns of a conversation up to a response."""
        self._kept[owner, id] = EarlierTurns(turns.messages[-2 * TURNS :], turns.files)
        while len(self._kept) > THREADS:
            self._kept.popitem(last=False)
