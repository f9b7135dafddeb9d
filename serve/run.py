"""One question on its way to an answer, and the conversation that it begins."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AnyMessage

from ragweave.components.attachments import Attachment
from ragweave.components.context import Context
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.serve.access import Caller
from ragweave.serve.journal import Journal
from ragweave.serve.records import Record, Status
from ragweave.serve.store import ConversationThread, now


@dataclass
class ServedRun:
    """One question on its way to an answer; `owner` is the id of its caller."""

    id: str
    owner: str
    thread: str
    library: LibraryRow
    graph: str
    question: str
    context: Context
    pictures: Sequence[Attachment] = ()
    earlier: Sequence[AnyMessage] = ()
    turn: int = 0
    journal: Journal = field(default_factory=Journal)
    status: Status = "running"
    goes_on: bool = False
    """Another server began it, and was killed: it goes on where its last checkpoint stands."""
    holds: bool = False
    """It holds one of the places for answers under way."""
    appears: bool = False
    """Its first sentence was shown."""
    task: asyncio.Task[None] | None = None
    beginning: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held until there is a task, or none will be."""

    @property
    def record(self) -> Record:
        """What is kept of it."""
        about = {
            "graph": self.graph,
            "question": self.question,
            "context": self.context.model_dump(mode="json"),
        }
        return Record(self.id, self.owner, self.library.id, self.thread, self.turn, about, self.status, "")


def trail_of(told: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what is kept of what a run told: sentences that a resumed run writes take the place of those before."""
    kept: list[dict[str, Any]] = []
    resumed = False
    for event in told:
        if event["type"] == "resumed":
            resumed = True
            continue
        if event["type"] == "sentence" and resumed:
            kept = [earlier for earlier in kept if earlier["type"] == "step"]
            resumed = False
        kept.append(event)
    return kept


def new_thread(caller: Caller, library: LibraryRow, title: str = "") -> ConversationThread:
    """Return a conversation that has not begun."""
    at = now()
    return ConversationThread(secrets.token_urlsafe(16), caller.id, library.id, title, at, at)
