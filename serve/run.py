"""One question on its way to an answer, and the conversation that it begins."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.messages import AnyMessage

from ragweave.corpora.store.catalog import LibraryRow
from ragweave.minds.attached import Attached
from ragweave.minds.context import Context
from ragweave.serve.access import Caller
from ragweave.serve.journal import Journal
from ragweave.serve.store import Thread, now

Status = Literal["running", "waiting", "done", "failed", "cancelled"]

ASIDE = "aside-"
"""What the id of a thread begins with that is kept no longer than its run."""


@dataclass
class Run:
    """One question on its way to an answer; `owner` is the id of its caller, `ended` in seconds of `time.monotonic`.

    One without a turn is answered beside a conversation and not kept; with a step, from that step on.
    """

    id: str
    owner: str
    thread: str
    library: LibraryRow
    graph: str
    question: str
    context: Context
    pictures: Sequence[Attached] = ()
    earlier: Sequence[AnyMessage] = ()
    turn: int = 0
    step: str = ""
    journal: Journal = field(default_factory=Journal)
    status: Status = "running"
    task: asyncio.Task[None] | None = None
    ended: float = 0.0

    def told(self, kinds: Sequence[str]) -> list[dict[str, Any]]:
        """Return the events of some kinds that it told so far."""
        return [json.loads(e.data) for e in self.journal.entries if e.type in kinds]


def new_thread(caller: Caller, library: LibraryRow, title: str = "") -> Thread:
    """Return a conversation that has not begun."""
    at = now()
    return Thread(secrets.token_urlsafe(16), caller.id, library.id, title, at, at)
