"""Define a run of the server and the conversation that it may begin."""

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
    """The run that answers one question; `owner` is the id of its caller."""

    id: str
    owner: str
    thread: str
    library: LibraryRow
    graph: str
    question: str
    context: Context
    pictures: Sequence[Attachment] = ()
    earlier: Sequence[AnyMessage] = ()
    notes: Sequence[str] = ()
    """Notes on what was not used of the request."""
    turn: int = 0
    journal: Journal = field(default_factory=Journal)
    status: Status = "running"
    new: bool = False
    """The run began its conversation."""
    goes_on: bool = False
    """The run continues from the last checkpoint of another server, which was killed."""
    holds: bool = False
    """The run holds a slot."""
    appears: bool = False
    """The first sentence was shown."""
    task: asyncio.Task[None] | None = None
    beginning: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held until the task exists, or it is certain that there will be none."""

    @property
    def record(self) -> Record:
        """The stored form of the run."""
        about = {
            "graph": self.graph,
            "question": self.question,
            "context": self.context.model_dump(mode="json"),
            "notes": list(self.notes),
        }
        return Record(self.id, self.owner, self.library.id, self.thread, self.turn, about, self.status, "")


def trail_of(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events of a run to store with its turn.

    The sentences of a resumed run replace those from before the interruption.
    """
    kept: list[dict[str, Any]] = []
    resumed = False
    for event in events:
        if event["type"] == "resumed":
            resumed = True
            continue
        if event["type"] == "sentence" and resumed:
            kept = _steps(kept)
            resumed = False
        kept.append(event)
    return kept


def _steps(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in events if event["type"] == "step"]


def new_thread(caller: Caller, library: LibraryRow, title: str = "") -> ConversationThread:
    """Return a new conversation without turns."""
    at = now()
    return ConversationThread(secrets.token_urlsafe(16), caller.id, library.id, title, at, at)
