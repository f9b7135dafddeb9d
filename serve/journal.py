"""What a run or a job has told so far: readers may come late, leave, and come back where they were."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from sse_starlette import EventSourceResponse, ServerSentEvent

from ragweave.models.errors import InputError


@dataclass(frozen=True, slots=True)
class Entry:
    """One event."""

    id: int
    type: str
    data: str


class Journal:
    """An append-only list of events on one event loop; readers wait for what comes next."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.closed = False
        self._more = asyncio.Event()

    def add(self, event: Mapping[str, Any]) -> None:
        """Append an event; its `type` names its kind."""
        data = json.dumps(event, ensure_ascii=False, default=str)
        self.entries.append(Entry(len(self.entries) + 1, str(event["type"]), data))
        self._wake()

    def close(self, **end: Any) -> None:
        """Append the `end` event; nothing follows it."""
        self.add({"type": "end", **end})
        self.closed = True
        self._wake()

    async def follow(self, after: int = 0) -> AsyncIterator[Entry]:
        """Yield the entries behind number `after`, and then each new one until the journal closes."""
        at = max(0, after)
        while True:
            while at < len(self.entries):
                at += 1
                yield self.entries[at - 1]
            if self.closed:
                return
            await self._more.wait()

    def _wake(self) -> None:
        # Whoever waits holds the old event; whoever comes gets the new one.
        more, self._more = self._more, asyncio.Event()
        more.set()


def stream(journal: Journal, request: Request) -> EventSourceResponse:
    """Return a journal as server-sent events; `Last-Event-ID`, or `after` in the query, resumes behind an event."""
    given = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    if not given.isascii() or not given.isdigit() or len(given) > 9:
        raise InputError("the last event id is not a number", "send the id of the last event received, or nothing")

    async def events() -> AsyncIterator[ServerSentEvent]:
        async for entry in journal.follow(int(given)):
            yield ServerSentEvent(entry.data, event=entry.type, id=str(entry.id))

    return EventSourceResponse(events(), sep="\n", ping=15)
